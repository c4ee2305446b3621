// How the audit log is sealed, verified and dropped, and what it has of the operator (reference §14, §16).
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { AuditRetention } from '../../src/access/audit/retention.js';
import { Sealer } from '../../src/access/audit/sealer.js';
import { type VerifiedChain } from '../../src/access/audit/verifier.js';
import { program } from '../../src/operator/verbs/program.js';
import { Env } from '../../src/platform/config/env.js';
import { ChoreRunner } from '../../src/platform/chores/chore-runner.js';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Operator } from '../harness/operator.js';
import { createProject } from '../harness/projects.js';
import { temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';

const NIL = '00000000-0000-0000-0000-000000000000';

const service = useService(bootWorker);
let operator: Operator;
beforeAll(() => {
  operator = new Operator(service);
});
afterEach(() => {
  // A verb that has failed says so by it.
  process.exitCode = 0;
});

const seal = () => service.app.get(Sealer).seal();
const query = <T extends pg.QueryResultRow>(sql: string, parameters?: unknown[]) =>
  service.db.query<T>(sql, parameters);
/** As a superuser behind the trigger's back. */
const tamper = async (sql: string, parameters?: unknown[]) => {
  const client = new pg.Client({ connectionString: service.db.url });
  await client.connect();
  await client.query(`SET session_replication_role = 'replica'`);
  await client.query(sql, parameters);
  await client.end();
};
/** Rows wait for every older transaction of the server, those of other suites' databases too. */
const PATIENTLY = { within: 25_000 };
const noneUnsealed = async (id: string) => {
  await seal();
  return (await query('SELECT 1 FROM audit_log WHERE workspace_id = $1 AND hash IS NULL', [id])).length === 0;
};
/** Another transaction may still write, and the chore may be at it at this moment. */
const allSealed = ({ workspace: { id } }: Member) => until('all rows to be sealed', () => noneUnsealed(id), PATIENTLY);
/** A workspace with six sealed rows. One is of a change. */
const sealed = async () => {
  const owner = await makeMember(service, { role: 'owner' });
  const { id } = await createProject(owner);
  await createProject(owner);
  await owner.client.patch(`/v1/projects/${id}`, { name: 'Q', description: null });
  await allSealed(owner);
  return owner;
};
const chainOf = async ({ workspace }: Member) => {
  const { chains } = await operator.json<{ chains: VerifiedChain[] }>('audit', 'verify');
  return chains.find((chain) => chain.workspace === workspace.slug);
};
const brokenOf = async (owner: Member) => (await chainOf(owner))?.broken;
const rowAt = async ({ workspace: { id } }: Member, seq: number) =>
  (await query<{ id: string }>('SELECT id FROM audit_log WHERE workspace_id = $1 AND seq = $2', [id, seq]))[0]?.id;

describe('The chain of a workspace (reference §14)', () => {
  it('is sealed by a chore within 10 s: places from 1 on, one chain for each workspace', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    await createProject(owner);
    const rows = () =>
      query<{ seq: string | null }>('SELECT seq FROM audit_log WHERE workspace_id = $1 ORDER BY xid, id', [
        owner.workspace.id,
      ]);
    await until('the rows to be sealed', async () => (await rows()).every(({ seq }) => seq !== null), PATIENTLY);
    expect((await rows()).map(({ seq }) => Number(seq))).toEqual([1, 2, 3, 4]);
    expect(await chainOf(owner)).toMatchObject({ rows: 4, seq: 4, broken: null });
  });

  it('can be verified by others from what `audit list` shows', async () => {
    const owner = await sealed();
    type Listed = Record<string, never> & { seq: number; hash: string; actor: { id: string } | null; target: { type: string; id: string } };
    const { entries } = await operator.json<{ entries: Listed[] }>('audit', 'list', '--workspace', owner.workspace.slug);
    let last = Buffer.alloc(32);
    for (const row of entries.reverse()) {
      const text = JSON.stringify([
        owner.workspace.id, row.seq, row['id'], row['at'], row.actor?.id ?? null, row['keyId'], row['address'], row['action'], row.target.type,
        row.target.id, row['outcome'], row['code'], row['requestId'], row['count'], ...(row['fields'] === null ? [] : [row['fields']]),
      ]);
      last = createHash('sha256').update(last).update(text).digest();
      expect(row.hash).toBe(last.toString('hex'));
    }
    expect(entries.map((row) => row['fields'])).toEqual([null, null, null, null, null, ['name', 'description']]);
    expect((await chainOf(owner))?.hash).toBe(last.toString('hex'));
  }); // prettier-ignore

  it('waits for a transaction that began before and still writes: the order is that of the transactions', async () => {
    const owner = await sealed();
    const early = new pg.Client({ connectionString: service.db.url });
    await early.connect();
    await early.query('BEGIN');
    await early.query('SELECT pg_current_xact_id()');
    await createProject(owner);
    const unsealed = async () =>
      (await query('SELECT 1 FROM audit_log WHERE workspace_id = $1 AND hash IS NULL', [owner.workspace.id])).length;
    await until('the chores to be idle', async () => (await seal()) === 0);
    expect(await unsealed()).toBe(1);
    await early.query('ROLLBACK');
    await early.end();
    await until('the row to be sealed', async () => (await seal(), (await unsealed()) === 0), PATIENTLY);
  });

  it('seals what a dump of another server brought, whose transactions were further on', async () => {
    const owner = await sealed();
    // In one statement: the service seals meanwhile.
    await tamper(
      `WITH chain AS (
         UPDATE audit_chains c SET seq = 5, hash = a.hash FROM audit_log a
         WHERE c.workspace_id = $1 AND a.workspace_id = $1 AND a.seq = 5)
       UPDATE audit_log SET xid = xid + 1000000000, seq = NULL, hash = NULL WHERE workspace_id = $1 AND seq = 6`,
      [owner.workspace.id],
    );
    await allSealed(owner);
    expect(await chainOf(owner)).toMatchObject({ seq: 6, broken: null });
  });

  it('refuses to change, delete or empty a row; not to seal it once', async () => {
    const owner = await sealed();
    const of = `WHERE workspace_id = '${owner.workspace.id}'`;
    const month = await query<{ name: string }>(`SELECT tableoid::regclass AS name FROM audit_log ${of} LIMIT 1`);
    for (const statement of [
      `UPDATE audit_log SET action = 'x' ${of}`,
      `UPDATE audit_log SET hash = NULL, seq = NULL ${of}`,
      `UPDATE audit_log SET hash = 'x', seq = 9 ${of}`,
      `DELETE FROM audit_log ${of}`,
      `DELETE FROM audit_log WHERE workspace_id = '${NIL}'`,
      `UPDATE ${month[0]?.name} SET address = NULL ${of}`,
      'TRUNCATE audit_log',
      `TRUNCATE ${month[0]?.name}`,
    ])
      await expect(query(statement)).rejects.toThrow('append-only');
    expect(await brokenOf(owner)).toBeNull();
  });

  it.each<[string, string, number, boolean, string]>([
    ['changed', `UPDATE audit_log SET target_id = 'x' WHERE workspace_id = $1 AND seq = 3`, 3, true, 'seal does not fit'],
    ['made another’s', `UPDATE audit_log SET actor_id = NULL WHERE workspace_id = $1 AND seq = 4`, 4, true, 'seal does not fit'],
    ['given another field', `UPDATE audit_log SET fields = '{name}' WHERE workspace_id = $1 AND seq = 6`, 6, true, 'seal does not fit'],
    ['robbed of its fields', `UPDATE audit_log SET fields = NULL WHERE workspace_id = $1 AND seq = 6`, 6, true, 'seal does not fit'],
    ['deleted', `DELETE FROM audit_log WHERE workspace_id = $1 AND seq = 3`, 3, false, 'is missing'],
    ['deleted, the first ones', `DELETE FROM audit_log WHERE workspace_id = $1 AND seq < 3`, 1, false, 'from here to 2 are missing'],
    ['deleted, the last ones', `DELETE FROM audit_log WHERE workspace_id = $1 AND seq > 4`, 5, false, 'from here to 6 are missing'],
    ['exchanged with another', `UPDATE audit_log SET seq = 9 - seq WHERE workspace_id = $1 AND seq IN (4, 5)`, 4, true, 'seal does not fit'],
    ['doubled', `INSERT INTO audit_log SELECT workspace_id, at + interval '1 ms', gen_random_uuid(), xid, actor_id, key_id, address, action, target_type,
       target_id, outcome, code, request_id, count, seq, hash FROM audit_log WHERE workspace_id = $1 AND seq = 3`, 3, true, 'Two rows'],
    ['added behind the end', `INSERT INTO audit_log SELECT workspace_id, at, gen_random_uuid(), xid, actor_id, key_id, address, action, target_type,
       target_id, outcome, code, request_id, count, 7, hash FROM audit_log WHERE workspace_id = $1 AND seq = 3`, 7, true, 'behind the end'],
    ['added in between', `WITH moved AS (UPDATE audit_log SET seq = seq + 1 WHERE workspace_id = $1 AND seq > 3)
       INSERT INTO audit_log SELECT workspace_id, at, gen_random_uuid(), xid, actor_id, key_id, address, action, target_type,
       target_id, outcome, code, request_id, count, 4, hash FROM audit_log WHERE workspace_id = $1 AND seq = 3`, 4, true, 'seal does not fit'],
    ['resealed at the end', `UPDATE audit_chains SET hash = '\\x00' WHERE workspace_id = $1`, 6, false, 'another seal'],
  ])('a row that is %s behind its back is found: exit 1, and the first such row is named', async (_what, sql, seq, row, reason) => {
    const owner = await sealed();
    expect(await brokenOf(owner)).toBeNull();
    expect(process.exitCode).toBe(0);
    await tamper(sql, [owner.workspace.id]);
    try {
      const broken = await brokenOf(owner);
      expect(broken).toEqual({ seq, id: row ? expect.any(String) : null, reason: expect.stringContaining(reason) });
      expect(process.exitCode).toBe(1);
      if (row && seq < 7) expect([await rowAt(owner, seq), broken?.id]).toContain(broken?.id);
      expect(await operator.run('audit', 'verify')).toContain(`✖ workspace '${owner.workspace.slug}': row ${seq}`);
    } finally {
      // The other tests look at whole chains.
      for (const table of ['audit_log', 'audit_chains']) await tamper(`DELETE FROM ${table} WHERE workspace_id = $1`, [owner.workspace.id]);
    }
  }); // prettier-ignore

  it('goes on behind months that were dropped, and no sooner than they may be', async () => {
    const owner = await sealed();
    const id = owner.workspace.id;
    // The first rows are of a month that is long over, and one that is younger in the chain too: clocks and commits differ.
    await query(`SELECT make_audit_months(now() - interval '15 months')`);
    await tamper(`DELETE FROM audit_chains WHERE workspace_id = $1`, [id]);
    await tamper(
      `UPDATE audit_log SET seq = NULL, hash = NULL, at = CASE WHEN seq IN (1, 2, 4) THEN at - interval '14 months' ELSE at END
       WHERE workspace_id = $1`,
      [id],
    );
    const months = async () =>
      (await query(`SELECT 1 FROM pg_inherits WHERE inhparent = 'audit_log'::regclass`)).length;
    const retention = service.app.get(AuditRetention);
    const before = await months();
    await retention.keep();
    // The months without a row were dropped, and the one whose rows are not sealed waits.
    expect(before - (await months())).toBeGreaterThan(0);
    expect(await query('SELECT 1 FROM audit_log WHERE workspace_id = $1', [id])).toHaveLength(6);
    await allSealed(owner);
    expect(await chainOf(owner)).toMatchObject({ rows: 6, seq: 6, broken: null });
    expect(service.app.get(Env).variables.AUDIT_DAYS).toBe(365);
    await retention.keep();
    expect(await query('SELECT 1 FROM audit_log WHERE workspace_id = $1', [id])).toHaveLength(3);
    expect(await query('SELECT seq::int FROM audit_cuts WHERE workspace_id = $1 ORDER BY seq', [id])).toEqual([
      { seq: 2 },
      { seq: 4 },
    ]);
    expect(await chainOf(owner)).toMatchObject({ rows: 3, seq: 6, broken: null });
    // What is missing beyond that is found.
    await tamper('DELETE FROM audit_cuts WHERE workspace_id = $1 AND seq = 4', [id]);
    expect(await brokenOf(owner)).toMatchObject({ seq: 4, reason: 'This row is missing.' });
    for (const table of ['audit_log', 'audit_chains', 'audit_cuts'])
      await tamper(`DELETE FROM ${table} WHERE workspace_id = $1`, [id]);
  });

  it('goes with its workspace; that it was deleted stays in the log of the installation', async () => {
    const owner = await sealed();
    const { id, slug } = owner.workspace;
    await operator.run('workspace', 'delete', '--workspace', slug, '--yes');
    await seal();
    await service.app.get(ChoreRunner).run(service.app.get(AuditRetention), 'keep');
    for (const table of ['audit_log', 'audit_chains', 'audit_cuts'])
      expect(await query(`SELECT 1 FROM ${table} WHERE workspace_id = $1`, [id])).toEqual([]);
    const { entries } = await operator.json<{ entries: object[] }>('audit', 'list', '--since', '1h');
    expect(entries[0]).toMatchObject({ action: 'workspace.delete', actor: null, target: { type: 'workspace', id } });
  });
});

