import { newMark, processesGone, processesWith, sleeps } from '../../../../test/harness/processes.js';
import { describeDrivers, type DriverName, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { until } from '../../../../test/harness/until.js';
import type { RunningCommand, TerminalSize } from '../running-command.js';
import type { SandboxSession } from '../sandbox.js';

interface Watched {
  running: RunningCommand;
  said: () => string;
  says: (text: string) => Promise<unknown>;
}

async function start(session: SandboxSession, command: string, terminal?: TerminalSize): Promise<Watched> {
  let text = '';
  const onOutput = (_: 0 | 1, chunk: Buffer) => void (text += chunk.toString());
  const running = await session.start(command, {
    service: true,
    shared: true,
    onOutput,
    ...(terminal && { terminal }),
  });
  const says = (expected: string) => until(`it to say ${expected}`, () => text.includes(expected));
  return { running, said: () => text, says };
}

function started(driver: DriverName): void {
  let bench: SandboxBench;
  beforeAll(() => (bench = new SandboxBench(driver)));
  afterAll(() => bench.close());

  it('goes on beside other commands, reads what it is given, and ends with its input', async () => {
    const { session } = await bench.open();
    const cat = await start(session, 'while read -r line; do echo "<$line>"; done; echo over');
    expect(cat.running.write('one\n')).toBe(true);
    await cat.says('<one>');
    expect((await session.run('echo beside')).stdout).toBe('beside\n');
    cat.running.write('two\n');
    cat.running.end();
    expect(await cat.running.ended).toMatchObject({ exitCode: 0, killed: null });
    expect(cat.said()).toBe('<one>\n<two>\nover\n');
    expect(cat.running.write('three\n')).toBe(false);
  });

  it('is interrupted by a signal, killed without one, and ends with the session', async () => {
    const { session } = await bench.open();
    const [gentle, deaf, left] = [newMark(), newMark(), newMark()];
    const first = await start(session, `trap 'echo bye; exit 3' INT; sleep ${gentle} & wait`);
    await sleeps(gentle);
    first.running.stop('SIGINT');
    expect(await first.running.ended).toMatchObject({ exitCode: 3 });
    expect(first.said()).toBe('bye\n');
    const second = await start(session, `trap '' INT TERM; sleep ${deaf}`);
    await sleeps(deaf);
    second.running.stop('SIGTERM');
    second.running.stop();
    expect(await second.running.ended).toMatchObject({ exitCode: 137, killed: null });
    const third = await start(session, `setsid sleep ${left} & sleep ${left}`);
    third.running.ended.catch(() => undefined);
    await sleeps(left);
    await session.close();
    expect([deaf, gentle, left].flatMap((mark) => processesWith(mark))).toEqual([]);
  });

  it('is in the box of the other commands, which reach it, and a signal to it ends none of them', async () => {
    const { session } = await bench.open();
    const [one, other] = [newMark(), newMark()];
    // Without a sandbox it is the folder of the host.
    const file = `/tmp/pid-${one}`;
    const begun = `echo "$$" > ${file}; echo up`;
    const first = await start(session, `${begun}; sleep ${one}`);
    const second = await start(session, `echo up; sleep ${other}`);
    await Promise.all([first.says('up'), second.says('up'), sleeps(one), sleeps(other)]);
    const seen = await session.run(`kill -0 "$(cat ${file})" && rm ${file} && echo there`, { shared: true });
    expect(seen).toMatchObject({ exitCode: 0, stdout: 'there\n' });
    first.running.stop('SIGINT');
    expect(await first.running.ended).toMatchObject({ exitCode: 130 });
    expect(processesWith(other)).toHaveLength(1);
    second.running.stop('SIGTERM');
    expect(await second.running.ended).toMatchObject({ exitCode: 143, killed: null });
  });

  it('ends with the box, before others rely on what lies in the workdir', async () => {
    const { session } = await bench.open();
    const mark = newMark();
    const { running } = await start(session, `trap '' TERM; sleep ${mark}`);
    running.ended.catch(() => undefined);
    await sleeps(mark);
    await session.endShared();
    await processesGone(mark);
    expect((await session.run('echo again', { shared: true })).stdout).toBe('again\n');
  });

  it('lives on when it says more than the output limit', async () => {
    const small = new SandboxBench(driver, { outputBytes: 65_536 });
    const { session } = await small.open();
    let bytes = 0;
    const running = await session.start('head -c 300000 /dev/zero; echo; read -r line; echo "$line"', {
      service: true,
      onOutput: (_, chunk) => void (bytes += chunk.length),
    });
    await until('all of it', () => bytes > 300_000);
    running.write('still here\n');
    expect(await running.ended).toMatchObject({ exitCode: 0, killed: null });
    await small.close();
  });

  describe('has a terminal', () => {
    it('of a size, in which keys are typed', async () => {
      const { session } = await bench.open();
      const shell = await start(session, `tty; stty size; read -r -p 'name? ' name; echo "hello $name"; cat`, {
        columns: 100,
        rows: 30,
      });
      await shell.says('name? ');
      expect(shell.said()).toMatch(/^\/dev\/pts\/\d+\r\n30 100\r\n/);
      shell.running.write('Ann\r');
      await shell.says('hello Ann');
      shell.running.write('echoed\r');
      await until('twice', () => shell.said().split('echoed').length === 3);
      shell.running.write('\x03');
      expect(await shell.running.ended).toMatchObject({ exitCode: 130 });
    });

    it('for a program that edits lines, and ends it', async () => {
      const { session } = await bench.open();
      const node = await start(session, 'node -i', { columns: 80, rows: 24 });
      await node.says('> ');
      node.running.write('6*7\r');
      await node.says('42');
      node.running.write('\x04');
      expect(await node.running.ended).toMatchObject({ exitCode: 0 });
    });

    it('whose processes go with it', async () => {
      const { session } = await bench.open();
      const mark = newMark();
      const { running } = await start(session, `trap '' HUP; sleep ${mark}`, { columns: 80, rows: 24 });
      await sleeps(mark);
      running.stop();
      await running.ended;
      await processesGone(mark);
    });
  });
}

describe('A command that is started', () => {
  describeDrivers(started);
  describe('none', () => started('none'));
});
