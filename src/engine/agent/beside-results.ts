import type { Readable } from 'node:stream';
import type { ConversationMessage } from '../models/conversation.js';
import { outputFile } from '../models/result-lines.js';
import type { ContextCompactor } from './context/context-compactor.js';
import { FolderNotes } from './folder-notes.js';
import type { LazySandbox } from './lazy-sandbox.js';

/** Files of a task with whole results: older ones go. */
const FILES = 20;
const FOLDER = outputFile(0).replace(/\/[^/]*$/, '');

/** What the model is given beside the results of a run (docs/decisions/0056). */
export class BesideResults {
  /** The number of the last file. A number is given once in a task: what the model was told of a file never comes to mean another result. */
  private last: number;
  readonly notes: FolderNotes;

  constructor(
    conversation: ConversationMessage[],
    private readonly deps: { sandbox: Pick<LazySandbox, 'get'>; context: Pick<ContextCompactor, 'compacted'> },
  ) {
    const calls = conversation.flatMap(({ invocations }) => invocations);
    this.last = calls.reduce((last, { result }) => {
      return result === null || result.status === 'denied' ? last : Math.max(last, result.forModel?.whole ?? 0);
    }, 0);
    this.notes = new FolderNotes(
      conversation,
      () => deps.context.compacted(conversation),
      () => deps.sandbox.get(),
    );
  }

  /** As of `ToolContext` (reference §15). Null when the file cannot be written, for want of room as a rule. Never rejects. */
  readonly keepWhole = async (content: string | Readable): Promise<number | null> => {
    const number = ++this.last;
    try {
      const session = await this.deps.sandbox.get();
      await session.writeFile(outputFile(number), content, { noLinks: true });
      if (number > FILES) {
        // As the agent's user, who could make a link of the folder: then nothing is removed.
        await session.run(`[ -h ${FOLDER} ] || rm -f ${outputFile(number - FILES)}`);
      }
      return number;
    } catch {
      return null;
    }
  };
}
