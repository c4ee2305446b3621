import { ConnectionsService } from '../../src/resources/integrations/connections.service.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { UsersService } from '../../src/access/workspaces/users.service.js';
import { WorkspaceRemover } from '../../src/access/workspaces/workspace-remover.js';
import { v7 as uuidv7 } from 'uuid';
import { useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { automationOn, connect, deliver, entries, github, verdicts } from '../harness/hooks.js';

interface Integration {
  slug: string;
  connected: boolean;
  connections: { workspace: string; user: string };
  triggerEvents: { name: string; description: string }[];
}
interface Delivery {
  at: string;
  event: string | null;
  deliveryId: string | null;
  verdict: string;
  runIds: string[];
}

describe('Integrations (reference §13)', () => {
  const service = useService();
  const read = async ({ client }: Member, slug = 'github') =>
    (await client.get<{ integration: Integration }>(`/v1/integrations/${slug}`)).body.integration;
  const state = async (member: Member) => {
    const { connected, connections } = await read(member);
    return { connected, ...connections };
  };
  const logOf = async ({ client }: Member, slug = 'github') =>
    (await client.get<{ deliveries: Delivery[] }>(`/v1/integrations/${slug}/deliveries`)).body.deliveries;
  const colleague = ({ workspace }: Member, role: 'member' | 'viewer' | 'owner' = 'member') =>
    makeMember(service, { workspace, role });

  it('the list has all of the catalogue, each as it is read by itself', async () => {
    const member = await makeMember(service);
    const { body } = await member.client.get<{ integrations: Integration[] }>('/v1/integrations');
    const slugs = body.integrations.map(({ slug }) => slug);
    expect(slugs).toEqual(['github', 'gitlab', 'jira', 'linear', 'pagerduty', 'sentry', 'slack', 'webhook']);
    for (const one of body.integrations) expect(await read(member, one.slug)).toEqual(one);
    const events = body.integrations.flatMap(({ triggerEvents }) => triggerEvents.map(({ name }) => name));
    for (const name of ['github.pull_request.opened', 'github.push', 'sentry.issue.created', 'webhook.received']) {
      expect(events).toContain(name);
    }
    for (const { slug, triggerEvents } of body.integrations) {
      expect(triggerEvents.filter(({ name }) => !name.startsWith(`${slug}.`))).toEqual([]);
    }
  });

  it('one that is not in the catalogue is 404', async () => {
    const { client } = await makeMember(service);
    for (const path of ['nothing', 'GITHUB', 'github%00', '__proto__', 'github.push', 'nothing/deliveries']) {
      const { status, body } = await client.get<ErrorBody>(`/v1/integrations/${path}`);
      expect([path, status, body.error.code]).toEqual([path, 404, 'not_found']);
    }
  });

  it("the state is that of the workspace's connection and of the caller's own", async () => {
    const member = await makeMember(service);
    const [other, stranger] = [await colleague(member, 'owner'), await makeMember(service)];
    const none = { connected: false, workspace: 'not_connected', user: 'not_connected' };
    expect(await state(member)).toEqual(none);
    await connect(service, member, { own: true });
    expect(await state(member)).toEqual({ connected: true, workspace: 'not_connected', user: 'connected' });
    expect(await state(other)).toEqual(none);
    await connect(service, member);
    expect(await state(member)).toEqual({ connected: true, workspace: 'connected', user: 'connected' });
    expect(await state(other)).toEqual({ connected: true, workspace: 'connected', user: 'not_connected' });
    expect(await state(stranger)).toEqual(none);
    expect((await read(member, 'gitlab')).connected).toBe(false);
  });

  it('it is error while the last delivery was refused', async () => {
    const member = await makeMember(service);
    const connection = await connect(service, member);
    await deliver(service, connection.path, github('wrong, but long enough'));
    await verdicts(service, connection, 'bad_signature');
    expect(await state(member)).toEqual({ connected: true, workspace: 'error', user: 'not_connected' });
    await deliver(service, connection.path, github(connection.secret));
    expect(await state(member)).toMatchObject({ workspace: 'connected' });
    await deliver(service, connection.path, github(connection.secret, { body: 'no JSON' }));
    await verdicts(service, connection, 'bad_signature', 'no_automation', 'malformed');
    expect(await state(member)).toMatchObject({ workspace: 'error' });
  });

  it('nothing names a connection, its secret, or whose it is', async () => {
    const member = await makeMember(service);
    const made = [await connect(service, member), await connect(service, member, { own: true })];
    for (const { path, secret } of made) await deliver(service, path, github(secret));
    const paths = ['', '/github', '/github/deliveries'].map((path) => `/v1/integrations${path}`);
    const texts = await Promise.all(paths.map(async (path) => (await member.client.get(path)).text));
    for (const { id, secret } of made) {
      for (const word of [id, secret, 'whsec_', member.user.id]) expect(texts.join('\n')).not.toContain(word);
    }
  });

  describe('The log of deliveries', () => {
    it('has what came, the newest first, with the runs that it made', async () => {
      const member = await makeMember(service);
      const connection = await connect(service, member);
      const automation = await automationOn(service, member, connection.id);
      const first = github(connection.secret);
      await deliver(service, connection.path, first);
      await deliver(service, connection.path, github('wrong, but long enough'));
      await verdicts(service, connection, 'accepted', 'bad_signature');
      const [entry] = await entries(service, connection);
      const run = uuidv7();
      await service.db.query(
        `INSERT INTO automation_runs (id, automation_id, trigger_type, event, delivery_id, status) VALUES ($1, $2, 'event', 'github.push', $3, 'started')`,
        [run, automation, entry?.id],
      );
      const deliveryId = first.headers['X-GitHub-Delivery'];
      expect(await logOf(member)).toEqual([
        { at: expect.any(String), event: null, deliveryId: null, verdict: 'bad_signature', runIds: [] },
        { at: expect.any(String), event: 'github.push', deliveryId, verdict: 'accepted', runIds: [run] },
      ]);
      const runs = async (of: Member) => (await logOf(of)).at(-1)?.runIds;
      // A member does not see the automation, which is in no project.
      expect(await runs(await colleague(member))).toEqual([]);
      expect(await runs(await colleague(member, 'owner'))).toEqual([run]);
    });

    it("is of the workspace's connection and of the caller's own", async () => {
      const member = await makeMember(service);
      const [viewer, stranger] = [await colleague(member, 'viewer'), await makeMember(service)];
      const [shared, own] = [await connect(service, member), await connect(service, member, { own: true })];
      for (const { path, secret } of [shared, own, shared]) await deliver(service, path, github(secret));
      expect(await logOf(member)).toHaveLength(3);
      expect(await logOf(viewer)).toHaveLength(2);
      expect(await logOf(stranger)).toEqual([]);
      expect(await logOf(member, 'gitlab')).toEqual([]);
    });

    it('ends after 100', async () => {
      const member = await makeMember(service);
      const { id } = await connect(service, member);
      await service.db.query(
        `INSERT INTO hook_deliveries (id, connection_id, dedupe_key, event, created_at)
         SELECT ('01a20000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid, $1, 'k' || i, 'github.e' || i, now() FROM generate_series(1, 120) i`,
        [id],
      );
      const events = (await logOf(member)).map(({ event }) => event);
      expect(events).toEqual(Array.from({ length: 100 }, (_, i) => `github.e${120 - i}`));
    });
  });

  describe('Connections', () => {
    const connections = () => service.app.get(ConnectionsService, { strict: false });

    it("an automation is bound to its owner's own, else to the workspace's", async () => {
      const member = await makeMember(service);
      const found = (of: Member) => connections().forOwner(
        service.app.get(ConnectionsService, { strict: false })['transactions'], member.workspace.id, of.user.id, 'github'); // prettier-ignore
      expect(await found(member)).toBeUndefined();
      const shared = await connect(service, member);
      expect(await found(member)).toEqual({ id: shared.id });
      const own = await connect(service, member, { own: true });
      expect(await found(member)).toEqual({ id: own.id });
      expect(await found(await colleague(member))).toEqual({ id: shared.id });
    });

    it('end with the membership of their user', async () => {
      const member = await makeMember(service);
      const [leaver, deleted] = [await colleague(member), await colleague(member)];
      const own = await connect(service, leaver, { own: true });
      const gone = await connect(service, deleted, { own: true });
      const shared = await connect(service, member);
      await service.app.get(MembershipsService).remove(member.workspace.id, leaver.user.id);
      await service.app.get(UsersService).delete(deleted.user.id);
      for (const { path, secret } of [own, gone])
        expect((await deliver(service, path, github(secret))).status).toBe(401);
      expect((await deliver(service, shared.path, github(shared.secret))).status).toBe(200);
    });

    it('end with the workspace, however much came to them', async () => {
      const member = await makeMember(service);
      const { id, path, secret } = await connect(service, member);
      await service.db.query(
        `INSERT INTO hook_deliveries (id, connection_id, dedupe_key) SELECT gen_random_uuid(), $1, 'k' || i FROM generate_series(1, 2500) i`,
        [id],
      );
      await service.app.get(WorkspaceRemover).remove(member.workspace.id);
      expect((await deliver(service, path, github(secret))).status).toBe(401);
      expect(await entries(service, { id })).toEqual([]);
    });
  });
});
