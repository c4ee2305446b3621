import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { ConversationMessage, StoredPart, ToolResult } from '../models/conversation.js';
import type { SandboxSession } from '../sandbox/sandbox.js';
import type { PublishedFile, ToolOutcome } from './agent-tool.js';
import { cleanText } from './clean-json.js';
import { truncateNotes } from './owner-notes.js';
import { FILE_BYTES } from './tools/edit/file-text.js';

const WORKDIR = '/workdir';
const REPOSITORY = `${WORKDIR}/repo`;

type Result = Exclude<ToolOutcome, { status: 'question' | 'tasks' }>;
/** Without what only the loop needs to know. */
type Finding = ToolResult & { files?: PublishedFile[]; parts?: StoredPart[] };
type Note = { file: string; text: string };

/**
 * The owner's notes in folders of the repository, which come with the first result of a call on a file below them (docs/decisions/0050).
 * They are the owner's word as long as they are those of the original commit: their sums were taken before the agent did anything.
 */
export class FolderNotes {
  /** Files whose notes were sent in the step that began with so many messages: not all of its results are in the conversation yet. */
  private pending = { messages: 0, files: new Set<string>() };

  constructor(
    private readonly conversation: readonly ConversationMessage[],
    /** The conversation as the model is sent it: notes that a compaction left out are sent again. */
    private readonly compacted: () => readonly ConversationMessage[],
    private readonly sandbox: () => Promise<SandboxSession>,
  ) {}

  /** The outcome of a call with the notes that its files bring. */
  async with({ paths = [], ...outcome }: Result): Promise<Finding> {
    const notes = outcome.status === 'success' ? await this.notesFor(paths) : [];
    if (outcome.status !== 'success' || notes.length === 0) return outcome;
    return { ...outcome, forModel: { ...outcome.forModel, notes } };
  }

  private async notesFor(paths: string[]): Promise<Note[]> {
    const sums = this.sums();
    const targets = paths.map((path) => posix.resolve(WORKDIR, path));
    const isAbove = (file: string) => targets.some((path) => path.startsWith(`${posix.dirname(file)}/`));
    const above = [...sums.keys()].filter(isAbove);
    if (above.length === 0) return [];
    const known = this.known();
    const notes: Note[] = [];
    for (const file of above.filter((one) => !known.has(one)).sort((a, b) => a.length - b.length)) {
      known.add(file);
      const text = await this.textOf(file, sums.get(file) ?? '').catch(() => null);
      if (text !== null) notes.push({ file, text });
    }
    return notes;
  }

  /** By the paths of the notes. */
  private sums(): Map<string, string> {
    const part = this.conversation[0]?.parts.find(({ type }) => type === 'surroundings');
    const notes = part?.type === 'surroundings' ? (part.notes ?? {}) : {};
    return new Map(Object.entries(notes).map(([path, sum]) => [`${REPOSITORY}/${path}`, sum]));
  }

  /** Files whose notes the model has been sent; the caller adds those that it sends in this step. */
  private known(): Set<string> {
    const { length } = this.conversation;
    if (this.pending.messages !== length) this.pending = { messages: length, files: new Set() };
    for (const { result } of this.compacted().flatMap(({ invocations }) => invocations)) {
      if (result === null || result.status === 'denied') continue;
      for (const { file } of result.forModel?.notes ?? []) this.pending.files.add(file);
    }
    return this.pending.files;
  }

  /** Null when it is not that of the original commit any more. */
  private async textOf(file: string, sum: string): Promise<string | null> {
    const { size, content } = await (await this.sandbox()).readFile(file);
    const bytes = size <= FILE_BYTES ? await buffer(content) : Buffer.alloc(0);
    content.destroy();
    if (createHash('sha256').update(bytes).digest('hex') !== sum) return null;
    return cleanText(truncateNotes(bytes.toString()));
  }
}