describe('A verb of the operator (reference §14, §16)', () => {
  /** Verbs that change nothing: they only show something. */
  const READS = /^(audit|doctor|completion)\b|(list|status|deliveries|usage)$/;
  const done = new Set<string>();

  /** The actions that a line of the command leaves in the log. */
  const after = async (...line: string[]) => {
    const [last] = await query<{ id: string }>(`SELECT coalesce(max(id::text), '') AS id FROM audit_log WHERE actor_id IS NULL`);
    await operator.run(...line);
    done.add(line[0] === 'backup' ? 'backup' : line.slice(0, 2).join('.'));
    const rows = await query<{ action: string; workspace_id: string; target_id: string }>(
      'SELECT action, workspace_id, target_id FROM audit_log WHERE actor_id IS NULL AND id::text > $1 ORDER BY id',
      [last?.id],
    );
    return rows.map(({ action, workspace_id: of }) => [action, of === NIL ? 'installation' : 'workspace']);
  }; // prettier-ignore

  it('that changes something has its row, without an actor, under the name of the verb', async () => {
    const inOf = ['--workspace', 'audited'];
    const person = ['--user', 'ann@audit.test'];
    const one = (verb: string, where = 'workspace') => [[verb, where]];
    const ids = async (table: string) => (await query<{ id: string }>(`SELECT id FROM ${table} ORDER BY id DESC LIMIT 1`))[0]?.id ?? '';

    expect(await after('workspace', 'create', '--name', 'Audited')).toEqual(one('workspace.create'));
    expect(await after('workspace', 'policy', ...inOf, '--expose', 'text')).toEqual(one('workspace.policy'));
    expect(await after('workspace', 'policy', ...inOf)).toEqual([]);
    expect(await after('workspace', 'plan', ...inOf, '--plan', 'paid', '--top-up', '5')).toEqual(one('workspace.plan'));
    expect(await after('workspace', 'plan', ...inOf)).toEqual([]);
    await expect(after('workspace', 'plan', ...inOf, '--top-up', '-6')).rejects.toThrow('no more than that');
    expect(await after('user', 'create', '--email', 'ann@audit.test', '--name', 'Ann')).toEqual(one('user.create', 'installation'));
    expect(await after('member', 'add', ...inOf, ...person, '--role', 'owner')).toEqual(one('member.add'));
    expect(await after('service-account', 'create', ...inOf, '--name', 'ci')).toEqual(one('service-account.create'));
    expect(await after('key', 'create', ...inOf, ...person)).toEqual(one('key.create'));
    expect(await after('console', 'link', '--key', await ids('api_keys'))).toEqual(one('console.link'));
    expect(await after('key', 'revoke', await ids('api_keys'))).toEqual(one('key.revoke'));
    expect(await after('scim-token', 'create', ...inOf)).toEqual(one('scim-token.create'));
    expect(await after('scim-token', 'delete', await ids('scim_tokens'))).toEqual(one('scim-token.delete'));
    expect(await after('integration', 'connect', 'github', ...inOf)).toEqual(one('integration.connect'));
    expect(await after('integration', 'rotate', await ids('connections'))).toEqual(one('integration.rotate'));
    expect(await after('integration', 'disconnect', await ids('connections'))).toEqual(one('integration.disconnect'));
    const [{ id: workspaceId = '', slug = '' } = {}] = await query<{ id: string; slug: string }>(`SELECT id, slug FROM workspaces WHERE slug = 'audited'`);
    const helper = await makeMember(service, { workspace: { id: workspaceId, slug } });
    const { body } = await helper.client.post<{ automation: { id: string } }>('/v1/automations', { name: 'A', content: 'x', cron: '0 9 * * *' });
    const { id } = body.automation;
    for (const act of ['pause', 'resume', 'run']) expect(await after('automation', act, id, ...inOf)).toEqual(one(`automation.${act}`));
    expect(await after('service-account', 'delete', ...inOf, '--name', 'ci')).toEqual(one('service-account.delete'));
    expect(await after('member', 'remove', ...inOf, ...person, '--yes')).toEqual(one('member.remove'));
    await after('member', 'add', ...inOf, ...person, '--role', 'member');
    expect(await after('user', 'delete', ...person)).toEqual([...one('user.delete'), ...one('user.delete', 'installation')]);
    expect(await after('workspace', 'delete', ...inOf, '--yes')).toEqual(one('workspace.delete', 'installation'));
    const room = temporaryFolder();
    expect(await after('backup', join(room.path, 'backup'))).toEqual(one('backup', 'installation'));
    await expect(after('backup', room.path)).rejects.toThrow('is not empty');
    room.remove();
  }); // prettier-ignore

  it('is in that list, or only shows something; that of a restore is in the restored log (backup-audit.spec.ts), for adopt see installation.spec.ts, for a drain machines.spec.ts, for rotations secret-key.spec.ts and signing-keys.spec.ts, for secrets operator-secrets.spec.ts, for a link sign-in/unlink.spec.ts; a move of files and the program of an engine change no row', () => {
    'restore adopt machine.drain storage.move engine.install secret-key.rotate signing-key.rotate secret.set secret.delete user.unlink'
      .split(' ')
      .forEach((one) => done.add(one));
    const verbs = program(new ExtensionSet([])).commands.flatMap((group) =>
      group.commands.length === 0 ? [group.name()] : group.commands.map((one) => `${group.name()}.${one.name()}`),
    );
    expect(verbs.filter((verb) => !READS.test(verb) && !done.has(verb))).toEqual([]);
  });

  it('that fails has none', async () => {
    const before = await query('SELECT 1 FROM audit_log WHERE actor_id IS NULL');
    await expect(operator.run('user', 'delete', '--user', 'nobody@audit.test')).rejects.toThrow('There is no user');
    await expect(operator.run('workspace', 'create', '--name', 'x', '--slug', 'NO')).rejects.toThrow('no slug');
    expect(await query('SELECT 1 FROM audit_log WHERE actor_id IS NULL')).toHaveLength(before.length);
  });
});
