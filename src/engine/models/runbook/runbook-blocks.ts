// The fenced blocks of a Markdown text as steps of a runbook (reference §15).
import type { JsonValue } from '../conversation.js';
import { SideThread } from '../../../platform/threads/side-thread.js';

export interface Choice {
  id: string;
  label: string;
}

/** What one block wants. `problem` says why a block cannot be carried out as it is written. */
export type BlockAction =
  /** `repeatable`: it may run again from its beginning when it was interrupted. */
  | { kind: 'command'; command: string; mayFail: boolean; repeatable: boolean }
  | { kind: 'file'; path: string; content: string }
  | { kind: 'ask'; question: string; options: Choice[] }
  | { kind: 'publish'; path: string }
  | { kind: 'use_secret'; name: string; reason: string }
  /** `input` is that of the tool, as it is written. */
  | { kind: 'delegate'; input: JsonValue; mayFail: boolean }
  /** The same. `name`: of a tool of a server. */
  | { kind: 'tool'; name: string; input: JsonValue; mayFail: boolean }
  | { kind: 'malformed'; problem: string };

export interface Block {
  /** From 1, in the order of the text. */
  number: number;
  /** First word of the fence's info string. */
  word: string;
  /** Line of the fence in the text, from 1. */
  line: number;
  action: BlockAction;
}

export interface Runbook {
  blocks: Block[];
  /** What looks as if it were to be carried out and is not, one sentence each: what it is, and what is expected in its place. */
  remarks: string[];
  /** Of its `output` blocks: JSON for the answer. An empty one stands for what the last command prints. */
  outputs: string[];
}

interface Fence {
  /** What stands behind the opening fence, without the white space around it. */
  info: string;
  content: string;
  /** Of the opening fence, from 1. */
  line: number;
}

/** `quotesAt`: the line of the quote at which the thread gave the text up, because it has too many in a row. */
type Reading = { fences: Fence[] } | { quotesAt: number };

/** Fences are read in a thread beside the event loop (docs/decisions/0024). */
const thread = new SideThread<string, Reading>(new URL('./fences.worker.mjs', import.meta.url));

/** Of what was not carried out: how many sentences are kept, and how many characters of a word in one. */
const REMARKS = 50;
const WORD = 100;

/**
 * All blocks of a text in order; fences of other languages are prose, but those that look like blocks are remarked upon. `before` is
 * what stands before the text in its runbook.
 */
export async function parseRunbook(text: string, before = { lines: 0, blocks: 0 }): Promise<Runbook> {
  const reading = await fencesOf(text);
  if ('quotesAt' in reading) return { blocks: [tooManyQuotes(before, reading.quotesAt)], remarks: [], outputs: [] };
  const blocks: Block[] = [];
  const remarks: string[] = [];
  const outputs: string[] = [];
  for (const { info, content, line: own } of reading.fences) {
    const line = before.lines + own;
    const word = info.split(/\s+/, 1)[0] ?? '';
    const rest = info.slice(word.length).trim();
    if (word === 'output') outputs.push(content.trim());
    const action = actionOf(word, rest, content);
    if (action !== null) blocks.push({ number: before.blocks + blocks.length + 1, word, line, action });
    if (remarks.length === REMARKS) continue;
    // What is malformed ends the turn, with what is expected in its place.
    const used = action?.kind === 'malformed' ? null : action;
    const remark = action === null ? nearMiss(word) : used && leftOut(word, rest, content);
    if (remark !== null) remarks.push(`Line ${line}: ${remark}`);
  }
  return { blocks, remarks, outputs };
}

/** The fences of a text in order. It takes up to a second for 200,000 characters, the longest message. */
function fencesOf(text: string): Promise<Reading> {
  // A cheap check first: most messages have no fence.
  if (!text.includes('```') && !text.includes('~~~')) return Promise.resolve({ fences: [] });
  return thread.ask(text, { weight: text.length });
}

function hasWord(rest: string, word: string): boolean {
  return rest.split(/\s+/).includes(word);
}

function tooManyQuotes(before: { lines: number; blocks: number }, line: number): Block {
  const problem = 'an empty line is expected after each of so many quotes';
  return {
    number: before.blocks + 1,
    word: '>',
    line: before.lines + line,
    action: { kind: 'malformed', problem },
  };
}

function actionOf(word: string, rest: string, content: string): BlockAction | null {
  switch (word) {
    case 'sh':
    case 'bash':
      // `:` does nothing: an empty block is a step that succeeds.
      return {
        kind: 'command',
        command: content.trim() === '' ? ':' : content,
        mayFail: hasWord(rest, 'may-fail'),
        repeatable: hasWord(rest, 'repeatable'),
      };
    case 'file':
    case 'publish': {
      const path = pathOf(rest);
      if (path === null) return { kind: 'malformed', problem: `path=… is expected after \`${word}\`` };
      return word === 'file' ? { kind: 'file', path, content } : { kind: 'publish', path };
    }
    case 'ask':
      return askOf(content);
    case 'use_secret': {
      const name = NAME.exec(rest)?.[1];
      if (name === undefined) return { kind: 'malformed', problem: `name=… is expected after \`${word}\`` };
      return { kind: 'use_secret', name, reason: content.trim() || 'The runbook does not say.' };
    }
    case 'delegate': {
      const input = jsonOf(content);
      if (input === undefined)
        return { kind: 'malformed', problem: 'the JSON of the call is expected in it: {"tasks": […]}' };
      return { kind: 'delegate', input, mayFail: hasWord(rest, 'may-fail') };
    }
    case 'tool': {
      const name = NAME.exec(rest)?.[1];
      const input = content.trim() === '' ? {} : jsonOf(content);
      if (name === undefined) return { kind: 'malformed', problem: `name=… is expected after \`${word}\`` };
      if (input === undefined)
        return { kind: 'malformed', problem: 'the arguments of the tool are expected in it, in JSON' };
      return { kind: 'tool', name, input, mayFail: hasWord(rest, 'may-fail') };
    }
    default:
      return null;
  }
}

