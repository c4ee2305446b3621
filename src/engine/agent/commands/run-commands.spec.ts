import { jest } from '@jest/globals';
import type { RunningCommand } from '../../sandbox/running-command.js';
import type { RunResult } from '../../sandbox/run-result.js';
import type { RunOptions, SandboxSession } from '../../sandbox/sandbox.js';
import { progressNote } from '../tools/command-text.js';
import { RunCommands } from './run-commands.js';

const RESULT: RunResult = { exitCode: 0, stdout: '', stderr: '', truncated: false, killed: null };

/** A session whose commands say and do what the test says. */
class Session {
  readonly files = new Map<string, Buffer>();
  /** What cannot be written. */
  full = false;
  readonly started: { say: (text: string | Buffer) => void; end: (how?: Partial<RunResult> | Error) => void; signals: unknown[]; options: RunOptions }[] = []; // prettier-ignore
  start = (_: string, options: RunOptions): Promise<RunningCommand> => {
    let [resolve, reject] = [(_: RunResult) => {}, (_: Error) => {}];
    const promise = new Promise<RunResult>((...both) => ([resolve, reject] = both));
    promise.catch(() => undefined);
    const signals: unknown[] = [];
    const say = (text: string | Buffer) => void options.onOutput?.(0, Buffer.from(text));
    const end = (how: Partial<RunResult> | Error = {}) =>
      how instanceof Error ? reject(how) : resolve({ ...RESULT, ...how });
    const stop = (signal?: unknown) => {
      signals.push(signal);
      end({ exitCode: 143 });
    };
    this.started.push({ say, end, signals, options });
    return Promise.resolve({ ended: promise, write: () => true, end: () => undefined, stop });
  };
  writeFile = (path: string, content: unknown) => {
    if (this.full) return Promise.reject(new Error('There is no room.'));
    this.files.set(path, content as Buffer);
    return Promise.resolve();
  };
  appendFile = (path: string, content: Buffer) => {
    if (this.full) return Promise.reject(new Error('There is no room.'));
    this.files.set(path, Buffer.concat([this.files.get(path) ?? Buffer.alloc(0), content]));
    return Promise.resolve();
  };
}

describe('The commands of a run (reference §27.2)', () => {
  const begun: RunCommands[] = [];
  afterEach(async () => {
    for (const commands of begun.splice(0)) {
      await commands.end();
      commands.close();
    }
  });
  function begin({ logBytes = 1024 ** 2, secondsLeft = null as number | null } = {}) {
    const session = new Session();
    const stops: ((number: number) => void)[] = [];
    const onStop = (stop: (number: number) => void) => {
      stops.push(stop);
      return () => undefined;
    };
    const input = { last: 0, earlier: [], onStop };
    const commands = new RunCommands(input, { logBytes, secondsLeft: () => secondsLeft, passOn: undefined });
    begun.push(commands);
    /** One that goes on. */
    const launch = async () => {
      const how = { terminal: false, takesInput: true };
      const { command } = await commands.launch(session as unknown as SandboxSession, 'x', how);
      commands.keep(command, 'call');
      const spoken = session.started.at(-1);
      if (spoken === undefined) throw new Error('It was not started.');
      return { command, ...spoken };
    };
    return { session, commands, launch, stop: (number: number) => stops.forEach((one) => one(number)) };
  }

  it('a reading names the log for what it leaves out as long as that has all of it', async () => {
    const { session, commands, launch } = begin({ logBytes: 100_000 });
    const { command, say } = await launch();
    say('x'.repeat(90_000));
    expect(progressNote(command, {})['output']).toMatch(/\[… \d+ bytes left out; \/tmp\/output\/b1\.log has them …\]/);
    say('y'.repeat(90_000));
    expect(progressNote(command, {})['output']).toMatch(/\[… \d+ bytes left out …\]/);
    await commands.logsWritten();
    expect(session.files.get('/tmp/output/b1.log')?.length).toBe(100_000);

    session.full = true;
    const other = await launch();
    other.say('x'.repeat(90_000));
    await commands.logsWritten();
    expect(progressNote(other.command, {})['output']).toMatch(/\[… \d+ bytes left out …\]/);
  });

  it('keeps the output of eight that have ended, and the end of that of earlier ones', async () => {
    const { commands, launch } = begin();
    for (let n = 0; n < 9; n++) {
      const { say, end, command } = await launch();
      say(`begin${'x'.repeat(900_000)}the end of ${command.id}`);
      end();
      await command.ended();
    }
    const [first, second] = commands.all.map((command) => progressNote(command, { from: 0 })['output']);
    expect(first).toMatch(/^\n\[… \d+ bytes left out; \/tmp\/output\/b1\.log has them …\]\nx+the end of b1$/);
    expect(second).toMatch(/^beginx+\n\[… \d+ bytes left out; .* has them …\]\nx+the end of b2$/);
    const held = commands.all.map(({ ring }) => ring.held);
    expect(held).toEqual([16 * 1024, ...Array.from({ length: 8 }, () => 900_018)]);
  });

  it('waiting for an answer leaves little behind, however long it lasts', async () => {
    const { launch } = begin();
    const { command } = await launch();
    const ended = jest.spyOn(command, 'ended');
    await command.wait(0.3, { signal: new AbortController().signal }, true);
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('none lives longer than the turn has, nor than it is asked to', async () => {
    const launched = async (secondsLeft: number | null, timeoutSeconds?: number) => {
      const { session, commands } = begin({ secondsLeft });
      await commands.launch(session as unknown as SandboxSession, 'x', { terminal: false, takesInput: false, timeoutSeconds });
      return session.started[0]?.options;
    }; // prettier-ignore
    // Else as long as a service may: six times as long as a command.
    expect(await launched(null)).toMatchObject({ service: true });
    expect(await launched(null)).not.toHaveProperty('timeoutSeconds');
    expect(await launched(null, 30)).toMatchObject({ timeoutSeconds: 30 });
    expect(await launched(20, 30)).toMatchObject({ timeoutSeconds: 20 });
    expect(await launched(-1)).toMatchObject({ timeoutSeconds: 0.001 });
  });
});
