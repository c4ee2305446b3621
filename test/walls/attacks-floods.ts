// What tenant A asks again and again on many connections at once: work that is refused, and work that is dear.
import { createHmac } from 'node:crypto';
import type { Attack } from './attack.js';
import { MIB } from './bounds.js';
import type { TenantA } from './tenant-a.js';

/** How long a wave of requests goes on. Milliseconds. */
const WAVE_MS = 5_000;
/** Addresses that share the connections of a flood: one address may have 384 in this world. */
const ADDRESSES = ['127.0.0.3', '127.0.0.4'];
const LONG_TEXT = 'word '.repeat(40_000);
/** Tasks through which walkers go. */
export const MANY_TASKS = 20_000;

/** One request of a flood, by the number of its connection and by how many this connection has sent. */
type Make = (
  n: number,
  sent: number,
) => { method?: string; path: string; body?: string | Buffer; headers?: Record<string, string> };

/** So many connections, each of which sends its next request as soon as it has its answer. */
async function flood(a: TenantA, sockets: number, make: Make, ms = WAVE_MS): Promise<void> {
  const keys = [a.secret, ...a.followers];
  const end = Date.now() + ms;
  const loop = async (n: number) => {
    for (let sent = 0; Date.now() < end; sent++) {
      const { method = 'GET', path, body, headers = {} } = make(n, sent);
      await a.ask(method, path, { secret: keys[n % keys.length] ?? '', body, headers, from: ADDRESSES[n % 2] });
    }
  };
  await Promise.all(Array.from({ length: sockets }, (_, n) => loop(n)));
}

const json = (value: unknown) => ({ body: JSON.stringify(value), headers: { 'Content-Type': 'application/json' } });

export const FLOOD_ATTACKS: Attack[] = [
  {
    name: 'polls',
    what: '600 connections that ask for one long poll more than the 20 of their key, each refused',
    keys: 1,
    wave: async (a) => {
      const held = Array.from({ length: 40 }, (_, n) => a.hold('/v1/events?wait=30', n % 2 === 0 ? a.secret : (a.followers[0] ?? '')));
      try {
        await Promise.all(held.map(({ sent }) => sent));
        await flood(a, 600, () => ({ path: '/v1/events?wait=30' }));
      } finally {
        for (const { end } of held) end();
      }
    },
  },
  {
    name: 'unsigned',
    what: '60 connections with deliveries that nobody has signed, some of 5 MiB',
    wave: async (a) => {
      const bodies = [Buffer.alloc(5 * MIB, ' '), Buffer.from('{"a":1}'), Buffer.alloc(200 * 1024, ' ')];
      const signature = `sha256=${createHmac('sha256', 'nobody').update('a').digest('hex')}`;
      await flood(a, 60, (n) => {
        const headers = { 'Content-Type': 'application/json', 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': `${n}`, 'X-Hub-Signature-256': signature };
        return { method: 'POST', path: a.planned.hookPath, body: bodies[n % bodies.length] ?? '', headers };
      });
    },
  },
  {
    name: 'creates',
    what: '560 connections that create tasks, more than the limits of ten keys allow',
    keys: 9,
    wave: async (a) => {
      await flood(a, 560, () => ({ method: 'POST', path: '/v1/tasks', ...json({ content: 'Nothing to do.', model: 'runbook' }) }));
      await a.over();
    },
  },
  {
    name: 'texts',
    longAlone: true,
    what: '60 connections that create tasks of 200,000 characters with ten keys',
    keys: 9,
    wave: async (a) => {
      const long = json({ content: LONG_TEXT, model: 'runbook' });
      await flood(a, 60, () => ({ method: 'POST', path: '/v1/tasks', ...long }));
      await a.over();
    },
  },
  {
    name: 'walkers',
    longAlone: true,
    what: `60 connections that page through ${MANY_TASKS} tasks and search them with ten keys`,
    keys: 9,
    tasks: MANY_TASKS,
    wave: async (a) => {
      const cursors = new Map<number, string>();
      const end = Date.now() + WAVE_MS;
      const walk = async (n: number) => {
        for (let sent = 0; Date.now() < end; sent++) {
          const search = n % 3 === 0 ? `&q=${['w', 'common', 'rare17'][sent % 3]}` : n % 3 === 1 ? '&archived=all' : '';
          const cursor = cursors.get(n);
          const path = `/v1/tasks?limit=100${search}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
          const { body } = await a.ask('GET', path, { secret: [a.secret, ...a.followers][n % 10] ?? '', from: ADDRESSES[n % 2] });
          const next = /"nextCursor":"([^"]+)"/.exec(body)?.[1];
          if (next === undefined || n % 3 === 0) cursors.delete(n);
          else cursors.set(n, next);
        }
      };
      await Promise.all(Array.from({ length: 60 }, (_, n) => walk(n)));
    },
  },
  {
    name: 'histories',
    what: '100 connections that read a history of 1 MiB with ten keys',
    keys: 9,
    wave: async (a) => {
      const id = await a.task(LONG_TEXT);
      for (let n = 0; n < 4; n++) await a.post(`/v1/tasks/${id}/messages`, { content: LONG_TEXT });
      await flood(a, 100, () => ({ path: `/v1/tasks/${id}/messages?limit=100` }));
      await a.over();
    },
  },
]; // prettier-ignore
