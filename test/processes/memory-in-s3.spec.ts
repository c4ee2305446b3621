import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { attach, makeTask } from '../harness/files.js';
import { S3Stand } from '../harness/s3-stand.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';

const MIB = 1024 * 1024;
const SIZE = 200 * MIB;
/** MiB: pieces on their way of three parts, with what the collector has not taken back yet. */
const BOUND = 90;
const HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
const TAIL = '\r\n--b--\r\n';

describe('Large files in S3 (reference §7)', () => {
  const folder = temporaryFolder();
  const api = useService();
  let stand: S3Stand;
  let service: ServiceProcess;
  beforeAll(async () => {
    stand = await S3Stand.start();
    service = await ServiceProcess.start({
      ...stand.processEnv,
      DATABASE_URL: api.db.url,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      ROLE: 'api',
      DATA_DIR: folder.path,
      LOG_LEVEL: 'fatal',
      MAX_UPLOAD_BYTES: String(SIZE),
    });
  });
  afterAll(async () => {
    await service.end();
    await stand.close();
    folder.remove();
  });

  /** How much more memory the service has while something goes on, MiB. */
  async function growth(act: () => Promise<void>): Promise<number> {
    const before = service.residentMiB;
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, service.residentMiB)), 5);
    await act().finally(() => clearInterval(watch));
    return most - before;
  }

  it('200 MiB go into the bucket and out of it, and neither is ever held in memory', async () => {
    const member = await makeMember(api);
    const authorization = { Authorization: `Bearer ${member.key.secret}` };
    const sent = createHash('sha256');
    let uploadId = '';
    const up = await growth(async () => {
      const headers = {
        ...authorization,
        'Content-Type': 'multipart/form-data; boundary=b',
        'Content-Length': HEAD.length + SIZE + TAIL.length,
      };
      const body = Readable.from(pieces(sent), { objectMode: false });
      uploadId = await new Promise<string>((resolve, reject) => {
        const req = request(`${service.url}/v1/uploads`, { method: 'POST', headers }, (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          answer.on('end', () => resolve((JSON.parse(text) as { upload: { id: string } }).upload.id));
        });
        body.pipe(req.on('error', reject));
      });
    });
    const [file] = await attach(api, member, await makeTask(api, member), [uploadId]);

    const read = createHash('sha256');
    const down = await growth(async () => {
      const answer = await fetch(`${service.url}/v1/files/${file?.id}/content`, { headers: authorization });
      for await (const chunk of answer.body ?? []) read.update(chunk as Uint8Array);
    });
    expect(read.digest('hex')).toBe(sent.digest('hex'));
    expect(up).toBeLessThan(BOUND);
    expect(down).toBeLessThan(BOUND);
  });
});

function* pieces(hash: ReturnType<typeof createHash>): Generator<Buffer, void> {
  yield Buffer.from(HEAD);
  for (let at = 0; at < SIZE; at += MIB) {
    const piece = Buffer.alloc(MIB, at % 251);
    hash.update(piece);
    yield piece;
  }
  yield Buffer.from(TAIL);
}
