import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { removeFolder } from '../../src/engine/sandbox/workdir/workdirs.js';
import { LocalStorage } from '../../src/resources/files/storage/local/local-storage.js';
import { snapshotsPlace } from '../../src/resources/files/storage/snapshots-place.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { foldersOf, listingOf } from '../harness/folder-listing.js';
import { ModelServer } from '../harness/model-server.js';
import { call, finished, readResults, runTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const bash = (command: string) => call('bash', { command });

/** Modes, times, links of both kinds, holes, odd names, a closed folder, and what lies outside of the workdir. */
const WORK = [
  'mkdir -p a/b empty; printf "#!/bin/sh\\necho runs" > a/run; chmod 754 a/run; ln a/run a/again; ln -s ../a/run a/b/link; ln -s /nowhere lost',
  'truncate -s 3000000 sparse; printf end >> sparse; head -c 300000 /dev/urandom > random; echo odd > "$(printf "b\\377d")"',
  'mkdir shut; echo in > shut/f; touch -d "2001-02-03 04:05:06.123456789Z" random a/run; chmod 0 shut; chmod 1770 a',
  'echo t > /tmp/t; mkdir ~/.cache; echo c > ~/.cache/c',
].join('; ');

describe('A task whose folder is not on this machine (reference §22)', () => {
  let model: ModelServer;
  let who: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => (who = await makeMember(service, { role: 'owner' })));
  afterAll(() => model.stop());

  const say = async (taskId: string, ...turns: Parameters<typeof script>) => {
    await who.client.post(`/v1/tasks/${taskId}/messages`, { content: script(...turns) });
    return finished(who.client, taskId);
  };
  const lose = async (taskId: string) => {
    const { workdir = '', tmp = '' } = await foldersOf(service, taskId);
    await removeFolder(workdir, dirname(tmp));
    return workdir;
  };
  /** What lies on the disk of a task, by name. */
  const left = async (taskId: string) => {
    const { workdir = '' } = await foldersOf(service, taskId);
    return readdirSync(dirname(workdir)).filter((name) => name.startsWith(basename(workdir)));
  };

  it('goes on with every file as it was', async () => {
    const { id } = await runTask(who.client, script(bash(WORK), { text: 'Done.' }));
    const before = await listingOf(service, id);
    await lose(id);
    expect(await say(id, { text: 'Nothing to do.' })).toMatchObject({ status: 'completed' });
    expect(await listingOf(service, id)).toEqual(before);
    expect(before.length).toBeGreaterThan(30);
  });

  it('has files that its commands own', async () => {
    const { id } = await runTask(who.client, script(bash(WORK), { text: 'Done.' }));
    await lose(id);
    await say(
      id,
      bash('chmod 700 shut; cat shut/f /tmp/t ~/.cache/c; a/again; echo more >> random; stat -c %U . a a/run'),
      {
        text: 'Done.',
      },
    );
    const [, result] = await readResults(who.client, id);
    expect(result).toMatchObject({
      output: { exitCode: 0, stdout: 'in\nt\nc\nruns\nagent\nagent\nagent\n' },
    });
  });

  it('makes one again that a killed process has left half', async () => {
    const { id } = await runTask(who.client, script(bash(WORK), { text: 'Done.' }));
    const before = await listingOf(service, id);
    const workdir = await lose(id);
    for (const half of [`${workdir}.restoring/half`, `${workdir}.beside/tmp`]) {
      mkdirSync(half, { recursive: true });
      writeFileSync(`${half}/left`, 'half');
    }
    await say(id, { text: 'Nothing to do.' });
    expect(await listingOf(service, id)).toEqual(before);
  });

  it('is not touched when it is there', async () => {
    const { id } = await runTask(who.client, script(bash('echo 1 > a'), { text: 'Done.' }));
    const { workdir = '' } = await foldersOf(service, id);
    writeFileSync(`${workdir}/a`, '2');
    await say(id, bash('cat a'), { text: 'Done.' });
    expect((await readResults(who.client, id))[1]).toMatchObject({ output: { stdout: '2' } });
  });

  it('fails with sandbox_unavailable when its snapshot cannot be read, leaves nothing half, and goes on when it can be', async () => {
    const { id } = await runTask(who.client, script(bash(WORK), { text: 'Done.' }));
    const before = await listingOf(service, id);
    await lose(id);
    const storage = service.app.get(LocalStorage, { strict: false });
    const [{ object = '' } = {}] = await service.db.query<{ object: string }>(
      `SELECT u.object FROM snapshot_uses u JOIN snapshots s ON s.id = u.snapshot_id
       WHERE s.task_id = $1 AND u.object <> s.manifest`,
      [id],
    );
    const path = storage.pathOf(snapshotsPlace(who.workspace.id), object);
    const bytes = readFileSync(path);
    rmSync(path);
    expect(await say(id, { text: 'Never said.' })).toMatchObject({
      status: 'failed',
      statusReason: { code: 'sandbox_unavailable', retryable: true, message: expect.stringMatching(/not be restored/) },
    });
    expect(await left(id)).toEqual([]);
    writeFileSync(path, bytes);
    await say(id, { text: 'Nothing to do.' });
    expect(await listingOf(service, id)).toEqual(before);
  });

  it('is removed with the task, with what is left of a restoring', async () => {
    const { id } = await runTask(who.client, script(bash(WORK), { text: 'Done.' }));
    const { workdir = '' } = await foldersOf(service, id);
    mkdirSync(`${workdir}.restoring/half`, { recursive: true });
    await who.client.delete(`/v1/tasks/${id}`);
    await service.db.query('UPDATE folder_removals SET not_before = now() WHERE id = $1', [id]);
    await until('its folders are gone', async () => (await left(id)).length === 0);
  });
});
