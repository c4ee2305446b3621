// Questions of the agent, asked in place.
import { createInterface } from 'node:readline/promises';
import type { Interaction, Reply } from '@millwright/sdk';
import { plain } from './terminal.js';

/** The task waits, and nobody is here to ask. */
export class Waits extends Error {
  constructor(readonly question: Interaction) {
    super(question.question);
  }
}

/** Asks on the terminal until the reply fits. Throws {@link Waits} where there is none. */
export async function ask(question: Interaction, signal: AbortSignal): Promise<Reply> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new Waits(question);
  const { options, multiple, type } = question;
  console.error(`? ${plain(question.question)}`);
  options?.forEach(({ label, description }, index) => {
    console.error(`  ${index + 1}) ${plain(label)}${description === null ? '' : `: ${plain(description)}`}`);
  });
  const prompt =
    type === 'approval' ? '[y, or n and why] ' : options === null ? '> ' : multiple ? '1, 2 … > ' : '1 … > ';
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C is the whole command's, not this question's.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  // Ctrl-D: the person does not answer now.
  const left = new Promise<never>((_, reject) => lines.once('close', () => reject(new Waits(question))));
  left.catch(() => undefined);
  try {
    for (;;) {
      const reply = replyOf(question, (await Promise.race([lines.question(prompt, { signal }), left])).trim());
      if (reply !== null) return reply;
    }
  } finally {
    lines.close();
  }
}

/** Null when a line is no reply to the question. */
export function replyOf({ type, options, multiple, allowText }: Interaction, line: string): Reply | null {
  if (line === '') return null;
  if (type === 'approval') {
    if (/^y(es)?$/i.test(line)) return { decision: 'approve' };
    const [, reason] = /^no?\b[:, ]*(.*)$/i.exec(line) ?? [];
    if (reason === undefined) return null;
    return { decision: 'deny', ...(reason !== '' && { reason }) };
  }
  if (options === null) return { content: line };
  const chosen = line.split(/[\s,]+/).map((word) => options[Number(word) - 1] ?? options.find(({ id }) => id === word));
  const ids = chosen.flatMap((option) => (option === undefined ? [] : [option.id]));
  if (ids.length === chosen.length && (multiple || ids.length === 1)) return { optionIds: ids };
  return allowText ? { content: line } : null;
}

/** The line that answers later, and what may stand in it. */
export function answerLine(taskId: string, { type, options }: Interaction): string {
  const said =
    type === 'approval'
      ? '--approve | --deny'
      : options === null
        ? "--text '…'"
        : `--option ${options.map(({ id }) => id).join('|')}`;
  return `mw answer ${taskId} ${said}`;
}
