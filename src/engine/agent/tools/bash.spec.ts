import { Env, readEnv } from '../../../platform/config/env.js';
import type { RunOptions, SandboxSession } from '../../sandbox/sandbox.js';
import { BashTool } from './bash.js';

describe('A command that the service interrupts', () => {
  it.each([
    [{ repeatable: true, timeoutSeconds: 5 }, true],
    [{}, false],
    [{ repeatable: true, background: true }, false],
    [{ repeatable: true, terminal: true }, false],
    [{ repeatable: true, yieldSeconds: 5 }, false],
    [{ repeatable: true, onTimeout: 'background' as const }, false],
  ])('with %j runs again: %s', (how, again) => {
    const tool = new BashTool(new Env(readEnv({}).variables, {}, new Map()));
    expect(tool.mayRunAgain({ command: 'x', ...how })).toBe(again);
  });
});

describe('The time of a command', () => {
  it('is what its description says, never more than the sandbox gives, and what follows from it is told', async () => {
    const env = (seconds: number) =>
      new Env(readEnv({}).variables, { sandbox: { wallClockSeconds: seconds } }, new Map());
    const given: unknown[] = [];
    const sandbox = () =>
      Promise.resolve({
        run: (_: string, { timeoutSeconds }: RunOptions) => {
          given.push(timeoutSeconds);
          return Promise.resolve({
            exitCode: 124,
            stdout: 'so far\n',
            stderr: '',
            truncated: false,
            killed: 'timeout',
          });
        },
      } as unknown as SandboxSession);
    const { signal } = new AbortController();
    const context = { taskId: '', workspaceId: '', userId: '', toolCallId: '', signal, sandbox };
    for (const [seconds, usual] of [
      [600, 120],
      [60, 60],
    ] as const) {
      const tool = new BashTool(env(seconds));
      expect(tool.description).toContain(
        `It has ${usual} s, or the \`timeoutSeconds\` that you give it, at most ${seconds}`,
      );
      await tool.execute({ command: 'x' }, context);
      const { output: said } = (await tool.execute({ command: 'x', timeoutSeconds: 5000 }, context)) as {
        output: unknown;
      };
      expect(said).toMatchObject({ stdout: 'so far\n', stderr: expect.stringMatching('the most there is') as string });
      expect(given.splice(0)).toEqual([usual, seconds]);
    }
  });
});
