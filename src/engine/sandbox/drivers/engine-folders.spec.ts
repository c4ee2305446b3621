import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeDrivers, type DriverName, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { temporaryFolder } from '../../../../test/harness/service.js';
import { enginesSchema } from '../../../platform/config/engines.js';

function folders(driver: DriverName): void {
  const folder = temporaryFolder();
  let bench: SandboxBench;
  beforeAll(() => {
    // As root has it, below a folder that the user of a sandbox cannot enter.
    const path = join(folder.path, 'closed', 'codex-1.2');
    mkdirSync(join(path, 'bin'), { recursive: true });
    chmodSync(join(folder.path, 'closed'), 0o700);
    writeFileSync(join(path, 'bin', 'run'), '#!/bin/sh\necho "I am $0"\n', { mode: 0o755 });
    const other = join(folder.path, 'other');
    mkdirSync(other);
    const engines = enginesSchema.parse({
      codex: { path, command: ['{path}/bin/run'], wire: 'openai-chat' },
      other: { path: other, command: ['a'], wire: 'openai-chat' },
    });
    bench = new SandboxBench(driver, {}, {}, engines);
  });
  afterAll(async () => {
    await bench.close();
    folder.remove();
  });

  it('is seen by every command under the name of its engine, and by none to write', async () => {
    const { session } = await bench.open();
    const look = `ls /opt/engines; /opt/engines/codex/bin/run
      for at in /opt/engines /opt/engines/codex /opt/engines/codex/bin; do touch $at/more || echo "not $at"; done
      echo more >>/opt/engines/codex/bin/run || echo "not run"`;
    for (const options of [{}, { shared: true }, { program: { memoryBytes: 1024 ** 3 } }]) {
      const { stdout } = await session.run(look, options);
      expect(stdout.split('\n')).toEqual([
        ...['codex', 'other', 'I am /opt/engines/codex/bin/run'],
        ...['not /opt/engines', 'not /opt/engines/codex', 'not /opt/engines/codex/bin', 'not run', ''],
      ]);
    }
  });
}

describe('The folder of an engine (reference §30)', () => describeDrivers(folders));
