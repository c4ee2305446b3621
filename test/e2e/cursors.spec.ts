import { KeysService } from '../../src/access/auth/keys.service.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { type TestApp, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { attach, makeTask, upload } from '../harness/files.js';
import { readPage, withQuery } from '../harness/pages.js';
import { addProjectFile, createProject, putIntoProject } from '../harness/projects.js';
import type { MessageBody } from '../harness/tasks.js';
import { SLOW } from '../harness/slow.js';

/** Lists of {@link fill}. */
const KINDS = 19;

interface List {
  caller: string;
  client: Client;
  /** With filters and order. */
  path: string;
}

describe('Cursors (reference §11)', () => {
  /** Every list that a caller may read, with the cursor of its second page. */
  let given: (List & { cursor: string })[];
  let owner: Member;
  /** The owner in another workspace. */
  let elsewhere: Member;

  const service = useService();
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
    const colleague = await makeMember(service, { workspace: owner.workspace, role: 'owner' });
    elsewhere = await secondWorkspace(owner);
    const here = await fill(service, owner);
    const callers: [string, Client, string[]][] = [
      ['owner', owner.client, here],
      ['colleague', colleague.client, here],
      ['owner elsewhere', elsewhere.client, await fill(service, elsewhere)],
    ];
    given = [];
    for (const [caller, client, own] of callers) {
      for (const path of own) {
        const { nextCursor } = await readPage(client, path, { limit: '1' });
        if (nextCursor === null) throw new Error(`${path} has only one page.`);
        given.push({ caller, client, path, cursor: nextCursor });
      }
    }
  });

  async function secondWorkspace({ user }: Member): Promise<Member> {
    const { workspace } = await makeMember(service);
    await service.app.get(MembershipsService).add(workspace.id, user.id, 'owner');
    const keys = service.app.get(KeysService, { strict: false });
    const about = { workspaceId: workspace.id, userId: user.id, name: 'second', scopes: SCOPES, lifetimeSeconds: null };
    const key = await keys.create(about);
    return { workspace, user, key, client: new Client(service.url, key.secret) };
  }

  const ofOwner = () => given.filter(({ caller }) => caller === 'owner');
  const ask = (client: Client, path: string, cursor: string) => client.get<ErrorBody>(withQuery(path, { cursor }));
  const refused = async (client: Client, path: string, cursor: string) => {
    const { status, body } = await ask(client, path, cursor);
    expect({ path, cursor, status, error: body.error }).toMatchObject({
      status: 400,
      error: { type: 'invalid_request', code: 'invalid_cursor', param: 'cursor' },
    });
  };

  it('one is good for the user, the workspace, the route, the filters and the order that it was given for', async () => {
    expect(given).toHaveLength(3 * KINDS);
    for (const { client, path, cursor } of given) expect((await ask(client, path, cursor)).status).toBe(200);
  });

  /** Of all pairs one in so many, other ones for each list. */
  const ONE_IN = SLOW ? 1 : 9;

  it('any other use is 400 invalid_cursor: pairs of users, workspaces, routes, filters and orders', async () => {
    let pairs = 0;
    for (const [i, { caller, path: own, cursor }] of given.entries()) {
      const others = given.filter((list, j) => (list.caller !== caller || list.path !== own) && (i + j) % ONE_IN === 0);
      pairs += others.length;
      await Promise.all(others.map(({ client, path }) => refused(client, path, cursor)));
      if (caller === 'owner') await refused(elsewhere.client, own, cursor);
    }
    const all = given.length * (given.length - 1);
    expect([pairs <= all, pairs > (all / ONE_IN) * 0.9]).toEqual([true, true]);
  });

  it('it belongs to the user, not to the credential, and the limit may change', async () => {
    const second = await service.app
      .get(KeysService, { strict: false })
      .create({ workspaceId: owner.workspace.id, userId: owner.user.id, name: 's', scopes: SCOPES, lifetimeSeconds: 60 });
    const client = new Client(service.url, second.secret);
    for (const { path, cursor } of ofOwner()) {
      expect((await client.get(withQuery(path, { cursor, limit: '2' }))).status).toBe(200);
    }
  }); // prettier-ignore

  // Other bits from list to list; `pages.spec` flips all of them.
  const sample = (flips: Buffer[], i: number) => flips.filter((_flipped, bit) => bit % ((SLOW ? 3 : 12) * KINDS) === i);

  it('with a bit of its text flipped it is 400 invalid_cursor', async () => {
    for (const [i, { client, path, cursor }] of ofOwner().entries()) {
      const flips = sample(bitFlips(Buffer.from(cursor, 'latin1')), i);
      await Promise.all(flips.map((bytes) => refused(client, path, bytes.toString('latin1'))));
    }
  });

  it('with a bit of its bytes flipped it is 400 invalid_cursor', async () => {
    for (const [i, { client, path, cursor }] of ofOwner().entries()) {
      const flips = sample(bitFlips(Buffer.from(cursor, 'base64url')), i);
      await Promise.all(flips.map((bytes) => refused(client, path, bytes.toString('base64url'))));
    }
  });

  it('spelt in another way it is 400 invalid_cursor', async () => {
    for (const { client, path, cursor } of ofOwner()) {
      const base64 = Buffer.from(cursor, 'base64url').toString('base64');
      const same = [`${cursor}=`, `${cursor}==`, ` ${cursor}`, `${cursor}\n`, `${cursor}.`, base64, ...spareBits(cursor)];
      const spellings = same.filter((text) => text !== cursor);
      for (const text of spellings) expect(Buffer.from(text, 'base64url')).toEqual(Buffer.from(cursor, 'base64url'));
      await Promise.all(['', `${cursor}A`, cursor.slice(0, -1), ...spellings].map((text) => refused(client, path, text)));
    }
  }); // prettier-ignore

  it('a wrong one is told before the thing that the path names is looked for', async () => {
    const none = crypto.randomUUID();
    for (const path of [`/v1/tasks/${none}/messages`, `/v1/tasks/${none}/files`, `/v1/projects/${none}/files`]) {
      await refused(owner.client, path, '');
      expect((await owner.client.get(path)).status).toBe(404);
    }
  });
});

