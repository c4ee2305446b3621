// What the demo answers to a question of the agent: what the person at the terminal says, else the first possibility.
import { createInterface } from 'node:readline/promises';

const WAIT_SECONDS = 60;

/** What is said to the question: a reply as the SDK takes it. `settled` ends when somebody else has answered. */
export async function answer(printer, interaction, ask, settled) {
  const options = interaction.options ?? [];
  printer.question(interaction.question, options);
  if (interaction.type === 'approval') return { decision: 'approve' };
  const typed = ask ? await typedAnswer(options, settled) : '';
  if (options.length === 0) return { content: typed || 'Decide yourself, and say in the report what you decided.' };
  const chosen = options[Number(typed) - 1] ?? options.find((option) => option.id === typed);
  if (chosen === undefined && typed !== '' && interaction.allowText) return { content: typed };
  const option = chosen ?? options[0];
  printer.line(`Answer: ${option.label}`);
  return { optionIds: [option.id] };
}

async function typedAnswer(options, settled) {
  const what = options.length === 0 ? 'Your answer' : `1 to ${options.length}, Enter for 1`;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // With readline a Ctrl-C arrives here and not as a signal.
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const signal = AbortSignal.any([settled, AbortSignal.timeout(WAIT_SECONDS * 1000)]);
    return (await terminal.question(`${what} (${WAIT_SECONDS} s): `, { signal })).trim();
  } catch {
    process.stdout.write('\n');
    return '';
  } finally {
    terminal.close();
  }
}
