// Commands of an agent that go on beyond their calls (reference §27.2).
import type { TaskCommand } from '@millwright/sdk';
import { client } from './account.js';
import type { Verb } from './line.js';
import { faint, plain, short } from './terminal.js';

/** So many lines of the end of what one has said. */
const LAST_LINES = 12;

export const commands: Verb = {
  words: ['TASK'],
  options: { stop: 'text' },
  async run(line) {
    const mw = client();
    const task = line.word(0);
    const stop = line.text('stop');
    if (stop !== undefined) {
      show(await mw.tasks.stopCommand(task, stop), line.json);
      return 0;
    }
    for await (const command of mw.tasks.commands(task)) show(command, line.json);
    return 0;
  },
};

function show(command: TaskCommand, json: boolean): void {
  if (json) {
    console.log(JSON.stringify(command));
    return;
  }
  const { id, status, exitCode, output } = command;
  const code = exitCode === null ? '' : `, exit code ${exitCode}`;
  console.log(`${id}  ${status}${code}  ${command.command === null ? '' : plain(short(command.command))}`.trimEnd());
  if (output === null || output.trim() === '') return;
  for (const one of plain(output).trimEnd().split('\n').slice(-LAST_LINES)) console.log(faint(`    ${one}`));
}
