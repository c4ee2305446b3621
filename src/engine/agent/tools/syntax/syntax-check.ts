// What a change has broken in the syntax of a file, reported with its result (docs/decisions/0056).
import * as nodeModule from 'node:module';
import { posix } from 'node:path';
import type { SandboxSession } from '../../../sandbox/sandbox.js';
import type { JsonValue } from '../../../models/conversation.js';
import type { ToolContext, ToolOutcome } from '../../agent-tool.js';
import { jsonFault } from './json-fault.js';
import { bash, type Fault, node, type Program, python } from './programs.js';

const SECONDS = 2;
/** Files of one change that are looked at, and characters of one. */
const FILES = 10;
const LENGTH = 1_000_000;
/** JSON is parsed in this process: so many characters take at most 20 ms, and a start of node 70. */
const JSON_LENGTH = 128 * 1024;
/** What the model reads of one file, and of how many: a line for the fault and one of the file. */
const LINE_LENGTH = 240;
const TOLD = 5;

/** Node inside is the service's own, and takes types away from 22.13 on. */
const TYPES: Record<string, Program> = 'stripTypeScriptTypes' in nodeModule ? { ts: node } : {};
const PROGRAMS: Record<string, Program> = { py: python, js: node, mjs: node, cjs: node, ...TYPES, sh: bash };
/** Other people's files, and templates, which are no programs yet. */
const OTHERS = /(^|\/)(node_modules|bower_components|vendor|site-packages|\.venv|venv|\.git)\/|\.min\.js$|\{\{/;
/** Scripts of other shells end in `.sh` too. */
const OTHER_SHELL = /^#!(?!.*\b(ba|da|k)?sh\b)/;

/** A file as a change has left it. */
interface ChangedFile {
  path: string;
  text: string;
  /** As it was before; null when it was not there, or that is not known. */
  before: string | null;
}

type Found = ChangedFile & { fault: Fault };

/** The outcome of a change: its files, and what is wrong with their syntax. The change is done: nothing here makes it fail. */
export async function changed(output: JsonValue, files: ChangedFile[], context: ToolContext): Promise<ToolOutcome> {
  const syntax = await noteOf(files, context).catch(() => null);
  const paths = files.map(({ path }) => path);
  return { status: 'success', output, paths, ...(syntax === null ? {} : { forModel: { syntax } }) };
}

async function noteOf(files: ChangedFile[], context: ToolContext): Promise<string | null> {
  const looked = files.filter(isLookedAt).slice(0, FILES);
  if (looked.length === 0) return null;
  const seconds = Math.min(SECONDS, context.secondsLeft ?? SECONDS);
  const sandbox = () => context.sandbox();
  const faults = await faultsOf(sandbox, looked, seconds);
  const found = looked.flatMap((file, index) => {
    const fault = faults[index];
    return fault == null ? [] : [{ ...file, fault }];
  });
  if (found.length === 0) return null;
  const known = found.filter(({ before }) => before !== null);
  const old = await faultsOf(
    sandbox,
    known.map(({ path, before }) => ({ path, text: before ?? '' })),
    seconds,
  );
  const isOld = ({ path, fault }: Found) => {
    return old[known.findIndex((one) => one.path === path)]?.message === fault.message;
  };
  const [fresh, same] = [found.filter((one) => !isOld(one)), found.filter(isOld)];
  const told = [
    ...(fresh.length === 0 ? [] : ['Syntax errors after this change:', ...fresh.slice(0, TOLD).map(inWords)]),
    ...(same.length === 0
      ? []
      : [`Not of this change: ${same.map(({ path, fault }) => placeOf(path, fault)).join('; ')}`]),
  ];
  return `[${told.join('\n').slice(0, TOLD * 2 * LINE_LENGTH)}]`;
}

function isLookedAt({ path, text }: ChangedFile): boolean {
  const kind = kindOf(path);
  if (OTHERS.test(path) || text.length > (kind === 'json' ? JSON_LENGTH : LENGTH)) return false;
  if (kind === 'sh') return !OTHER_SHELL.test(text);
  return kind === 'json' || Object.hasOwn(PROGRAMS, kind);
}

function kindOf(path: string): string {
  return posix.extname(path).slice(1);
}

/** One command for the files of each program. */
async function faultsOf(
  sandbox: () => Promise<SandboxSession>,
  files: Pick<ChangedFile, 'path' | 'text'>[],
  seconds: number,
): Promise<(Fault | null)[]> {
  const faults = files.map(({ path, text }) => (kindOf(path) === 'json' ? jsonFault(path, text) : null));
  for (const program of new Set(Object.values(PROGRAMS))) {
    const indexes = files.flatMap(({ path }, index) => (PROGRAMS[kindOf(path)] === program ? [index] : []));
    if (indexes.length === 0) continue;
    const texts = indexes.map((index) => ({ kind: kindOf(files[index]?.path ?? ''), text: files[index]?.text ?? '' }));
    const found = await program(await sandbox(), texts, seconds);
    for (const [index, fault] of found.entries()) faults[indexes[index] ?? -1] = fault;
  }
  return faults;
}

function inWords({ path, text, fault }: Found): string {
  const line = fault.line === null ? '' : (text.split('\n')[fault.line - 1] ?? '').trimEnd();
  return placeOf(path, fault) + (line.trim() === '' ? '' : `\n    ${line.slice(0, LINE_LENGTH).toWellFormed()}`);
}

function placeOf(path: string, { line, message }: Fault): string {
  return `${path}${line === null ? '' : `, line ${line}`}: ${message.slice(0, LINE_LENGTH).toWellFormed()}`;
}
