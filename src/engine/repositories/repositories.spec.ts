import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderSandbox } from '../../../test/harness/folder-sandbox.js';
import { git, RepositoryFolder } from '../../../test/harness/repositories.js';
import { until } from '../../../test/harness/until.js';
import { configFileSchema } from '../../platform/config/config-file.js';
import { DataDir } from '../../platform/config/data-dir.js';
import { Env, readEnv } from '../../platform/config/env.js';
import { removeTree } from '../../platform/config/reachable.js';
import type { DiskSpace } from '../../platform/disk/disk-space.js';
import { Egress } from '../../platform/egress/egress.js';
import type { Resolver } from '../../platform/egress/name-servers.js';
import { RepositoryRules } from './repository-rules.js';
import { RepositoryStore } from './repository-store.js';
import type { SandboxSession } from '../sandbox/sandbox.js';
import { TaskRepository } from './task-repository.js';

const folder = new RepositoryFolder();
const folders: string[] = [];
afterAll(() => {
  folder.remove();
  for (const one of folders) removeTree(one);
});

/** The free space of a test. */
class Space {
  state: DiskSpace['state'] = 'enough';
  readonly listeners = new Set<() => void>();
  listen(listener: () => void): void {
    this.listeners.add(listener);
  }
  unlisten(listener: () => void): void {
    this.listeners.delete(listener);
  }
}

/** Rules and store as a service with this configuration has them. */
function withConfig(config: object, resolver?: Resolver, space = new Space()) {
  const dataDir = mkdtempSync(join(tmpdir(), 'repository-store-'));
  folders.push(dataDir);
  const { variables } = readEnv({ NODE_ENV: 'test', DATA_DIR: dataDir });
  const env = new Env(variables, configFileSchema().parse(config), new Map(), new Map([['TOKEN', 'the-token']]));
  const rules = new RepositoryRules(env, new DataDir(env));
  if (resolver !== undefined) Object.assign(rules, { egress: new Egress(['127.0.0.1/32'], resolver) });
  return {
    rules,
    store: new RepositoryStore(env, new DataDir(env), rules, space as unknown as DiskSpace),
    kept: join(dataDir, 'repositories'),
  };
}
const files = { repositoryFiles: [folder.path] };
const TASK = '0190a000-0000-7000-8000-000000000001';
const wanted = (url: string, more: object = {}) => {
  return { taskId: TASK, workspace: 'default', title: 'Work', url, ref: null, commit: null, push: null, ...more };
};
const never = new AbortController().signal;
const answering =
  (address: string): Resolver =>
  (_host, _options, done) =>
    setImmediate(() => done(null, [{ address, family: 4 }]));

