import type { Readable } from 'node:stream';
import type { ConversationMessage } from '../models/conversation.js';
import { outputFile } from '../models/result-lines.js';
import type { SandboxSession } from '../sandbox/sandbox.js';

/** Files of a task: older ones go. */
const FILES = 20;
const FOLDER = outputFile(0).replace(/\/[^/]*$/, '');

/** Truncated results, as whole files in the sandbox (reference §15). */
export class OutputFiles {
  private last: number;

  /** A number is used once in a task: a path that the model knows never comes to mean another result. */
  constructor(conversation: readonly ConversationMessage[]) {
    const calls = conversation.flatMap(({ invocations }) => invocations);
    this.last = calls.reduce((last, { result }) => {
      return result === null || result.status === 'denied' ? last : Math.max(last, result.forModel?.whole ?? 0);
    }, 0);
  }

  /** Resolves with the number of the file; null when it cannot be written, for want of room as a rule. Never rejects. */
  async keep(sandbox: () => Promise<SandboxSession>, content: string | Readable): Promise<number | null> {
    const number = ++this.last;
    try {
      const session = await sandbox();
      await session.writeFile(outputFile(number), content, { noLinks: true });
      if (number > FILES) {
        // As the agent's user, who could make a link of the folder: then nothing is removed.
        await session.run(`[ -h ${FOLDER} ] || rm -f ${outputFile(number - FILES)}`);
      }
      return number;
    } catch {
      return null;
    }
  }
}
