import { setImmediate as turns } from 'node:timers/promises';
import { FolderSandbox } from '../../../../test/harness/folder-sandbox.js';
import type { AgentEvent, AgentFeedback, AgentOutcome } from '../agent-engine.js';
import { besideCommands } from './beside-commands.js';
import { RunCommands } from './run-commands.js';

const DONE: AgentOutcome = { type: 'completed', text: '' };
const result = (toolCallId: string): AgentEvent => ({
  ...{ type: 'tool', messageId: 'message', toolCallId, files: [], parts: [], last: true },
  result: { status: 'success', output: null },
});

describe('What becomes of commands is recorded beside the steps of a turn (reference §27.2)', () => {
  const sandbox = new FolderSandbox();
  afterAll(() => sandbox.remove());

  it('the beginning of a command stands before the result that names it, whatever was recorded meanwhile', async () => {
    const { signal } = new AbortController();
    const session = await sandbox.open({ taskId: '', signal });
    const input = { last: 0, earlier: [], onStop: () => () => undefined };
    const commands = new RunCommands(input, { logBytes: 1000, secondsLeft: () => null, passOn: undefined });
    let kept = false;
    async function* steps(): AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback> {
      for (const call of ['one', 'two']) {
        await turns();
        const how = { terminal: false, takesInput: false };
        const { command } = await commands.launch(session, 'exec sleep 1000', how);
        commands.keep(command, call);
        kept = call === 'two';
        yield result(call);
      }
      return DONE;
    }
    const over = new AbortController();
    const beside = besideCommands(steps(), commands, signal, () => over.abort());
    const seen: string[] = [];
    for (let next = await beside.next(); next.done !== true; next = await beside.next({ steer: [], files: [] })) {
      const event = next.value as AgentEvent & { toolCallId?: string; number?: number };
      seen.push(`${event.type} ${event.toolCallId ?? event.number}`);
      // While the end of the first one is recorded, the second one begins.
      if (seen.at(-1) === 'tool one') await commands.all[0]?.stop(false);
      if (seen.at(-1) === 'command_ended 1') while (!kept) await turns();
      await turns();
    }
    expect(seen).toEqual([
      'command_started one',
      'tool one',
      'command_ended 1',
      'command_started two',
      'tool two',
      'command_ended 2',
    ]);
    await session.close();
  });
});