/** The texts that differ in the bits of the last letter that no byte uses. */
function spareBits(cursor: string): string[] {
  const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const spare = { 0: 1, 2: 16, 3: 4 }[cursor.length % 4] ?? 1;
  const last = LETTERS.indexOf(cursor.at(-1) ?? '');
  return Array.from({ length: spare }, (_, bits) => cursor.slice(0, -1) + (LETTERS[last | bits] ?? ''));
}

/** Copies of some bytes, each with another bit flipped. */
function bitFlips(bytes: Buffer): Buffer[] {
  return Array.from({ length: bytes.length * 8 }, (_, bit) => {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return flipped;
  });
}

/** Collections of every kind with at least two pages of one; their paths with filters and orders. */
async function fill(service: TestApp, member: Member): Promise<string[]> {
  const [one, two] = [await createProject(member), await createProject(member)];
  const [first, second] = [await makeTask(service, member), await makeTask(service, member)];
  for (const project of [one, one, two, two]) {
    await addProjectFile(service, member, project.id, 'x');
    await putIntoProject(service, await makeTask(service, member), project.id);
  }
  const { id: uploadId } = await upload(service, member, 'x');
  for (const task of [first, first, second, second]) await attach(service, member, task, [uploadId]);
  const sent: string[] = [];
  for (const task of [first, first, first, first, second, second]) {
    const { body } = await member.client.post<{ message: MessageBody }>(`/v1/tasks/${task}/messages`, { content: 'x' });
    sent.push(body.message.id);
  }
  // The messages have made these two queued.
  await putIntoProject(service, first, one.id);
  await putIntoProject(service, second, one.id);
  const messages = `/v1/tasks/${first}/messages`;
  return [
    '/v1/projects',
    '/v1/tasks',
    '/v1/tasks?status=queued',
    '/v1/tasks?sort=updatedAt',
    '/v1/tasks?archived=all',
    '/v1/tasks?status=completed',
    `/v1/tasks?projectId=${one.id}`,
    `/v1/tasks?projectId=${two.id}`,
    `/v1/tasks?status=completed&projectId=${one.id}`,
    `/v1/projects/${one.id}/files`,
    `/v1/projects/${two.id}/files`,
    `/v1/tasks/${first}/files`,
    `/v1/tasks/${second}/files`,
    messages,
    `${messages}?order=desc`,
    `${messages}?after=${sent[0]}`,
    `${messages}?after=${sent[0]}&order=desc`,
    `${messages}?after=${sent[1]}`,
    `/v1/tasks/${second}/messages`,
  ];
}