describe('The clone of a repository (reference §15)', () => {
  const there = (kept: string) => (existsSync(kept) ? readdirSync(kept) : []);

  it('is whole or not there: what a killed worker has left is begun again, and what is there is kept', async () => {
    const source = folder.make('whole', { 'a.txt': 'one\n' });
    const first = git(source, 'rev-parse', 'HEAD');
    const { store, kept } = withConfig(files);
    mkdirSync(join(kept, `${TASK}.0123/git/objects`), { recursive: true });
    writeFileSync(join(kept, `${TASK}.0123/history.pack`), 'half');
    expect(await store.clone(wanted(`file://${source}`), never)).toEqual({ commit: first, branch: 'main' });
    expect(there(kept)).toEqual([TASK]);
    expect(readdirSync(join(kept, TASK)).sort()).toEqual(['base.json', 'config', 'files.pack', 'history.pack']);
    const second = folder.commit(source, 'Later', { 'b.txt': 'two\n' });
    expect((await store.clone(wanted(`file://${source}`), never)).commit).toBe(first);
    // When the folder is lost, as after a restore, the commit that is on record is fetched.
    await store.remove(TASK);
    expect(there(kept)).toEqual([]);
    expect((await store.clone(wanted(`file://${source}`, { commit: first }), never)).commit).toBe(first);
    await store.remove(TASK);
    expect((await store.clone(wanted(`file://${source}`), never)).commit).toBe(second);
  });

  it('leaves nothing when the run is stopped', async () => {
    const source = folder.make('stopped', { 'a.txt': 'one\n' });
    const { store, kept } = withConfig(files);
    const stop = new AbortController();
    const clone = store.clone(wanted(`file://${source}`), stop.signal);
    stop.abort(new Error('Stopped.'));
    await expect(clone).rejects.toThrow('Stopped.');
    expect(there(kept)).toEqual([]);
  });

  it('is given up when the worker stops, as when the run is cancelled', async () => {
    const { store, kept } = withConfig(files);
    const repository = new TaskRepository(store, wanted(`file://${folder.make('left', {})}`), 0, never);
    await expect(repository.clone(AbortSignal.abort(new Error('It stops.')))).rejects.toThrow('It stops.');
    expect(there(kept)).toEqual([]);
  });

  it('is no larger than a task may be', async () => {
    const source = folder.make('large', { 'a.bin': randomBytes(50_000), 'b.bin': randomBytes(50_000) });
    const { store, kept } = withConfig({ ...files, sandbox: { diskBytes: 10_000 } });
    await expect(store.clone(wanted(`file://${source}`), never)).rejects.toThrow('larger than a task may be');
    expect(there(kept)).toEqual([]);
  });

  it('is no larger than a task may be in all its files together', async () => {
    const source = folder.make('many', { 'a.bin': randomBytes(60_000) });
    // Each pack is smaller than the limit, the fetched one and the history together are larger.
    const { store, kept } = withConfig({ ...files, sandbox: { diskBytes: 100_000 } });
    await expect(store.clone(wanted(`file://${source}`), never)).rejects.toThrow('larger than a task may be');
    expect(there(kept)).toEqual([]);
  });

  it('is not begun where the disk is below its reserve, and ends where it is nearly full', async () => {
    const source = folder.make('no room', { 'a.txt': 'one\n' });
    const space = new Space();
    const { store, kept } = withConfig(files, undefined, space);
    space.state = 'low';
    await expect(store.clone(wanted(`file://${source}`), never)).rejects.toThrow('disk of the service is nearly full');
    space.state = 'enough';
    const clone = store.clone(wanted(`file://${source}`), never);
    await until('the clone to listen', () => space.listeners.size > 0, { every: 1 });
    space.state = 'critical';
    for (const listener of space.listeners) listener();
    await expect(clone).rejects.toThrow('disk of the service is nearly full');
    expect([there(kept), space.listeners.size]).toEqual([[], 0]);
  });

  it('starts nothing that the repository holds', async () => {
    const source = folder.make('hostile', {
      '.gitattributes': '* filter=x\n',
      'a.txt': 'one\n',
      '.gitmodules': '[submodule "s"]\n\tpath = s\n\turl = ext::touch ran\n',
    });
    const ran = join(folder.path, 'ran');
    for (const name of [
      'core.fsmonitor',
      'core.sshCommand',
      'filter.x.smudge',
      'uploadpack.packObjectsHook',
      'core.hooksPath',
    ]) {
      git(source, 'config', name, `touch ${ran}`);
    }
    const { store } = withConfig(files);
    await store.clone(wanted(`file://${source}`), never);
    expect(existsSync(ran)).toBe(false);
  });

  it('is fetched from the address that was checked, whatever the name leads to', async () => {
    const names: string[] = [];
    const server = createServer({ SNICallback: (name, done) => done(new Error(String(names.push(name)))) });
    server.on('tlsClientError', () => undefined);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `https://git.example:${port}/acme/api.git`;
    try {
      const waits: string[] = [];
      const clone = withConfig({}, answering('127.0.0.1')).store.clone(wanted(url), never, ({ message }) => {
        waits.push(message);
        return () => waits.push('over');
      });
      await expect(clone).rejects.toThrow('The repository could not be read');
      expect(new Set(names)).toEqual(new Set(['git.example']));
      const [look, clones] = ['The name git.example is looked up.', `The repository at ${url} is cloned.`];
      expect(waits).toEqual([look, 'over', clones, 'over']);
      names.splice(0);
      const other = withConfig({}, answering('10.0.0.1')).store.clone(wanted(url), never);
      await expect(other).rejects.toThrow('git.example is not a public address');
      expect(names).toEqual([]);
    } finally {
      server.close();
    }
  });
});

