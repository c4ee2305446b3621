// The audit log in a backup, and behind its restore (reference §14, §16).
import { join } from 'node:path';
import { Sealer } from '../../src/access/audit/sealer.js';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { bootApp, type TestApp, useService } from '../harness/app.js';
import { Client, makeMember } from '../harness/client.js';
import { query } from '../harness/embedded.js';
import { holding } from '../harness/locks.js';
import { emptyDatabase } from '../harness/new-database.js';
import { Operator } from '../harness/operator.js';
import { createProject } from '../harness/projects.js';
import { temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';

describe('A restored backup (reference §14, §16)', () => {
  const service = useService(() => bootApp());
  const room = temporaryFolder();
  afterAll(() => room.remove());

  const dataDirOf = (app: TestApp) => app.app.get(DataDir).path;
  const operator = (url: string, dataDir: string) => new Operator({ db: { url } }, { DATA_DIR: dataDir });
  const lastAct = async (db: { query: typeof service.db.query }) =>
    (await db.query('SELECT action, target_type, target_id FROM audit_log ORDER BY at DESC, id DESC LIMIT 1'))[0];

  it('goes on with the audit log: what was not sealed is sealed there, and its chains are whole', async () => {
    const original = operator(service.db.url, dataDirOf(service));
    const member = await makeMember(service);
    type Chain = { workspace: string | null; seq: number; broken: object | null };
    const chains = async (url: string, dataDir: string) =>
      (await operator(url, dataDir).json<{ chains: Chain[] }>('audit', 'verify')).chains;
    const sealed = (app: TestApp) =>
      until('all rows to be sealed', async () => {
        await app.app.get(Sealer, { strict: false }).seal();
        return (await app.db.query('SELECT 1 FROM audit_log WHERE hash IS NULL')).length === 0;
      });
    await sealed(service);
    const before = await chains(service.db.url, dataDirOf(service));
    const writing = await holding(service.db, 'SELECT pg_current_xact_id()');
    await createProject(member);
    const folder = join(room.path, 'backup');
    const { backup } = await original.json<{ backup: { createdAt: string } }>('backup', folder);
    const { createdAt } = backup;
    await writing.release();
    expect(await lastAct(service.db)).toEqual({ action: 'backup', target_type: 'backup', target_id: createdAt });

    const target = await emptyDatabase();
    const dataDir = join(room.path, 'copy');
    await operator(target.url, dataDir).run('restore', folder);
    expect(await lastAct(target)).toEqual({ action: 'restore', target_type: 'backup', target_id: createdAt });
    // As if the transactions of the other server had been further on.
    await query(
      target.adminUrl,
      `SET session_replication_role = 'replica';
       UPDATE audit_log SET xid = xid + 1000000000 WHERE hash IS NULL AND action <> 'restore'`,
    );
    const copy = await bootApp({ db: target, env: { DATA_DIR: dataDir } });
    try {
      await createProject({ ...member, client: new Client(copy.url, member.key.secret) });
      await sealed(copy);
      const after = await chains(target.url, dataDir);
      const ends = (found: Chain[]) => Object.fromEntries(found.map(({ workspace, seq }) => [workspace ?? '', seq]));
      const { slug } = member.workspace;
      const [was, is] = [ends(before), ends(after)];
      expect(after.filter(({ broken }) => broken !== null)).toEqual([]);
      // A project there and one here; the restore, in the place of the backup.
      expect(is).toEqual({ ...was, [slug]: (was[slug] ?? 0) + 2, '': (was[''] ?? 0) + 1 });
    } finally {
      await copy.close();
      await target.drop();
    }
  });
});
