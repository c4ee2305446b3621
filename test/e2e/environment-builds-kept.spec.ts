import { jest } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SandboxSelector } from '../../src/engine/sandbox/sandbox-selector.js';
import { newId } from '../../src/platform/database/ids.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { BuildCleaner } from '../../src/work/environments/build-cleaner.js';
import { PreparedFolders } from '../../src/work/environments/prepared-folders.js';
import { TaskFolders } from '../../src/work/runs/task-folders.js';
import { bash, useBuilds, WAITS } from '../harness/build-stand.js';
import { ENVIRONMENTS } from '../harness/builds.js';
import { foldersOf } from '../harness/folder-listing.js';
import { call, createTask, finished, reaches, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const LIMIT = 64 * 1024 * 1024;

describe('What is kept of builds (reference §25)', () => {
  const stand = useBuilds(() => Promise.resolve({ plans: { paid: { storageBytes: LIMIT } } }));
  const { make, start, work, goOn, outputs, builds, held } = stand;
  const used = async () => {
    const text = 'SELECT snapshot_bytes::int AS bytes FROM storage_usage WHERE workspace_id = $1';
    const [row] = await stand.service.db.query<{ bytes: number }>(text, [stand.owner.workspace.id]);
    return row?.bytes ?? 0;
  };
  const prepared = () => stand.service.app.get(PreparedFolders, { strict: false });
  /** Where this machine prepares builds. */
  const preparedFolder = async () => {
    const folders = await stand.service.app.get(SandboxSelector, { strict: false }).current.folders(newId());
    return join(dirname(folders?.['workdir'] ?? ''), '.prepared');
  };
  const whole = (folder: string) => join(folder, 'whole', 'workdir');
  const spares = async (buildId: string) => {
    await prepared().refill(buildId);
    const place = join(await preparedFolder(), buildId);
    return readdirSync(place).filter((name) => name.startsWith('spare.'));
  };

  it('a task gets a spare copy by a rename, and another one is made in its place', async () => {
    const slug = await make({ setup: ['echo one >file'] });
    await work(slug);
    const [build] = await builds(slug);
    const before = await spares(build?.id ?? '');
    expect(before).toHaveLength(2);
    const starts = async () => (await stand.service.app.get(Metrics, { strict: false }).environmentStarts.get()).values;
    const spare = async () => (await starts()).find(({ labels }) => labels.way === 'spare')?.value ?? 0;
    const count = await spare();
    const task = await work(slug, bash('cat file; echo mine >file'));
    expect(await outputs(task)).toEqual(['one\n']);
    expect(await spare()).toBe(count + 1);
    const after = await spares(build?.id ?? '');
    expect(after).toHaveLength(2);
    expect(after.filter((name) => before.includes(name))).toHaveLength(1);
    expect(readFileSync(join(whole(join(await preparedFolder(), build?.id ?? '')), 'file'), 'utf8')).toBe('one\n');
  });

  it('a machine that has not prepared a build restores it from the storage', async () => {
    const slug = await make({ setup: ['echo one >file; ln file hard; ln -s file soft; chmod 700 .; printf x >~/.x'] });
    await work(slug);
    const [build] = await builds(slug);
    await spares(build?.id ?? '');
    await prepared().remove(build?.id ?? '');
    const task = await work(slug, bash('cat file soft ~/.x; stat -c %h hard'));
    expect(await outputs(task)).toEqual(['one\none\nx2\n']);
    expect(await prepared().has(build?.id ?? '')).toBe(true);
    // As where the disk has no room for it.
    await spares(build?.id ?? '');
    await prepared().remove(build?.id ?? '');
    const room = jest.spyOn(prepared(), 'hasRoomFor').mockResolvedValue(false);
    expect(await outputs(await work(slug, bash('cat file soft ~/.x')))).toEqual(['one\none\nx']);
    expect(await prepared().has(build?.id ?? '')).toBe(false);
    room.mockRestore();
  });

  it('what lies in storageBytes counts once, however many tasks begin from it', async () => {
    const slug = await make({ setup: ['head -c 1000000 /dev/urandom >random'] });
    const first = await work(slug, bash('ls'));
    const once = await used();
    expect(once).toBeGreaterThan(1_000_000);
    await work(slug, bash('ls'));
    await work(slug, bash('ls'));
    expect(await used()).toBeLessThan(once + 50_000);
    for (const { id } of [first]) await stand.owner.client.delete(`/v1/tasks/${id}`);
    expect(await used()).toBeGreaterThan(1_000_000);
  });

  it('a build without room in storageBytes fails, and leaves nothing that counts', async () => {
    const before = await used();
    const slug = await make({ setup: [`head -c ${LIMIT + 1_000_000} /dev/urandom >random`] });
    expect((await work(slug)).statusReason?.code).toBe('environment_failed');
    expect((await builds(slug))[0]?.error).toContain('bytes that its plan allows');
    expect(await used()).toBe(before);
  });

  it('a build that goes takes what nothing else names with it, and a task that has begun from it keeps its folder', async () => {
    const slug = await make({ setup: ['head -c 1000000 /dev/urandom >random'] });
    const task = await work(slug, bash('rm random; echo one >file'));
    for (const n of [2, 3, 4]) {
      await stand.owner.client.patch(`${ENVIRONMENTS}/${slug}`, { setup: [`echo ${n} >file`] });
      await work(slug);
    }
    const [oldest] = (await builds(slug)).slice(-1);
    expect(await stand.service.app.get(BuildCleaner, { strict: false }).forget()).toBe(2);
    expect((await builds(slug)).map(({ version }) => version)).toEqual([4, 3]);
    expect(await prepared().has(oldest?.id ?? '')).toBe(false);
    expect(await used()).toBeLessThan(500_000);
    expect((await outputs(await goOn(task, bash('cat file')))).at(-1)).toBe('one\n');
  });

  it('a build that a live task names stays', async () => {
    const slug = await make({ setup: ['echo 1 >file'] });
    const { id } = await createTask(stand.owner.client, { content: script(call('ask', { question: 'Which?' }), { text: 'Done.' }), environment: slug }); // prettier-ignore
    await reaches(stand.owner.client, id, 'awaiting_input');
    for (const n of [2, 3, 4]) {
      await stand.owner.client.patch(`${ENVIRONMENTS}/${slug}`, { setup: [`echo ${n} >file`] });
      await work(slug);
    }
    await stand.service.app.get(BuildCleaner, { strict: false }).forget();
    expect((await builds(slug)).map(({ version }) => version)).toEqual([4, 3, 1]);
  });

  it('folders of a build under way are not removed as those of a deleted task, and go with its end', async () => {
    const slug = await make({ setup: [WAITS, 'exit 1'] });
    const { id } = await start(slug);
    const goes = await held(slug);
    const [build] = await builds(slug);
    const { workdir = '' } = await foldersOf(stand.service, build?.id ?? '');
    await stand.service.app.get(TaskFolders, { strict: false }).removeNeedless(new AbortController().signal);
    expect(existsSync(workdir)).toBe(true);
    goes();
    await finished(stand.owner.client, id);
    await until('the folder to be gone', () => !existsSync(workdir));
  });
});
