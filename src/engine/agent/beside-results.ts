import type { Readable } from 'node:stream';
import type { ConversationMessage } from '../models/conversation.js';
import type { ContextCompactor } from './context/context-compactor.js';
import { FolderNotes } from './folder-notes.js';
import type { LazySandbox } from './lazy-sandbox.js';
import { OutputFiles } from './output-files.js';

/** What the model is given beside the results of a run (docs/decisions/0056). */
export class BesideResults {
  private readonly outputs: OutputFiles;
  readonly notes: FolderNotes;

  constructor(
    conversation: ConversationMessage[],
    private readonly deps: { sandbox: Pick<LazySandbox, 'get'>; context: Pick<ContextCompactor, 'compacted'> },
  ) {
    this.outputs = new OutputFiles(conversation);
    this.notes = new FolderNotes(
      conversation,
      () => deps.context.compacted(conversation),
      () => deps.sandbox.get(),
    );
  }

  /** As of `ToolContext`. */
  readonly keepWhole = (content: string | Readable): Promise<number | null> =>
    this.outputs.keep(() => this.deps.sandbox.get(), content);
}
