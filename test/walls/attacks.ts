// What tenant A does. Each attack is one wave of a few seconds; the long form sends wave after wave. None of them takes more
// than about 2 GB of a machine that lets it.
import { connect, type Socket } from 'node:net';
import { randomBytes } from 'node:crypto';
import { get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { AUTOMATION_ATTACKS } from './attacks-automations.js';
import { FLOOD_ATTACKS } from './attacks-floods.js';
import { SANDBOX_ATTACKS } from './attacks-sandbox.js';
import { STREAM_ATTACKS } from './attacks-streams.js';
import type { Attack } from './attack.js';
import { MIB } from './bounds.js';

/** What a body may have, less a little. */
const BODY = MIB - 200;
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const all = (count: number, act: (n: number) => Promise<unknown>) => Promise.all(times(count, act));
/** A JSON text of `count` items within the largest body. */
const filled = (before: string, item: string, after: string) => {
  const room = BODY - before.length - after.length;
  return before + item.repeat(Math.floor(room / item.length)).slice(0, -1) + after;
};

const HTTP_ATTACKS: Attack[] = [
  {
    name: 'lists',
    what: 'ten bodies at once with lists of 340,000 items',
    wave: async (a) => {
      const bodies = [
        filled('{"content":"x","attachments":[', '{},', ']}'),
        filled('{"content":"x","attachments":[', '0,', ']}'),
        filled('{"content":"x","metadata":{"a":[', '[],', ']}}'),
        filled('{"content":"x","attachments":[', '{"uploadId":1},', ']}'),
      ];
      await all(10, (n) => a.post('/v1/tasks', bodies[n % bodies.length]));
      await a.post('/v1/projects', filled('{"name":[', '"",', ']}'));
    },
  },
  {
    name: 'strings',
    longAlone: true,
    what: 'ten bodies at once with a text of 1 MiB, of characters, of escapes, as a key',
    wave: async (a) => {
      const bodies = [
        `{"content":"${'x'.repeat(BODY - 14)}"}`,
        `{"content":"${'\\u00e9'.repeat(Math.floor((BODY - 14) / 6))}"}`,
        `{"content":"x","title":"${'\\n '.repeat(Math.floor((BODY - 40) / 3))}"}`,
        `{"${'k'.repeat(BODY - 10)}":1}`,
        `{"content":"${'- - - - a\\n'.repeat(Math.floor((BODY - 14) / 11))}"}`,
      ];
      await all(10, (n) => a.post('/v1/tasks', bodies[n % bodies.length]));
    },
  },
  {
    name: 'depth',
    what: 'ten bodies at once, as deep as they go, with 100,000 keys, with one key given again and again',
    wave: async (a) => {
      const pair = (open: string, close: string) => {
        const depth = Math.floor((BODY - 20) / (open.length + close.length));
        return `{"content":${open.repeat(depth)}1${close.repeat(depth)}}`;
      };
      const keys = times(90_000, (n) => `"k${n}":1`).join(',');
      const bodies = [
        pair('[', ']'),
        pair('{"a":', '}'),
        `{${keys}}`,
        filled('{', '"content":"a",', '}'),
        `{"content":"x","metadata":{${keys}}}`,
        filled(`{"content":"x","attachments":[${'['.repeat(28)}`, '[[]],', `${']'.repeat(28)}]}`),
      ];
      await all(12, (n) => a.post('/v1/tasks', bodies[n % bodies.length]));
    },
  },
  {
    name: 'markdown',
    longAlone: true,
    what: '60 messages of 199,900 characters for a running task of the model runbook, each slow to parse',
    wave: async (a) => {
      const id = await a.task('```bash\nsleep 2\n```\n\n```bash\necho over\n```');
      if (id === null) return;
      const texts = ['- - - - a\n', '> > > > a\n', '[a]: b\n', '* * * `a\n'].map(
        (line) => `${line.repeat(Math.floor(199_800 / line.length))}\n\`\`\`bash\ntrue\n\`\`\`\n`,
      );
      // The worst first, and most of them.
      const content = (n: number) => (n % 4 === 3 ? texts[1 + ((n >> 2) % 3)] : texts[0]);
      await all(60, (n) => a.post(`/v1/tasks/${id}/messages`, { content: content(n), mode: 'steer' }));
      await a.over();
    },
  },
  {
    name: 'uploads',
    what: '100 uploads of 4 MiB at once, and one that is too large',
    wave: async (a, { uploadBytes }) => {
      const bytes = (size: number) => Buffer.concat([randomBytes(16), Buffer.alloc(size - 16, 1)]);
      await all(100, () => a.upload(bytes(4 * MIB)));
      await a.upload(bytes(uploadBytes + 1));
    },
  },
  {
    name: 'connections',
    what: 'more connections than the service has descriptors: idle, with slow headers, with a slow body',
    wave: async (a, { connections }) => {
      const line = `POST /v1/tasks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${a.secret}\r\n`;
      const begun = ['', line, `${line}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"content"`];
      const sockets = times(connections, (n) => hanging(a.url, begun[n % 3] ?? ''));
      await wait(1500);
      // A few bytes now and then keep them from being silent.
      sockets.forEach((socket, n) => n % 3 > 0 && socket.write(n % 3 === 1 ? 'X-A: b\r\n' : ' '));
      await wait(1500);
      sockets.forEach((socket) => socket.destroy());
    },
  },
  {
    name: 'unread',
    longAlone: true,
    what: '200 downloads of a file, none of which is read',
    wave: async (a, { uploadBytes }) => {
      const { body, status } = await a.upload(randomBytes(uploadBytes - MIB), 'unread.bin');
      if (status !== 201) return;
      const { upload } = JSON.parse(body) as { upload: { id: string } };
      const id = await a.task('Nothing to do.', { attachments: [{ uploadId: upload.id }] });
      const { files } = parsed<{ files?: { id: string }[] }>(await a.get(`/v1/tasks/${id}/files`));
      const path = `/v1/files/${files?.[0]?.id}/content`;
      const sockets = times(200, () => {
        const line = `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${a.secret}\r\n\r\n`;
        return hanging(a.url, line).pause();
      });
      await wait(2500);
      sockets.forEach((socket) => socket.destroy());
    },
  },
  {
    name: 'listings',
    what: 'the longest lists, their cursors, and cursors that nobody has given out, 400 at once',
    wave: async (a) => {
      await all(60, (n) => a.task(`Nothing to do, ${n}.`));
      const { nextCursor = '' } = parsed<{ nextCursor?: string }>(await a.get('/v1/tasks?limit=3'));
      const cursors = [nextCursor, `${nextCursor}A`, 'A'.repeat(8000), ''];
      const query = (n: number) => (n % 2 === 0 ? '' : `&cursor=${encodeURIComponent(cursors[(n >> 1) % 4] ?? '')}`);
      await all(400, (n) => a.get(`/v1/tasks?limit=100${query(n)}`));
    },
  },
  {
    name: 'churn',
    longAlone: true,
    what: 'tasks that are created, cancelled and deleted as fast as the limits allow, and one key 60 times at once',
    wave: async (a) => {
      const key = String(process.hrtime.bigint());
      await Promise.all([
        all(50, async () => {
          const id = await a.task('```bash\nsleep 30\n```');
          if (id !== null) await a.post(`/v1/tasks/${id}/cancel`);
        }),
        all(60, () => a.post('/v1/projects', { name: 'One of many' }, key)),
      ]);
      await a.over();
    },
  },
  {
    name: 'refused',
    what: '1,500 requests at once, more than the limits allow, with keys that nobody has',
    wave: async (a) => {
      await all(1500, (n) => (n % 3 === 0 ? unknownKey(a.url) : a.get('/v1/projects')));
    },
  },
];

export const ATTACKS: Attack[] = [
  ...HTTP_ATTACKS,
  ...FLOOD_ATTACKS,
  ...STREAM_ATTACKS,
  ...AUTOMATION_ATTACKS,
  ...SANDBOX_ATTACKS,
];

/** The body of an answer; nothing of one that never came, because too many connections of its address were open. */
function parsed<T>({ body }: { body: string }): Partial<T> {
  return body === '' ? {} : (JSON.parse(body) as T);
}

/** A connection on which so much has been sent. */
function hanging(url: string, text: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  if (text !== '') socket.write(text);
  return socket;
}

/** A request with a credential that is none; resolves however it ends. */
function unknownKey(url: string): Promise<void> {
  return new Promise((resolve) => {
    const headers = { Authorization: 'Bearer nobody' };
    const req = get(`${url}/v1/projects`, { headers }, (answer) => answer.resume().on('close', resolve));
    req.on('error', () => resolve());
  });
}
