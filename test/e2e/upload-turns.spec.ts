import { createHash, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { FileStorage } from '../../src/resources/files/storage/file-storage.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { openFiles, storedFiles, upload } from '../harness/files.js';
import { rawRequest } from '../harness/raw.js';
import { until } from '../harness/until.js';

const MIB = 1024 * 1024;
/** More than one workspace has turns at once. */
const MANY = 12;
const HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
const END = '\r\n--b--\r\n';

describe('Many uploads of one workspace at once (reference §7)', () => {
  let member: Member;

  const service = useService(() => bootApp({ env: { MAX_UPLOAD_BYTES: String(MIB) } }));
  beforeAll(async () => {
    member = await makeMember(service);
  });
  const lines = (more: string) => [
    'POST /v1/uploads HTTP/1.1',
    `Authorization: Bearer ${member.key.secret}`,
    'Content-Type: multipart/form-data; boundary=b',
    more,
  ];

  it('all arrive whole', async () => {
    const files = Array.from({ length: MANY }, () => new Uint8Array(randomBytes(0.9 * MIB)));
    const made = await Promise.all(files.map((bytes) => upload(service, member, bytes)));
    expect(made.map(({ size }) => size)).toEqual(files.map(({ length }) => length));
    const stored = new Set(await storedFiles(service));
    expect(files.filter((bytes) => !stored.has(createHash('sha256').update(bytes).digest('hex')))).toEqual([]);
  });

  it('senders that stop in the middle hold no other one up', async () => {
    const { hostname, port, host } = new URL(service.url);
    const head = [...lines(`Content-Length: ${MIB}`), `Host: ${host}`, '', HEAD].join('\r\n');
    const sockets: Socket[] = Array.from({ length: MANY }, () => connect(Number(port), hostname));
    try {
      sockets.forEach((socket) => socket.write(head + 'a'.repeat(0.4 * MIB)));
      await until('all of them to be stored in part', async () => (await openFiles(service)) === MANY);
      expect((await upload(service, member, 'another')).size).toBe(7);
    } finally {
      sockets.forEach((socket) => socket.destroy());
    }
    await until('nothing to be left of them', async () => (await openFiles(service)) === 0);
    expect((await upload(service, member, 'one more')).size).toBe(8);
  });

  it('one that is refused in the middle makes room for the next', async () => {
    const body = HEAD + 'a'.repeat(1.5 * MIB) + END;
    const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    for (let n = 0; n < MANY; n++) {
      const { status } = await rawRequest(service.url, lines('Transfer-Encoding: chunked'), chunked);
      expect(status).toBe(413);
    }
    expect((await upload(service, member, 'the next')).size).toBe(8);
  });

  it('and of the pieces of many archives at once a few are worked on before others have the process', async () => {
    const storage = service.app.get(FileStorage, { strict: false });
    let [pieces, before, most, over] = [0, 0, 0, false];
    const look = () => {
      most = Math.max(most, pieces - before);
      before = pieces;
      if (!over) setImmediate(look);
    };
    look();
    const read = async () => {
      const file = Readable.from(Array.from({ length: MANY }, () => Buffer.alloc(1)));
      for await (const piece of storage.inTurns(member.workspace.id, file)) pieces += piece.length;
    };
    await Promise.all(Array.from({ length: 4 * MANY }, read));
    over = true;
    expect(pieces).toBe(4 * MANY * MANY);
    // Four in a round, and the look may lie between those of two.
    expect(most).toBeLessThanOrEqual(8);
  });
});
