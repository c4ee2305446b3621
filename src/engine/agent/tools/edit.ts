import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import type { Change } from './edit/change.js';
import { diffOf, replaced } from './edit/edit-diff.js';
import { FILE_BYTES, textOf } from './edit/file-text.js';
import { Lines } from './edit/lines.js';
import { matched } from './edit/match.js';
import { openNamed } from './nearest-path.js';
import { changed } from './syntax/syntax-check.js';
import { FILE_PATH, noNul, toolText } from './tool-text.js';

const BOM = '\ufeff';

const parameters = z.strictObject({
  path: z.string().min(1).refine(noNul),
  oldText: z.string().min(1, 'It is empty. Give the text to replace, or use `write` to make a file.').max(1_000_000),
  newText: z.string().max(1_000_000).describe('Empty to delete.'),
  replaceAll: z.boolean().default(false),
});

@Plugin(AgentTool, 'edit')
export class EditTool extends AgentTool<typeof parameters> {
  readonly name = 'edit';
  readonly description = toolText('edit');
  readonly parameters = parameters;
  // Done twice, it could replace inside its own replacement.
  readonly repeatable = false;
  override readonly patches = false;
  override readonly aliases = {
    path: FILE_PATH,
    oldText: ['old_string', 'old_str', 'old', 'search'],
    newText: ['new_string', 'new_str', 'new', 'replace'],
    replaceAll: ['allow_multiple', 'all'],
  };

  async execute(input: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const { path, replaceAll } = input;
    const session = await context.sandbox();
    const opened = await openNamed(session, path);
    const text = await textOf(opened, path);
    // The mark stays before the first line, which models do not see it in.
    const [bom, oldText, newText] = [text, input.oldText, input.newText].map(
      (one) => one.startsWith(BOM) && one !== BOM,
    );
    const without = (one: string, has: boolean | undefined) => (has === true ? one.slice(1) : one);
    const file = await Lines.of(without(text, bom));
    const edit = { oldText: without(input.oldText, oldText), newText: without(input.newText, newText), replaceAll };
    const { match, changes } = await matched(file, edit, path);
    const size = opened.size + (await growth(file, changes));
    if (size > FILE_BYTES) {
      throw new Error(
        `${path} would have ${size} bytes, more than ${FILE_BYTES}. Nothing was changed: do it with bash.`,
      );
    }
    const after = await replaced(file.text, changes);
    if (after === file.text) throw new Error(`${path} is that way already, so nothing was changed.`);
    await session.writeFile(path, (bom === true ? BOM : '') + after);
    const line = file.at(changes[0]?.start ?? 0) + 1;
    const output = { path, replacements: changes.length, line, match, diff: await diffOf(file, changes) };
    return changed(output, [{ path, text: after, before: file.text }], context);
  }

  override approvalQuestion({ path }: z.output<typeof parameters>): string {
    return `May the agent change the file ${path} (edit)?`;
  }
}

/** Bytes that the file gains. The new text of all occurrences is often one string. */
async function growth(file: Lines, changes: Change[]): Promise<number> {
  let bytes = 0;
  let last = { by: '', bytes: 0 };
  for (const [at, { start, end, by }] of changes.entries()) {
    if (by !== last.by) last = { by, bytes: Buffer.byteLength(by) };
    bytes += last.bytes - Buffer.byteLength(file.text.slice(start, end));
    if (at % 10_000 === 9_999) await setImmediate();
  }
  return bytes;
}
