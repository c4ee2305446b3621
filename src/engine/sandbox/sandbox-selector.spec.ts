import { COMMAND_VARIABLES } from './drivers/root-folder.js';
import { Logger, type Provider } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { ConfigModule } from '../../platform/config/config.module.js';
import { DiskModule } from '../../platform/disk/disk.module.js';
import { DataDir } from '../../platform/config/data-dir.js';
import { readEnv } from '../../platform/config/env.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { MetricsModule } from '../../platform/metrics/metrics.module.js';
import { Plugin } from '../../platform/plugins/plugin.js';
import { PluginsModule } from '../../platform/plugins/plugins.module.js';
import { BubblewrapSandbox } from './drivers/bubblewrap.sandbox.js';
import { findProgram } from './host.js';
import type { LocalSession } from './drivers/local-session.js';
import { NamespacesSandbox } from './drivers/namespaces.sandbox.js';
import { NoSandbox } from './drivers/none.sandbox.js';
import { SandboxSelector } from './sandbox-selector.js';
import { Heartbeat } from './heartbeat.js';
import { SandboxModule } from './sandbox.module.js';
import { Sandbox, SandboxError, type SandboxReport } from './sandbox.js';

describe('The choice of the sandbox', () => {
  let module: TestingModule | undefined;
  const said: string[] = [];
  const logger = { log: note, warn: note, error: note, debug: () => undefined, verbose: () => undefined };
  function note(message: unknown) {
    said.push(String(message));
  }

  async function boot(
    variables: Record<string, string>,
    prepare?: (module: TestingModule) => void,
    ...providers: Provider[]
  ) {
    said.length = 0;
    const env = readEnv({ NODE_ENV: 'test', ...variables });
    module = await Test.createTestingModule({
      imports: [ConfigModule.with(env, new ExtensionSet([])), DiskModule, MetricsModule, PluginsModule, SandboxModule],
      providers,
    }).compile();
    Logger.overrideLogger(logger);
    prepare?.(module);
    await module.init();
    return module.get(SandboxSelector);
  }
  afterEach(async () => {
    const folder = module?.get(DataDir);
    await module?.close().catch(() => undefined);
    folder?.remove();
    Logger.overrideLogger(false);
  });
  const broken = (sandbox: { check(): Promise<unknown> }, why: string) => {
    sandbox.check = () => Promise.reject(new SandboxError(why));
  };

  it('takes bubblewrap where it is installed, else name spaces, and says what is in force and what is not', async () => {
    const selector = await boot({});
    const installed = findProgram('bwrap') !== null;
    expect(selector.current).toBeInstanceOf(installed ? BubblewrapSandbox : NamespacesSandbox);
    expect(said.join('\n')).toContain(`Sandbox ${installed ? 'bubblewrap' : 'namespaces'}: `);
    expect(said.join('\n')).toMatch(/No control groups|Control groups in/);
  });

  it('goes on to the next one that works', async () => {
    const selector = await boot({}, (app) => broken(app.get(BubblewrapSandbox), 'not here'));
    expect(selector.report.driver).toBe('namespaces');
    expect(said.join('\n')).toContain('Sandbox namespaces: ');
  });

  it('goes on also when the trial of one is cut off', async () => {
    const cut = { run: () => Promise.reject(new Error('cut off')), close: () => Promise.resolve() };
    const selector = await boot({}, (app) => {
      app.get(BubblewrapSandbox).open = () => Promise.resolve(cut as unknown as LocalSession);
    });
    expect(selector.report.driver).toBe('namespaces');
  });

  it('ends the boot with the reasons and what to do when none works', async () => {
    const boots = boot({}, (app) => {
      broken(app.get(BubblewrapSandbox), 'bwrap is missing');
      broken(app.get(NamespacesSandbox), 'user namespaces are off');
    });
    await expect(boots).rejects.toThrow(
      /^SANDBOX: no sandbox works here\.\nbubblewrap: bwrap is missing\nnamespaces: user namespaces are off\nWhat to do: install bubblewrap/,
    );
  });

  it('never falls back to none, nor to another than the one that is asked for', async () => {
    const boots = boot({ SANDBOX: 'bubblewrap' }, (app) => broken(app.get(BubblewrapSandbox), 'broken'));
    await expect(boots).rejects.toThrow('bubblewrap: broken');
  });

  it('takes none when told to, and warns; its commands still have limits, no environment and an end', async () => {
    const selector = await boot({ SANDBOX: 'none' });
    expect(selector.current).toBeInstanceOf(NoSandbox);
    expect(said.join('\n')).toContain('NOTHING keeps a command apart');
    const taskId = '0b7c4f06-9d0a-4c2e-9f58-0d7e6a3c1b2d';
    const heartbeat = Heartbeat.withoutLease(60);
    const session = await selector.current.open({ taskId, heartbeat, signal: new AbortController().signal });
    const mark = `7${process.pid}.${Date.now()}`;
    const { stdout, exitCode } = await session.run(
      `setsid sleep ${mark} >/dev/null 2>&1 & ulimit -c; env | cut -d= -f1 | sort; exit 4`,
    );
    expect(exitCode).toBe(4);
    expect(stdout.split('\n').filter(Boolean)).toEqual(
      [...['0', 'HOME', 'PATH', 'PWD', 'SHLVL', 'TMPDIR', '_'], ...Object.keys(COMMAND_VARIABLES)].sort(),
    );
    // Its own, and not those of the host.
    const own = await session.run('touch ~/a "$TMPDIR/b"; cd /; ls ~ "$TMPDIR" | grep -v :; [ "$TMPDIR" != /tmp ]');
    expect(own).toMatchObject({ exitCode: 0, stdout: 'a\n\nb\n' });
    expect((await session.run(`ps ax | grep -c "[s]leep ${mark}"; rg --version | head -c 7`)).stdout).toBe(
      '0\nripgrep',
    );
    // The service's own, whether or not the host has one.
    expect((await session.run('command -v rg')).stdout).toMatch(/^(?!\/(usr\/)?bin\/).*\/rg\n$/);
    expect(await session.run('sleep 60 & sleep 60', { timeoutSeconds: 0.3 })).toMatchObject({ killed: 'timeout' });
    await session.close();
    await selector.current.remove(taskId);
  });

  it('takes the sandbox of an extension by its name, and no name that nobody has', async () => {
    @Plugin(Sandbox, 'cells')
    class CellsSandbox extends NoSandbox {
      override async check(): Promise<SandboxReport> {
        return { ...(await super.check()), driver: 'cells' };
      }
    }
    const selector = await boot({ SANDBOX: 'cells' }, undefined, CellsSandbox);
    expect(selector.current).toBeInstanceOf(CellsSandbox);
    expect(said.join('\n')).toContain('Sandbox cells: ');
    await module?.close();
    module?.get(DataDir).remove();
    const unknown = boot({ SANDBOX: 'docker' }, undefined, CellsSandbox);
    await expect(unknown).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: 'SANDBOX: one of auto, bubblewrap, cells, namespaces, none is expected.',
    });
    await module?.close().catch(() => undefined);
    module?.get(DataDir).remove();
    await expect(boot({ SANDBOX: 'docker' })).rejects.toThrow(
      'SANDBOX: one of auto, bubblewrap, namespaces, none is expected.',
    );
  });

  it('says once which hosts a task reaches: none without a network, without hosts of its environment, or where nothing keeps them apart', async () => {
    const reports = (hosts?: string[]) => (app: TestingModule) => {
      const report = { driver: 'namespaces', active: [], missing: [], ...(hosts && { hosts }) };
      app.get(NamespacesSandbox).check = () => Promise.resolve(report);
    };
    const environment = { variables: {}, hosts: ['c.b.example', 'd.example'], limits: { wallClockSeconds: 7 }, tools: {} }; // prettier-ignore
    const selector = await boot({ SANDBOX: 'namespaces' }, reports(['a.example', '*.b.example']));
    expect(selector.factsOf({ network: true }).hosts).toEqual(['a.example', '*.b.example']);
    expect(selector.factsOf({ network: false }).hosts).toEqual([]);
    expect(selector.factsOf({}).hosts).toEqual([]);
    expect(selector.factsOf({ boundHosts: ['a.example:443'] }).hosts).toEqual(['a.example:443']);
    expect(selector.factsOf({ network: true, environment })).toMatchObject({ hosts: ['c.b.example'], limits: { wallClockSeconds: 7, processes: 256 } }); // prettier-ignore
    expect(selector.factsOf({ network: true, environment: { ...environment, hosts: [] } }).hosts).toEqual([]);
    await module?.close();
    module?.get(DataDir).remove();
    const apart = await boot({ SANDBOX: 'namespaces' }, reports());
    expect(apart.factsOf({ network: true, environment }).hosts).toEqual([]);
  });

  it('is not made where no work is done', async () => {
    const selector = await boot({ ROLE: 'api' });
    expect(said.join('\n')).not.toContain('Sandbox');
    expect(() => selector.current).toThrow('No sandbox has been selected');
  });
});
