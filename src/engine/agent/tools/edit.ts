import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, success, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { noNul, toolText } from './tool-text.js';

/** What is made of a text at once (lines, pieces) takes 60 ms for a file of this size. */
const FILE_BYTES = 1024 * 1024;
/** Characters that a search looks at before it lets the event loop turn: some 10 ms. */
const SLICE = 100_000;

const parameters = z.strictObject({
  path: z.string().min(1).refine(noNul).describe('File, relative to /workdir or absolute below it.'),
  oldText: z.string().min(1).max(1_000_000).describe('Exactly as in the file, with its white space.'),
  newText: z.string().max(1_000_000).describe('What stands there afterwards; empty to delete.'),
  replaceAll: z.boolean().default(false).describe('Replace every occurrence instead of exactly one.'),
});

@Plugin(AgentTool, 'edit')
export class EditTool extends AgentTool<typeof parameters> {
  readonly name = 'edit';
  readonly description = toolText('edit');
  readonly parameters = parameters;
  // Done twice, it could replace inside its own replacement.
  readonly repeatable = false;

  async execute(input: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const { path, replaceAll } = input;
    if (input.oldText === input.newText) throw new Error('oldText and newText are the same, so nothing was changed.');
    const session = await context.sandbox();
    const file = await session.readFile(path);
    if (file.size > FILE_BYTES) {
      file.content.destroy();
      throw new Error(`${path} has ${file.size} bytes, more than ${FILE_BYTES}: change it with bash (sed, a script).`);
    }
    const text = await textOf(file.content, path);
    // A model writes lines that end in LF; a file of CRLF lines keeps them.
    const crlf = text.includes('\r\n') && !input.oldText.includes('\r\n');
    const [oldText, newText] = crlf ? [toCrlf(input.oldText), toCrlf(input.newText)] : [input.oldText, input.newText];
    const places = await placesOf(text, oldText);
    if (places.length === 0) throw new Error(await notFound(text, oldText, path));
    if (places.length > 1 && !replaceAll) {
      const lines = places.slice(0, 10).map((place) => lineAt(text, place));
      throw new Error(
        `oldText occurs ${places.length} times in ${path} (lines ${lines.join(', ')}${places.length > 10 ? ', …' : ''}). ` +
          'Nothing was changed: add the lines around it until it is unique, or set replaceAll.',
      );
    }
    const size = file.size + places.length * (Buffer.byteLength(newText) - Buffer.byteLength(oldText));
    if (size > FILE_BYTES) {
      throw new Error(
        `${path} would have ${size} bytes, more than ${FILE_BYTES}. Nothing was changed: do it with bash.`,
      );
    }
    await session.writeFile(path, replaced(text, places, oldText.length, newText));
    return success({ path, replacements: places.length, line: lineAt(text, places[0] ?? 0) });
  }

  override approvalQuestion({ path }: z.output<typeof parameters>): string {
    return `May the agent change the file ${path} (edit)?`;
  }
}

async function textOf(content: Readable, path: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += (chunk as Buffer).length;
    if (size > FILE_BYTES) throw new Error(`${path} grew while it was read.`);
    chunks.push(chunk as Buffer);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Error(`${path} is not UTF-8 text: change it with bash.`);
  }
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}

/**
 * Where `wanted` stands in `all`, without overlaps (Knuth, Morris, Pratt). `indexOf` multiplies the lengths for some texts,
 * and the permitted million by a million are an hour.
 */
async function placesOf(all: ArrayLike<string>, wanted: ArrayLike<string>): Promise<number[]> {
  // For each length of a matched beginning: the longest shorter beginning that it ends with.
  const shorter = new Int32Array(wanted.length + 1);
  const grow = (matched: number, next: string | undefined): number => {
    while (matched > 0 && wanted[matched] !== next) matched = shorter[matched] ?? 0;
    return wanted[matched] === next ? matched + 1 : 0;
  };
  for (let at = 1, matched = 0; at < wanted.length; at++) {
    if (at % SLICE === 0) await setImmediate();
    matched = grow(matched, wanted[at]);
    shorter[at + 1] = matched;
  }
  const places: number[] = [];
  for (let at = 0, matched = 0; at < all.length; at++) {
    if (at % SLICE === 0) await setImmediate();
    matched = grow(matched, all[at]);
    if (matched < wanted.length) continue;
    places.push(at + 1 - matched);
    matched = 0;
  }
  return places;
}

function replaced(text: string, places: number[], length: number, by: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (const place of places) {
    pieces.push(text.slice(from, place), by);
    from = place + length;
  }
  return pieces.join('') + text.slice(from);
}

function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < place; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

async function notFound(text: string, oldText: string, path: string): Promise<string> {
  const message = `oldText does not occur in ${path}. Nothing was changed.`;
  const wanted = oldText.split('\n').map((line) => line.trim());
  while (wanted.length > 1 && wanted[0] === '') wanted.shift();
  while (wanted.length > 1 && wanted.at(-1) === '') wanted.pop();
  const lines = text.split('\n').map((line) => line.trim());
  const [at] = await placesOf(lines, wanted);
  if (at !== undefined)
    return `${message} Line ${at + 1} is the same but for its white space: copy it exactly from \`read\`.`;
  const first = lines.indexOf(wanted[0] ?? '');
  if (first >= 0 && wanted[0] !== '') {
    return `${message} Its first line is line ${first + 1} of the file, but what follows differs: read it again.`;
  }
  return `${message} Read the file again: it may have changed.`;
}