/** Undefined: it is none. */
function jsonOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

const FORMS = {
  ...{ sh: '`sh`', bash: '`bash`', file: '`file path=…`', ask: '`ask`', publish: '`publish path=…`' },
  use_secret: '`use_secret name=…`',
  delegate: '`delegate`',
  tool: '`tool name=…`',
};
const PATH = /(?:^|\s)path=(?:"([^"]+)"|'([^']+)'|(\S+))/;
const NAME = /(?:^|\s)name=(\S+)/;
const FOR_COMMANDS = {
  known: /(?<!\S)(?:may-fail|repeatable)(?!\S)/g,
  accepted: 'the words that are accepted there are `may-fail` and `repeatable`',
};
const ONE_PATH = { known: PATH, accepted: 'only `path=…` is accepted there, and a path with a space in quotes' };
/** What may stand after the word of a block. */
const AFTER = {
  ...{ sh: FOR_COMMANDS, bash: FOR_COMMANDS, file: ONE_PATH, publish: ONE_PATH },
  ask: { known: '', accepted: 'no word is accepted there' },
  use_secret: { known: NAME, accepted: 'only `name=…` is accepted there' },
  delegate: { known: /(?<!\S)may-fail(?!\S)/g, accepted: 'only `may-fail` is accepted there' },
  tool: {
    known: /(?<!\S)(?:name=\S+|may-fail)(?!\S)/g,
    accepted: '`name=…` and `may-fail` are accepted there',
  },
};
/** What Markdown writers of other kinds put around a word: `{bash}`, `.bash`, `{.bash}`. */
const WRAPPED = /^[{.]+|\}+$/g;
const SHELLS = /^((sh|bash|shell)-?session|shell|console|terminal|zsh|ksh|dash|fish|powershell|pwsh|ps1|cmd|bat)$/;
const LANGUAGES = /^(python[23]?|py|javascript|js|node|typescript|ts|ruby|rb|perl|php)$/;

/** What to say of a fence that is no block; null when it does not look like one. */
function nearMiss(word: string): string | null {
  // None of those that are looked for is longer.
  if (word.length > WORD) return null;
  const lower = word.toLowerCase().replace(WRAPPED, '');
  const known = /^(sh|bash|file|ask|publish|use_secret|delegate|tool)(?![a-z-])/.exec(lower)?.[1] as
    keyof typeof FORMS | undefined;
  const not = `the \`${word}\` block was not carried out;`;
  if (known !== undefined)
    return `${not} the accepted form is ${FORMS[known]}, in small letters, with a space after the word.`;
  if (SHELLS.test(lower)) return `${not} the accepted form of a command is \`sh\` or \`bash\`.`;
  if (!LANGUAGES.test(lower)) return null;
  return `${not} a program is run by a command: write it with \`file path=…\` and start it in a \`bash\` block.`;
}

/** What of a block was not used. */
function leftOut(word: string, rest: string, content: string): string | null {
  if (word === 'publish' && content.trim() !== '') {
    return 'the text in the `publish` block was not used; the accepted form is an empty block, and `file path=…` writes a text.';
  }
  const { known, accepted } = AFTER[word as keyof typeof FORMS];
  const unknown = rest.replace(known, ' ').trim().replace(/\s+/g, ' ');
  if (unknown === '') return null;
  return `\`${unknown}\` after \`${word}\` was not heeded; ${accepted}.`;
}

function pathOf(rest: string): string | null {
  const match = PATH.exec(rest);
  return match?.[1] ?? match?.[2] ?? match?.[3] ?? null;
}

function askOf(content: string): BlockAction {
  const options: Choice[] = [];
  const question: string[] = [];
  let inQuestion = true;
  for (const line of content.split('\n')) {
    const option = /^\s*[-*]\s+([^\s:]+)\s*:\s+(\S.*)$/.exec(line);
    if (option?.[1] !== undefined && option[2] !== undefined) options.push({ id: option[1], label: option[2].trim() });
    if (option !== null || (line.trim() === '' && question.length > 0)) inQuestion = false;
    else if (inQuestion && line.trim() !== '') question.push(line.trim());
  }
  if (question.length === 0) return { kind: 'malformed', problem: 'a question is expected as its first paragraph' };
  if (new Set(options.map((option) => option.id)).size < options.length) {
    return { kind: 'malformed', problem: 'every option needs an id of its own' };
  }
  return { kind: 'ask', question: question.join(' '), options };
}
