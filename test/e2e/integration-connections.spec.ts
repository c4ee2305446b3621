import type { Role } from '../../src/access/auth/auth-context.js';
import { useService } from '../harness/app.js';
import { acts } from '../harness/audit.js';
import { makeCaller } from '../harness/callers.js';
import { type Answer, type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { tablesWith } from '../harness/database.js';
import { automationOn, deliver, github } from '../harness/hooks.js';

interface ConnectionBody {
  id: string;
  slug: string;
  scope: string;
  state: string;
  path: string;
  url: string | null;
  previousSecretUntil: string | null;
  lastDeliveryAt: string | null;
  testable: boolean;
  createdAt: string;
}
type Made = { connection: ConnectionBody; secret: string } & ErrorBody;

const at = (slug = 'github') => `/v1/integrations/${slug}/connections`;

describe('Connections over the API (reference §13)', () => {
  const service = useService();
  const owner = () => makeMember(service, { role: 'owner' });
  const join = ({ workspace }: Member, role: Role) => makeMember(service, { workspace, role });
  const refused = ({ status, body: { error } }: Answer<ErrorBody>) => [status, error.code, error.param];
  const connect = (client: Client, body: object = { scope: 'workspace' }, slug?: string) =>
    client.post<Made>(at(slug), body);
  const rotate = (client: Client, id: string, body: object = {}) => client.post<Made>(`${at()}/${id}/rotate`, body);
  const list = async (client: Client, slug?: string) =>
    (await client.get<{ connections: ConnectionBody[] }>(at(slug))).body.connections;
  const takes = async ({ path }: { path: string }, secret: string) =>
    (await deliver(service, path, github(secret))).status;

  it('POST connects the workspace, and shows the secret in that answer alone', async () => {
    const ann = await owner();
    const { status, headers, body } = await connect(ann.client);
    expect(status).toBe(201);
    const { connection, secret } = body;
    expect(headers.get('location')).toBe(`${at()}/${connection.id}`);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(connection).toEqual({
      id: expect.any(String) as string,
      slug: 'github',
      scope: 'workspace',
      state: 'connected',
      path: `/hooks/${connection.id}`,
      url: null,
      previousSecretUntil: null,
      lastDeliveryAt: null,
      testable: true,
      createdAt: expect.stringMatching(/Z$/) as string,
    });
    expect(await takes(connection, secret)).toBe(200);
    const [listed] = await list(ann.client);
    expect(listed).toEqual({ ...connection, lastDeliveryAt: expect.stringMatching(/Z$/) as string });
    expect(await list(ann.client, 'slack')).toEqual([]);
    const { body: shown } = await ann.client.get('/v1/integrations/github');
    expect(shown).toMatchObject({ integration: { connections: { workspace: 'connected', user: 'not_connected' } } });
  });

  it('each provider is connected once for the workspace and once for each member', async () => {
    const ann = await owner();
    for (const scope of ['workspace', 'user']) {
      expect((await connect(ann.client, { scope })).status).toBe(201);
      expect(refused(await connect(ann.client, { scope }))).toEqual([409, 'connection_exists', null]);
    }
    const bo = await join(ann, 'member');
    const both = await Promise.all([connect(bo.client, { scope: 'user' }), connect(bo.client, { scope: 'user' })]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('takes the secret that the provider has made; one in a wrong form is 400 with the words of the provider', async () => {
    const ann = await owner();
    const secret = 'e6b19c573432dcc6b075501d51b51bb8';
    expect((await connect(ann.client, { scope: 'workspace', secret }, 'slack')).body.secret).toBe(secret);
    for (const wrong of ['short', 'with a space', 'x'.repeat(501), 'ümläute!']) {
      const answer = await connect(ann.client, { scope: 'workspace', secret: wrong });
      expect(refused(answer)).toEqual([400, 'invalid_field', 'secret']);
      expect(answer.body.error.message).toBe('A secret has 8 to 500 visible ASCII characters.');
    }
    const base64 = await connect(ann.client, { scope: 'workspace', secret: 'not-base64-secret' }, 'webhook');
    expect(refused(base64)).toEqual([400, 'invalid_field', 'secret']);
    expect(base64.body.error.message).toMatch(/^A secret of Webhook is Base64/);
    const { body } = await connect(ann.client);
    expect(refused(await rotate(ann.client, body.connection.id, { secret: 'short' }))).toEqual([
      400,
      'invalid_field',
      'secret',
    ]);
    expect(await takes(body.connection, body.secret)).toBe(200);
  });

  it.each([
    ['scope', { scope: 'team' }],
    ['scope', { scope: undefined }],
    ['secret', { secret: 5 }],
    ['secret', { secret: null }],
  ])('a wrong %s is 400 (%#)', async (param, wrong) => {
    const ann = await owner();
    expect(refused(await connect(ann.client, { scope: 'user', ...wrong }))).toEqual([400, 'invalid_field', param]);
    expect(await list(ann.client)).toEqual([]);
  });

  it('rotate gives a new secret; the old one is taken for a day, or for as long as was asked', async () => {
    const ann = await owner();
    const { connection, secret } = (await connect(ann.client)).body;
    const day = (await rotate(ann.client, connection.id.toUpperCase())).body;
    const hours = (Date.parse(day.connection.previousSecretUntil ?? '') - Date.now()) / 3_600_000;
    expect(Math.round(hours)).toBe(24);
    expect([await takes(connection, secret), await takes(connection, day.secret)]).toEqual([200, 200]);
    const none = (await rotate(ann.client, connection.id, { overlapSeconds: 0, secret: 'of-my-own-making' })).body;
    expect(none).toMatchObject({ secret: 'of-my-own-making', connection: { previousSecretUntil: null } });
    expect(none.connection.lastDeliveryAt).not.toBeNull();
    expect([await takes(connection, day.secret), await takes(connection, none.secret)]).toEqual([401, 200]);
    for (const overlapSeconds of [-1, 2_592_001, 1.5, '1']) {
      const answer = await rotate(ann.client, connection.id, { overlapSeconds });
      expect(refused(answer)).toEqual([400, 'invalid_field', 'overlapSeconds']);
    }
  });

  it('DELETE ends it at once and pauses the automations that are bound to it', async () => {
    const ann = await owner();
    const { connection, secret } = (await connect(ann.client)).body;
    const bound = await automationOn(service, ann, connection.id);
    expect((await ann.client.delete(`${at()}/${connection.id}`)).body).toEqual({ deleted: true, id: connection.id });
    expect(await takes(connection, secret)).toBe(401);
    const rows = await service.db.query(`SELECT paused_reason->>'code' AS code FROM automations WHERE id = $1`, [
      bound,
    ]);
    expect(rows).toEqual([{ code: 'integration_disconnected' }]);
    expect(refused(await ann.client.delete(`${at()}/${connection.id}`))).toEqual([404, 'not_found', null]);
    expect(await list(ann.client)).toEqual([]);
  });

  it.each(['github', 'slack', 'pagerduty'])(
    'a test of %s is verified and noted as a handshake, and starts nothing',
    async (slug) => {
      const ann = await owner();
      const { connection } = (await connect(ann.client, { scope: 'workspace' }, slug)).body;
      await deliver(service, connection.path, github('wrong, but long enough'));
      const test = await ann.client.post<{ delivery: object }>(`${at(slug)}/${connection.id}/test`);
      const delivery = {
        at: expect.stringMatching(/Z$/),
        event: null,
        deliveryId: null,
        verdict: 'handshake',
        runIds: [],
      };
      expect([test.status, test.body]).toEqual([200, { delivery }]);
      const { body } = await ann.client.get<{ deliveries: object[] }>(`/v1/integrations/${slug}/deliveries`);
      expect(body.deliveries).toContainEqual(test.body.delivery);
      expect(await acts(service, ann)).toContainEqual({
      action: 'integration.test', type: 'connection', id: connection.id, outcome: 'done',
    }); // prettier-ignore
    },
  );

  it('a provider that has no handshake cannot be tested: 409, and a sentence', async () => {
    const ann = await owner();
    const { connection } = (await connect(ann.client, { scope: 'workspace' }, 'webhook')).body;
    expect(connection.testable).toBe(false);
    const answer = await ann.client.post<ErrorBody>(`${at('webhook')}/${connection.id}/test`);
    expect(refused(answer)).toEqual([409, 'test_not_available', null]);
    const { body } = await ann.client.get('/v1/integrations/webhook/deliveries');
    expect(body).toEqual({ deliveries: [] });
  });

  it("the workspace's is seen and changed by owners and admins, an own one by its member alone", async () => {
    const ann = await owner();
    const [admin, bo, eve] = [await join(ann, 'admin'), await join(ann, 'member'), await join(ann, 'member')];
    const shared = (await connect(admin.client)).body.connection;
    const own = (await connect(bo.client, { scope: 'user' })).body.connection;
    const ids = async ({ client }: Member) => (await list(client)).map(({ id }) => id);
    expect([await ids(ann), await ids(admin), await ids(bo), await ids(eve)]).toEqual([
      [shared.id],
      [shared.id],
      [own.id],
      [],
    ]);
    for (const [{ client }, id] of [
      [bo, shared.id],
      [eve, own.id],
      [ann, own.id],
    ] as const) {
      expect(refused(await rotate(client, id))).toEqual([404, 'not_found', null]);
      expect(refused(await client.delete(`${at()}/${id}`))).toEqual([404, 'not_found', null]);
    }
    expect((await bo.client.get('/v1/integrations/github')).text).not.toContain(shared.id);
    const answer = await connect(bo.client, { scope: 'workspace' }, 'slack');
    expect(refused(answer)).toEqual([403, 'role_not_allowed', null]);
  });

  it('of another workspace, of another provider or of none it is 404', async () => {
    const [ann, stranger] = [await owner(), await owner()];
    const { connection } = (await connect(stranger.client)).body;
    const mine = (await connect(ann.client)).body.connection;
    for (const path of [
      `${at()}/${connection.id}`,
      `${at('slack')}/${mine.id}`,
      `${at('nothing')}/${mine.id}`,
      `${at()}/nonsense`,
    ]) {
      expect((await ann.client.delete(path)).status).toBe(404);
      expect((await ann.client.post(`${path}/rotate`, {})).status).toBe(404);
    }
    expect((await ann.client.get(at('nothing'))).status).toBe(404);
    expect((await connect(ann.client, { scope: 'user' }, 'nothing')).status).toBe(404);
    expect((await list(stranger.client)).map(({ id }) => id)).toEqual([connection.id]);
  });

  describe('Who may what', () => {
    const BOTH = { list: 200, shared: 201, own: 201, rotate: 200, end: 200 };
    const OWN = { list: 200, shared: 403, own: 201, rotate: 200, end: 200 };
    const NONE = { list: 200, shared: 403, own: 403, rotate: 403, end: 403 };

    it.each([
      ['owner', 'person', BOTH],
      ['admin', 'person', BOTH],
      ['member', 'person', OWN],
      ['viewer', 'person', NONE],
      ['owner', 'service', NONE],
      ['admin', 'service', NONE],
      ['member', 'service', NONE],
      ['viewer', 'service', NONE],
    ] as const)('%s %s', async (role, kind, right) => {
      const ann = await owner();
      const { client } = await makeCaller(service, ann.workspace, { role, kind });
      const shared = await connect(client);
      const own = await connect(client, { scope: 'user' });
      const id = own.status === 201 ? own.body.connection.id : crypto.randomUUID();
      const told = {
        list: (await client.get(at())).status,
        shared: shared.status,
        own: own.status,
        rotate: (await rotate(client, id)).status,
        end: (await client.delete(`${at()}/${id}`)).status,
      };
      expect(told).toEqual(right);
    });
  });

  it('each write has its row in the audit log; the secret is nowhere in the database but encrypted', async () => {
    const ann = await owner();
    const { connection, secret } = (await connect(ann.client)).body;
    const next = (await rotate(ann.client, connection.id)).body.secret;
    await takes(connection, next);
    const found = await Promise.all([secret, next].map((one) => tablesWith(service.db, one.slice(6))));
    expect(found).toEqual([[], []]);
    await ann.client.delete(`${at()}/${connection.id}`);
    expect(await acts(service, ann)).toEqual(
      ['connect', 'rotate', 'disconnect'].map((verb) => {
        return { action: `integration.${verb}`, type: 'connection', id: connection.id, outcome: 'done' };
      }),
    );
  });
});
