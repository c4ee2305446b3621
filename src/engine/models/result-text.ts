// What a model reads of a tool's result: one pure function of the record, so that a prompt is sent again byte for byte (docs/decisions/0047).
import { type ForModel, isJsonObject, type JsonValue, type ToolResult } from './conversation.js';
import { asLines, isTruncated, type Line, outputLines, terminalText, truncateLines } from './result-lines.js';

/** Characters of one result that a model is shown: the least and the most for any model. */
const LEAST_CHARACTERS = 8_000;
export const MOST_CHARACTERS = 30_000;
/** Tokens of the context window of a model whose window is not known. */
const USUAL_WINDOW = 128_000;

/** Characters of one result that fit a model's window, which is given in tokens. */
export function resultCharacters(contextWindow: number | null): number {
  const characters = Math.floor(0.4 * (contextWindow ?? USUAL_WINDOW));
  return Math.min(MOST_CHARACTERS, Math.max(LEAST_CHARACTERS, characters));
}

/** Remembered, because every later request needs each again. */
const TEXTS = new WeakMap<ToolResult, string>();

/** The result as text; null for a call that has none. */
export function resultText(result: ToolResult | null): string {
  if (result === null) return 'There is no result: the call was given up.';
  let text = TEXTS.get(result);
  if (text === undefined) TEXTS.set(result, (text = textOf(result)));
  return text;
}

function textOf(result: ToolResult): string {
  if (result.status === 'denied') return deniedText(result.reason);
  const { syntax, notes = [], refused = [], hint, foreign } = result.forModel ?? {};
  const own = result.status === 'error' ? shortened(result.error, result) : outputText(result);
  const text = foreign === undefined ? own : delimited(own, foreign);
  const [checked, hints] = [syntax === undefined ? [] : [syntax], hint === undefined ? [] : [`[${hint}]`]];
  const network = refused.map((reason) => `[The network refused this: ${reason}]`);
  return [withoutNotes(text), ...checked.map(withoutNotes), ...notes.map(notesText), ...network, ...hints].join('\n\n');
}

/** What only the service writes is none when it stands in a file or an output: anybody may have written it there. */
function withoutNotes(text: string): string {
  return text.replace(/<(?=\/?owner_notes)/gi, '&lt;');
}

/** Between marks that it does not have itself, behind words of the service. */
function delimited(text: string, about: string): string {
  return `[${about}]\n<from_outside>\n${text.replace(/<(?=\/?from_outside)/gi, '&lt;')}\n</from_outside>`;
}

/** Notes of the owner, as a model reads them. */
export function notesText({ file, text }: { file: string; text: string }): string {
  return `<owner_notes file="${file}">\n${text.trimEnd()}\n</owner_notes>`;
}

function deniedText(reason: string | null): string {
  const denied = 'This call was denied, so it was not carried out.';
  return reason === null ? denied : `${denied} The reason: ${reason}`;
}

type Success = Extract<ToolResult, { status: 'success' }>;

function outputText(result: Success): string {
  const { output } = result;
  if (isJsonObject(output) && isCommand(output)) return commandText(output, result);
  return shortened(plainText(output), result);
}

function plainText(output: JsonValue): string {
  if (typeof output === 'string') return output;
  return isJsonObject(output) ? fieldsText(output) : JSON.stringify(sorted(output));
}

function shortened(text: string, { forModel }: Pick<Success, 'forModel'>): string {
  const { characters: max = MOST_CHARACTERS, whole: file } = forModel ?? {};
  return text.length <= max ? text : truncateLines(asLines(text), { max, file });
}

/** The text of a result that is too long to be sent as a whole; null when it fits. Of a command see {@link isTruncatedCommand}. */
export function longText(result: ToolResult, characters = MOST_CHARACTERS): string | null {
  if (result.status === 'denied') return null;
  if (result.status === 'error') return result.error.length > characters ? result.error : null;
  const { output } = result;
  if (isJsonObject(output) && isCommand(output)) return null;
  const text = plainText(output);
  return text.length > characters ? text : null;
}

/** Whether the model reads only a part of what a command has written. */
export function isTruncatedCommand(output: CommandOutput, forModel: ForModel, characters = MOST_CHARACTERS): boolean {
  return isTruncated(commandLines(output, forModel), characters);
}

type Fields = Record<string, JsonValue>;
export type CommandOutput = { exitCode: number; stdout: string; stderr: string };

function isCommand(output: Fields): output is Fields & CommandOutput {
  const { exitCode, stdout, stderr } = output;
  return typeof exitCode === 'number' && typeof stdout === 'string' && typeof stderr === 'string';
}

/** `exit 1, 12.4 s`, then both streams in the order in which they came. */
function commandText(output: CommandOutput, { forModel = {} }: Success): string {
  const { exitCode, stdout, stderr } = output;
  const { ms, streams, characters: max = MOST_CHARACTERS, whole: file } = forModel;
  const head = `exit ${exitCode}${ms === undefined ? '' : `, ${(ms / 1000).toFixed(1)} s`}`;
  if (stdout === '' && stderr === '') return `${head}, no output`;
  // Most commands write little, on one stream.
  const plain = stderr === '' ? stdout : stdout === '' ? stderr : null;
  if (plain !== null && streams === undefined && plain.length <= max) {
    return `${head}\n${terminalText(plain)}`.trimEnd();
  }
  return `${head}\n${truncateLines(commandLines(output, forModel), { max, file })}`.trimEnd();
}

function commandLines({ stdout, stderr }: CommandOutput, { streams }: ForModel): Line[] {
  const [outGap = null, errGap = null] = streams?.gaps ?? [];
  return merged(outputLines(stdout, outGap), outputLines(stderr, errGap), streams?.turns ?? []);
}

function merged(stdout: Line[], stderr: Line[], turns: readonly number[]): Line[] {
  const lines: Line[] = [];
  const from = [0, 0];
  turns.forEach((length, index) => {
    const stream = index % 2;
    const start = from[stream] ?? 0;
    lines.push(...(stream === 0 ? stdout : stderr).slice(start, start + length));
    from[stream] = start + length;
  });
  return lines.concat(stdout.slice(from[0]), stderr.slice(from[1]));
}

/** A line for each field; texts of several lines stand at the end, as they are. What holds more than values stays JSON. */
function fieldsText(output: Fields): string {
  const fields: [string, string][] = [];
  for (const [key, value] of Object.entries(output)) {
    if (typeof value === 'object' && value !== null) return JSON.stringify(sorted(output));
    fields.push([key, String(value)]);
  }
  if (fields.length === 0) return '{}';
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  const isLong = ([, text]: [string, string]) => text.includes('\n');
  const short = fields.filter((field) => !isLong(field)).map(([key, text]) => `${key}: ${text}`);
  const long = fields.filter(isLong).map(([key, text]) => `${key}:\n${text}`);
  return [...short, ...long].join('\n');
}

/**
 * The value with the keys of its objects in order. The database gives them back in one of its own, and a prompt that was sent once is
 * sent again byte for byte: else the provider's cache is lost.
 */
export function sorted(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}
