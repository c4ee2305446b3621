import { join } from 'node:path';
import { KeysService } from '../../src/access/auth/keys.service.js';
import { ServiceAccountsService } from '../../src/access/workspaces/service-accounts.service.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Operator } from '../harness/operator.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';

const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';
/** Requests under way at once. */
const AT_ONCE = 16;
/** Sent after the end of a key. */
const AFTER = 1000;

interface Load {
  /** Statuses of requests that were sent before the end, and after it. */
  before: number[];
  after: number[];
}

describe('What ends a key ends it for every process at once (reference §3)', () => {
  const folder = temporaryFolder();
  const service = useService();
  let apis: ServiceProcess[] = [];
  let owner: Member;
  let operator: Operator;

  beforeAll(async () => {
    // Each request comes from an address of its own: failed authentications are limited by address.
    const env = { ROLE: 'api', DATABASE_URL: service.db.url, SECRET_KEY, TRUST_PROXY: '1' };
    const start = () => ServiceProcess.start({ ...env, DATA_DIR: join(folder.path, 'data'), LOG_LEVEL: 'fatal' });
    apis = await Promise.all([start(), start()]);
    owner = await makeMember(service, { role: 'owner' });
    operator = new Operator(service);
  }, 60_000); // prettier-ignore
  afterAll(async () => {
    await Promise.all(apis.map((api) => api.end()));
    folder.remove();
  });

  const verb = async (...words: string[]) => {
    const { code, err } = await operator.spawn(...words);
    expect([code, err]).toEqual([0, '']);
  };
  /** Not by the client of the harness, which takes its time to check the answer: nothing may lie between it and the next request. */
  const overApi = async (method: string, path: string, secret: string, status: number) => {
    const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' };
    const answer = await fetch((apis[0]?.url ?? '') + path, { method, headers, body: '{}' });
    expect(answer.status).toBe(status);
  };

  interface Holder extends Pick<Member, 'workspace' | 'key'> {
    email: string;
  }
  type End = (holder: Holder) => Promise<void>;
  const ends: [string, End][] = [
    ['key revoke', ({ key }) => verb('key', 'revoke', key.id)],
    ['DELETE /v1/keys/{keyId}', ({ key }) => overApi('DELETE', `/v1/keys/${key.id}`, key.secret, 200)],
    ['POST /v1/keys/{keyId}/rotate', ({ key }) => overApi('POST', `/v1/keys/${key.id}/rotate`, key.secret, 201)],
    ['member remove', ({ workspace, email }) => verb('member', 'remove', '--workspace', workspace.slug, '--user', email)],
    ['user delete', ({ email }) => verb('user', 'delete', '--user', email)],
    ['service-account delete', ({ workspace, email }) => verb('service-account', 'delete', '--workspace', workspace.slug, '--name', email)],
  ]; // prettier-ignore

  it.each(ends)(
    '%s: of 1,000 requests that are sent after it returned none is accepted',
    async (name, end) => {
      const holder = name.startsWith('service') ? await robot() : await person();
      const { before, after } = await underLoad(holder.key.secret, () => end(holder));
      expect(before.filter((status) => status === 200 || status === 201).length).toBeGreaterThan(AT_ONCE);
      expect(after.length).toBeGreaterThanOrEqual(AFTER);
      expect(after.filter((status) => status !== 401)).toEqual([]);
    },
    60_000,
  );

  async function person(): Promise<Holder> {
    const member = await makeMember(service, { workspace: owner.workspace });
    return { ...member, email: member.user.email };
  }

  async function robot(): Promise<Holder> {
    const workspaceId = owner.workspace.id;
    const { id, name } = await service.app
      .get(ServiceAccountsService)
      .create({ workspaceId, name: 'Robot', role: 'member' });
    const about = { workspaceId, userId: id, service: true, name: 'ci', scopes: SCOPES, lifetimeSeconds: null };
    const key = await service.app.get(KeysService, { strict: false }).create(about);
    return { workspace: owner.workspace, key, email: name };
  }

  /** Reads and writes with a key at both processes, before, while and after `end` runs. */
  async function underLoad(secret: string, end: () => Promise<void>): Promise<Load> {
    const load: Load = { before: [], after: [] };
    let ended = false;
    let sent = 0;
    const loop = async () => {
      while (load.after.length < AFTER) {
        const n = sent++;
        const sentTo = ended ? load.after : load.before;
        sentTo.push(await send(apis[n % 2]?.url ?? '', secret, n));
      }
    };
    const loops = Array.from({ length: AT_ONCE }, loop);
    while (load.before.length < 2 * AT_ONCE) await new Promise((resolve) => setImmediate(resolve));
    await end();
    ended = true;
    await Promise.all(loops);
    return load;
  }

  /** Every third request writes. Resolves with the status. */
  async function send(url: string, secret: string, n: number): Promise<number> {
    const headers = { Authorization: `Bearer ${secret}`, 'X-Forwarded-For': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` };
    const write = {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'P' }),
    };
    const reading = n % 3 !== 0;
    const path = reading ? (n % 3 === 1 ? '/v1/auth/context' : '/v1/tasks') : '/v1/projects';
    const answer = await fetch(url + path, reading ? { headers } : write);
    await answer.arrayBuffer();
    return answer.status;
  } // prettier-ignore
});
