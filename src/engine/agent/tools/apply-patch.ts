import { posix } from 'node:path';
import { z } from 'zod';
import { type SandboxSession, SandboxFileError } from '../../sandbox/sandbox.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { FILE_BYTES, textOf } from './edit/file-text.js';
import { applyHunks } from './patch/apply-hunks.js';
import { parsePatch, type PatchOperation } from './patch/patch-grammar.js';
import { nearestNote } from './nearest-path.js';
import { changed } from './syntax/syntax-check.js';
import { noNul, shellPath, toolText } from './tool-text.js';

/** Of one patch: its files, its hunks, each of which looks through a file, and the bytes of all files, which are held at once. */
const FILES = 100;
const HUNKS = 200;
const BYTES = 8 * FILE_BYTES;
/** Of one file, for all its hunks: some 10 s of the processor at the worst, in slices. */
const LOOKED_THROUGH = 48 * FILE_BYTES;

const parameters = z.strictObject({
  patch: z.string().min(1).max(1_000_000).refine(noNul).describe('The patch, from *** Begin Patch to *** End Patch.'),
});

/** What the patch makes of the files: their new text, null when they are gone; and what it was before, null when there was none. */
type Files = Map<string, { text: string | null; before: string | null }>;

/** In place of `edit` and `write` for the models that were trained on its format. */
@Plugin(AgentTool, 'apply_patch')
export class ApplyPatchTool extends AgentTool<typeof parameters> {
  readonly name = 'apply_patch';
  readonly description = toolText('apply_patch');
  readonly parameters = parameters;
  // Done twice, it would add its lines twice.
  readonly repeatable = false;
  override readonly patches = true;
  override readonly freeform = { field: 'patch', grammar: toolText('patch/grammar') };
  override readonly aliases = { patch: ['input', 'patchText', 'diff', 'content'] };

  /** Nothing is written before all of it is known to fit. */
  async execute({ patch }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const operations = parsePatch(patch);
    if (operations.length > FILES) throw new Error(`A patch changes at most ${FILES} files. Nothing was changed.`);
    const hunks = operations.reduce((sum, one) => sum + (one.type === 'update' ? one.hunks.length : 0), 0);
    if (hunks > HUNKS) throw new Error(`A patch has at most ${HUNKS} hunks, this one ${hunks}. Nothing was changed.`);
    const session = await context.sandbox();
    const files: Files = new Map();
    const done: string[] = [];
    let bytes = 0;
    for (const operation of operations) {
      done.push(await planned(session, operation, files));
      bytes += Buffer.byteLength(files.get(resultOf(operation))?.text ?? '');
      if (bytes > BYTES)
        throw new Error(`The files of a patch have at most ${BYTES} bytes together. Nothing was changed.`);
    }
    await write(session, files);
    const gone = [...files].flatMap(([path, { text }]) => (text === null ? [shellPath(path)] : []));
    if (gone.length > 0) await remove(session, gone);
    const left = [...files].flatMap(([path, { text, before }]) => (text === null ? [] : [{ path, text, before }]));
    return changed({ files: done }, left, context);
  }

  override approvalQuestion({ patch }: z.output<typeof parameters>): string {
    return `May the agent apply this patch (apply_patch)?\n\n${patch}`;
  }
}

function resultOf(operation: PatchOperation): string {
  const moved = operation.type === 'update' ? operation.moveTo : null;
  return posix.normalize(moved ?? operation.path);
}

/** Takes an operation into `files`; says what it does. */
async function planned(session: SandboxSession, operation: PatchOperation, files: Files): Promise<string> {
  const path = posix.normalize(operation.path);
  switch (operation.type) {
    case 'add':
      // A path that leads out is refused before anything is written.
      files.set(path, { ...(await current(session, path, files)), text: operation.content });
      if (Buffer.byteLength(operation.content) > FILE_BYTES) throw tooLarge(path);
      return `A ${path}`;
    case 'delete': {
      const file = await current(session, path, files);
      if (file.text === null) throw await absent(session, path);
      files.set(path, { ...file, text: null });
      return `D ${path}`;
    }
    case 'update': {
      const { text: before, before: first } = await current(session, path, files);
      if (before === null) throw await absent(session, path);
      if (operation.hunks.length * before.length > LOOKED_THROUGH) {
        throw new Error(
          `${path} is too long for ${operation.hunks.length} hunks at once. Nothing was changed: use several patches.`,
        );
      }
      const text = await applyHunks(before, operation.hunks, path);
      if (Buffer.byteLength(text) > FILE_BYTES) throw tooLarge(path);
      if (operation.moveTo === null) {
        files.set(path, { text, before: first });
        return `M ${path}`;
      }
      const target = posix.normalize(operation.moveTo);
      if (target !== path && (await current(session, target, files)).text !== null) {
        throw new Error(`${target} exists already, so ${path} is not moved there. Nothing was changed.`);
      }
      files.set(path, { text: null, before: first }).set(target, { text, before: first });
      return `R ${path} -> ${target}`;
    }
  }
}

/** A file as the operations before have left it. */
async function current(session: SandboxSession, path: string, files: Files) {
  const known = files.get(path);
  if (known !== undefined) return known;
  try {
    const text = await textOf(await session.readFile(path), path);
    return { text, before: text };
  } catch (error) {
    if (error instanceof SandboxFileError && error.code === 'not_found') return { text: null, before: null };
    throw error;
  }
}

async function write(session: SandboxSession, files: Files): Promise<void> {
  const written: string[] = [];
  for (const [path, { text }] of files) {
    if (text === null) continue;
    await session.writeFile(path, text).catch((error: Error) => {
      const before = written.length === 0 ? 'nothing else' : written.join(', ');
      throw new Error(`${path} could not be written (${error.message}); ${before} was written before it.`, {
        cause: error,
      });
    });
    written.push(path);
  }
}

async function remove(session: SandboxSession, words: string[]): Promise<void> {
  const { exitCode, stderr } = await session.run(`rm -f -- ${words.join(' ')}`);
  if (exitCode !== 0)
    throw new Error(`The files to add and to change are written, others not deleted: ${stderr.trim()}`);
}

async function absent(session: SandboxSession, path: string): Promise<Error> {
  return new Error(`There is no file ${path}. Nothing was changed.${await nearestNote(session, path)}`);
}

function tooLarge(path: string): Error {
  return new Error(`${path} would have more than ${FILE_BYTES} bytes. Nothing was changed: do it with bash.`);
}
