import { request } from 'node:http';
import { useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';

const MIB = 1024 * 1024;
const LIMIT = 100 * MIB;
const HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
const TAIL = '\r\n--b--\r\n';

interface Sent {
  status: number;
  body: Partial<ErrorBody> & { upload?: { size: number } };
}

describe('Large uploads to a service as it comes (reference §7)', () => {
  const folder = temporaryFolder();
  let member: Member;
  let service: ServiceProcess;

  afterAll(() => service.end());
  const api = useService();
  beforeAll(async () => {
    member = await makeMember(api);
    const secret = { DATABASE_URL: api.db.url, SECRET_KEY: 'a secret of the tests, at least 32 bytes long' };
    service = await ServiceProcess.start({ ...secret, ROLE: 'api', DATA_DIR: folder.path, LOG_LEVEL: 'fatal' });
  });
  afterAll(() => folder.remove());

  /** Sends a file of so many bytes in pieces, as fast as they are taken, and never holds it whole itself. */
  const send = (size: number) =>
    new Promise<Sent>((resolve, reject) => {
      const headers = {
        Authorization: `Bearer ${member.key.secret}`,
        'Content-Type': 'multipart/form-data; boundary=b',
        'Content-Length': HEAD.length + size + TAIL.length,
      };
      const req = request(`${service.url}/v1/uploads`, { method: 'POST', headers });
      req.on('error', reject).on('response', (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) as Sent['body'] }));
      });
      req.write(HEAD);
      let left = size;
      const go = () => {
        while (left > 0) {
          const piece = Buffer.alloc(Math.min(left, MIB), left % 251);
          left -= piece.length;
          if (!req.write(piece)) {
            req.once('drain', go);
            return;
          }
        }
        req.end(TAIL);
      };
      go();
    });

  it('100 MiB are taken unless MAX_UPLOAD_BYTES says otherwise; one byte more is 413', async () => {
    expect(await send(LIMIT)).toMatchObject({ status: 201, body: { upload: { size: LIMIT } } });
    expect(await send(LIMIT + 1)).toMatchObject({ status: 413, body: { error: { code: 'too_large' } } });
  });

  it('they are streamed to storage, never held in memory: four at once take less than one of them', async () => {
    const before = service.residentMiB;
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, service.residentMiB)), 5);
    const answers = await Promise.all([1, 2, 3, 4].map((n) => send(LIMIT - n * MIB)));
    clearInterval(watch);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(most - before).toBeLessThan(90);
  });
});
