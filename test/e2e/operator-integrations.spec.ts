import { useService } from '../harness/app.js';
import { newId } from '../../src/platform/database/ids.js';
import { makeMember } from '../harness/client.js';
import { automationOn, deliver, github, verdicts } from '../harness/hooks.js';
import { Operator } from '../harness/operator.js';

interface Made {
  connection: { id: string; url: string | null; path: string; secret: string; previousSecretUntil: string | null };
}
interface Listed {
  connections: { id: string; slug: string; userEmail: string | null; state: string; lastDeliveryAt: string | null }[];
}

describe('integration … of the operator command (reference §13, §16)', () => {
  const service = useService();
  const command = (env = {}) => new Operator(service, env);
  const connect = (slug: string, at: string, ...more: string[]) =>
    command().json<Made>('integration', 'connect', slug, '--workspace', at, ...more);

  it('connect shows the secret and where to deliver to', async () => {
    const { workspace } = await makeMember(service);
    const { connection } = await connect('github', workspace.slug);
    expect(connection).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      path: `/hooks/${connection.id}`,
      url: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      previousSecretUntil: null,
    });
    expect((await deliver(service, connection.path, github(connection.secret))).status).toBe(200);
    const { connection: other } = await command({ PUBLIC_URL: 'https://mill.example' }).json<Made>(
      'integration', 'connect', 'gitlab', '--workspace', workspace.slug); // prettier-ignore
    expect(other.url).toBe(`https://mill.example/hooks/${other.id}`);
  });

  it('takes the secret that a provider has made, and prints it first', async () => {
    const { workspace } = await makeMember(service);
    const secret = 'e6b19c573432dcc6b075501d51b51bb8';
    const out = await command().run(
      'integration',
      'connect',
      'slack',
      '--workspace',
      workspace.slug,
      '--secret',
      secret,
    );
    expect(out.split('\n')[0]).toBe(secret);
    for (const wrong of ['short', 'with a space', 'x'.repeat(501), 'ümläute!'])
      await expect(connect('github', workspace.slug, '--secret', wrong)).rejects.toThrow(
        'A secret has 8 to 500 visible ASCII characters.',
      );
  });

  it('takes no secret by which the provider could sign nothing', async () => {
    const { workspace } = await makeMember(service);
    for (const [slug, wrong] of [
      ['webhook', 'not-base64-secret'],
      ['webhook', 'whsec_!!!'],
      ['gitlab', 'whsec_!!!'],
    ] as const)
      await expect(connect(slug, workspace.slug, '--secret', wrong)).rejects.toThrow(/^A secret of \w+ is .*Base64/);
    for (const [slug, right] of [
      ['webhook', 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYX'],
      ['gitlab', 'a-secret-token'],
    ] as const)
      expect(await connect(slug, workspace.slug, '--secret', right)).toMatchObject({ connection: { secret: right } });
  });

  it('connects each provider once for the workspace and once for each member', async () => {
    const { workspace, user } = await makeMember(service);
    await connect('github', workspace.slug);
    await connect('github', workspace.slug, '--user', user.email);
    for (const more of [[], ['--user', user.email]]) {
      const again = connect('github', workspace.slug, ...more);
      await expect(again).rejects.toThrow(
        "Give it a new secret with 'integration rotate', or end it with 'integration disconnect'.",
      );
    }
    const stranger = await makeMember(service);
    await expect(connect('github', workspace.slug, '--user', stranger.user.email)).rejects.toThrow('not a member');
    await expect(connect('nothing', workspace.slug)).rejects.toThrow(
      "There is no integration 'nothing'. Known: github, gitlab, jira, linear, pagerduty, sentry, slack, webhook.",
    );
    const { connections } = await command().json<Listed>('integration', 'list', '--workspace', workspace.slug);
    expect(connections).toMatchObject([
      { slug: 'github', userEmail: null, state: 'connected', lastDeliveryAt: null },
      { slug: 'github', userEmail: user.email, state: 'connected', lastDeliveryAt: null },
    ]);
    expect(JSON.stringify(connections)).not.toContain('whsec_');
  });

  it('rotate gives a new secret and says until when the old one is taken', async () => {
    const { workspace } = await makeMember(service);
    const { connection } = await connect('github', workspace.slug);
    const rotate = async (...more: string[]) =>
      (await command().json<Made>('integration', 'rotate', connection.id, ...more)).connection;
    const day = await rotate();
    expect(day).toMatchObject({ id: connection.id, path: connection.path });
    const hours = (Date.parse(day.previousSecretUntil ?? '') - Date.now()) / 3_600_000;
    expect(Math.round(hours)).toBe(24);
    const status = async (secret: string) => (await deliver(service, connection.path, github(secret))).status;
    expect([await status(connection.secret), await status(day.secret)]).toEqual([200, 200]);
    const none = await rotate('--overlap', '0', '--secret', 'of-my-own-making');
    expect(none).toMatchObject({ secret: 'of-my-own-making', previousSecretUntil: null });
    expect([await status(day.secret), await status(none.secret)]).toEqual([401, 200]);
    for (const overlap of ['31d', '1', '-1h', 'soon'])
      await expect(rotate('--overlap', overlap)).rejects.toThrow(/expected/);
  });

  it('disconnect ends it at once, and pauses the automations that are bound to it', async () => {
    const member = await makeMember(service);
    const { connection } = await connect('github', member.workspace.slug);
    const [bound, free] = [
      await automationOn(service, member, connection.id),
      await automationOn(service, member, (await connect('gitlab', member.workspace.slug)).connection.id),
    ];
    const waiting = `INSERT INTO automation_runs (id, automation_id, trigger_type, status) VALUES ($1, $2, 'event', 'waiting')`;
    await service.db.query(waiting, [newId(), bound]);
    expect(await command().json('integration', 'disconnect', connection.id)).toEqual({
      disconnected: true,
      id: connection.id,
    });
    expect((await deliver(service, connection.path, github(connection.secret))).status).toBe(401);
    const rows = await service.db.query<{ id: string; status: string; code: string | null }>(
      `SELECT id, status, paused_reason->>'code' AS code FROM automations WHERE id = ANY($1)`,
      [[bound, free]],
    );
    expect(rows).toContainEqual({ id: bound, status: 'paused', code: 'integration_disconnected' });
    expect(rows).toContainEqual({ id: free, status: 'active', code: null });
    const told = `SELECT type, data ->> 'automationId' AS id, data #>> '{reason,code}' AS code FROM workspace_events
      WHERE workspace_id = $1 AND type LIKE 'automation.%' ORDER BY xid, id`;
    expect(await service.db.query(told, [member.workspace.id])).toEqual([
      { type: 'automation.paused', id: bound, code: 'integration_disconnected' },
      { type: 'automation.run_skipped', id: bound, code: 'paused' },
    ]);
  });

  it('deliveries shows what came and what became of it', async () => {
    const { workspace } = await makeMember(service);
    const { connection } = await connect('github', workspace.slug);
    await deliver(service, connection.path, github(connection.secret));
    await deliver(service, connection.path, github('wrong, but long enough'));
    await verdicts(service, connection, 'no_automation', 'bad_signature');
    const { deliveries } = await command().json<{ deliveries: object[] }>('integration', 'deliveries', connection.id);
    expect(deliveries).toEqual([
      { at: expect.stringMatching(/Z$/), event: null, deliveryId: null, verdict: 'bad_signature', runIds: [] },
      expect.objectContaining({ event: 'github.push', verdict: 'no_automation', runIds: [] }),
    ]);
  });

  it.each(['rotate', 'disconnect', 'deliveries'])('%s says that there is no such connection', async (verb) => {
    for (const id of ['01a2047b-2baf-772d-b7a8-6b80d6175e36', 'nonsense'])
      await expect(command().run('integration', verb, id)).rejects.toThrow(
        `There is no connection '${id}'; 'integration list' shows the ids.`,
      );
  });
});