describe('A repository in a workdir (reference §15)', () => {
  /** A task whose repository is cloned and not handed in, and its workdir. */
  const start = async (name: string, maxPatchBytes = 1_000_000) => {
    const source = folder.make(name, { 'a.txt': 'one\n' });
    const { store, kept } = withConfig(files);
    const sandbox = new FolderSandbox();
    folders.push(sandbox.folder);
    const session = await sandbox.open({ taskId: TASK, signal: never });
    const repository = new TaskRepository(store, wanted(`file://${source}`), maxPatchBytes, never);
    await repository.clone(never);
    const handIn = () => repository.handIn(() => Promise.resolve(session));
    return { repository, session, handIn, workdir: sandbox.folder, pack: join(kept, TASK, 'history.pack'), kept };
  };

  it('is whole or not there, wherever the worker was killed', async () => {
    const { handIn, workdir, pack } = await start('half');
    mkdirSync(join(workdir, '.millwright-repo/.git'), { recursive: true });
    writeFileSync(join(workdir, '.millwright-repo/left'), 'half');
    await handIn();
    expect(readdirSync(workdir)).toEqual(['repo']);
    expect(readdirSync(join(workdir, 'repo')).sort()).toEqual(['.git', 'a.txt']);
    expect(existsSync(pack)).toBe(false);
  });

  it('is left alone when it was handed in and the worker was killed before it noted so', async () => {
    const { handIn, workdir, pack } = await start('noted');
    mkdirSync(join(workdir, 'repo'));
    await handIn();
    expect([readdirSync(join(workdir, 'repo')), existsSync(pack)]).toEqual([[], false]);
  });

  it('is handed in once: what the agent removes stays removed', async () => {
    const { handIn, workdir } = await start('once');
    await handIn();
    rmSync(join(workdir, 'repo'), { recursive: true });
    await handIn();
    expect(readdirSync(workdir)).toEqual([]);
  });

  it('is cloned anew when it cannot be handed in', async () => {
    const { handIn, workdir, pack, kept } = await start('damaged');
    writeFileSync(pack, 'PACK, but a damaged one');
    await expect(handIn()).rejects.toThrow('could not be laid into the workdir');
    expect([readdirSync(workdir), readdirSync(kept)]).toEqual([[], []]);
  });

  it('has no patch where that is too large, and no figures where it cannot be compared', async () => {
    const { repository, session, handIn, workdir, kept } = await start('compared', 100);
    await handIn();
    writeFileSync(join(workdir, 'repo/a.txt'), 'x\n'.repeat(100));
    const changes = await repository.changes(session);
    expect([changes.counted, changes.patch]).toEqual([
      { files: 1, additions: 100, deletions: 1, patchOmitted: true },
      null,
    ]);
    await changes.close();
    expect(readdirSync(workdir)).toEqual(['repo']);
    writeFileSync(join(kept, TASK, 'files.pack'), 'damaged');
    await expect(repository.changes(session)).rejects.toThrow('The changes were not counted');
  });

  describe('with folders that their owner has closed', () => {
    /** Root without the capabilities by which it passes over modes: as the user of a task. */
    const bound = (session: SandboxSession) => {
      const run = session.run.bind(session);
      const drop = process.getuid?.() === 0 ? 'setpriv --bounding-set=-dac_override,-dac_read_search' : '';
      session.run = (script, how) => run(`${drop} sh -c "$SCRIPT"`, { ...how, env: { ...how?.env, SCRIPT: script } });
      return session;
    };
    /** Its tree has a repository inside, and a read-only folder beside that. */
    const closed = async (name: string) => {
      const started = await start(name);
      await started.handIn();
      bound(started.session);
      await started.session.run(
        'cd repo && git init -q in/side && mkdir shut && touch shut/b.txt in/side/c.txt && chmod 0500 shut in/side',
      );
      return started;
    };

    it('is compared after each turn, and nothing is left of it', async () => {
      const { repository, session, workdir } = await closed('read-only');
      for (let turn = 0; turn < 2; turn++) {
        const changes = await repository.changes(session);
        changes.patch?.content.destroy();
        await changes.close();
        expect(changes.counted.files).toBe(2);
        expect(readdirSync(workdir)).toEqual(['repo']);
      }
      // They are the agent's: their modes are as it made them, and so are those of their files.
      const { stdout } = await session.run('stat -c %a repo/shut repo/in/side; ls -A repo/in/side');
      expect(stdout).toBe('500\n500\n.git\nc.txt\n');
    });

    it('leaves nothing when it cannot be compared', async () => {
      const { repository, session, workdir, kept } = await closed('not compared');
      writeFileSync(join(kept, TASK, 'files.pack'), 'damaged');
      await expect(repository.changes(session)).rejects.toThrow('The changes were not counted');
      expect(readdirSync(workdir)).toEqual(['repo']);
    });

    it('is rid of what a killed worker has left, before the next turn begins', async () => {
      const { repository, session, handIn, workdir } = await closed('killed');
      await repository.changes(session);
      expect(readdirSync(workdir)).toHaveLength(2);
      await handIn();
      expect(readdirSync(workdir)).toEqual(['repo']);
    });
  });
});
