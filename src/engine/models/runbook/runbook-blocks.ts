// The fenced blocks of a Markdown text as steps of a runbook (reference §15).
import MarkdownIt from 'markdown-it';

export interface Choice {
  id: string;
  label: string;
}

/** What one block wants. `problem` says why a block cannot be carried out as it is written. */
export type BlockAction =
  | { kind: 'command'; command: string; mayFail: boolean }
  | { kind: 'file'; path: string; content: string }
  | { kind: 'ask'; question: string; options: Choice[] }
  | { kind: 'publish'; path: string }
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
}

/** Quoted lines that one text may make the parser look at: half a second. A text of 200,000 characters has half as many lines. */
const QUOTED_LINES = 1_000_000;

class QuotesError extends Error {
  constructor(readonly line: number) {
    super();
  }
}

/** Lines of one link reference (`[a]: …`); what is longer is prose. */
const REFERENCE_LINES = 100;

const markdown = new MarkdownIt('commonmark');
// Only the fences are wanted. What stands inside a paragraph has none, and takes minutes for some texts.
markdown.core.ruler.disable(['inline', 'text_join']);
// A reference is copied with each further line that it might have: 200,000 characters of such lines took 15 seconds.
const reference = markdown.block.ruler.getRules('').find(({ name }) => name === 'reference');
markdown.block.ruler.at('reference', (state, startLine, endLine, silent) => {
  const { lineMax } = state;
  state.lineMax = Math.min(lineMax, startLine + REFERENCE_LINES);
  const found = reference?.(state, startLine, endLine, silent) ?? false;
  state.lineMax = lineMax;
  return found;
});
// A quote is read to the next empty line before the parser knows where it ends, and what follows is read again:
// 200,000 characters of quotes without an empty line between them took three minutes.
markdown.block.ruler.before('blockquote', 'quoted_lines', (state, startLine, endLine) => {
  if (state.src[(state.bMarks[startLine] ?? 0) + (state.tShift[startLine] ?? 0)] !== '>') return false;
  let line = startLine;
  while (line < endLine && !state.isEmpty(line)) line++;
  const env = state.env as { quotedLines: number };
  env.quotedLines += line - startLine;
  if (env.quotedLines > QUOTED_LINES) throw new QuotesError(startLine + 1);
  return false;
});

/** All blocks of a text in order; fences of other languages are prose, but those that look like blocks are remarked upon. */
export function parseRunbook(text: string): Runbook {
  // A cheap look first: most messages have no fence, and a parse costs more than a search.
  if (!text.includes('```') && !text.includes('~~~')) return { blocks: [], remarks: [] };
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof QuotesError)) throw error;
    const problem = 'an empty line is expected after each of so many quotes';
    return {
      blocks: [{ number: 1, word: '>', line: error.line, action: { kind: 'malformed', problem } }],
      remarks: [],
    };
  }
}

function read(text: string): Runbook {
  const blocks: Block[] = [];
  const remarks: string[] = [];
  for (const token of markdown.parse(text, { quotedLines: 0 })) {
    if (token.type !== 'fence') continue;
    const info = token.info.trim();
    const word = info.split(/\s+/, 1)[0] ?? '';
    const rest = info.slice(word.length).trim();
    const line = (token.map?.[0] ?? 0) + 1;
    const action = actionOf(word, rest, token.content);
    if (action !== null) blocks.push({ number: blocks.length + 1, word, line, action });
    // What is malformed ends the turn, with what is expected in its place.
    const used = action?.kind === 'malformed' ? null : action;
    const remark = action === null ? nearMiss(word) : used && leftOut(word, rest, token.content);
    if (remark !== null) remarks.push(`Line ${line}: ${remark}`);
  }
  return { blocks, remarks };
}

function actionOf(word: string, rest: string, content: string): BlockAction | null {
  switch (word) {
    case 'sh':
    case 'bash':
      // `:` does nothing: an empty block is a step that succeeds.
      return {
        kind: 'command',
        command: content.trim() === '' ? ':' : content,
        mayFail: /(^|\s)may-fail(\s|$)/.test(rest),
      };
    case 'file':
    case 'publish': {
      const path = pathOf(rest);
      if (path === null) return { kind: 'malformed', problem: `path=… is expected after \`${word}\`` };
      return word === 'file' ? { kind: 'file', path, content } : { kind: 'publish', path };
    }
    case 'ask':
      return askOf(content);
    default:
      return null;
  }
}

const FORMS = { sh: '`sh`', bash: '`bash`', file: '`file path=…`', ask: '`ask`', publish: '`publish path=…`' };
const PATH = /(?:^|\s)path=(?:"([^"]+)"|'([^']+)'|(\S+))/;
const MAY_FAIL = { known: /(?<!\S)may-fail(?!\S)/g, accepted: 'the only word that is accepted there is `may-fail`' };
const ONE_PATH = { known: PATH, accepted: 'only `path=…` is accepted there, and a path with a space in quotes' };
/** What may stand after the word of a block. */
const AFTER = {
  ...{ sh: MAY_FAIL, bash: MAY_FAIL, file: ONE_PATH, publish: ONE_PATH },
  ask: { known: '', accepted: 'no word is accepted there' },
};
/** What Markdown writers of other kinds put around a word: `{bash}`, `.bash`, `{.bash}`. */
const WRAPPED = /^[{.]+|\}+$/g;
const SHELLS = /^((sh|bash|shell)-?session|shell|console|terminal|zsh|ksh|dash|fish|powershell|pwsh|ps1|cmd|bat)$/;
const LANGUAGES = /^(python[23]?|py|javascript|js|node|typescript|ts|ruby|rb|perl|php)$/;

/** What to say of a fence that is no block; null when it does not look like one. */
function nearMiss(word: string): string | null {
  const lower = word.toLowerCase().replace(WRAPPED, '');
  const known = /^(sh|bash|file|ask|publish)(?![a-z-])/.exec(lower)?.[1] as keyof typeof FORMS | undefined;
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
