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

const markdown = new MarkdownIt('commonmark');

/** All blocks of a text in order; fences of other languages are prose. */
export function parseRunbook(text: string): Block[] {
  // A cheap look first: most messages have no fence, and a parse costs more than a search.
  if (!text.includes('```') && !text.includes('~~~')) return [];
  const blocks: Block[] = [];
  for (const token of markdown.parse(text, {})) {
    if (token.type !== 'fence') continue;
    const info = token.info.trim();
    const word = info.split(/\s+/, 1)[0] ?? '';
    const action = actionOf(word, info.slice(word.length).trim(), token.content);
    if (action !== null) blocks.push({ number: blocks.length + 1, word, line: (token.map?.[0] ?? 0) + 1, action });
  }
  return blocks;
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

function pathOf(rest: string): string | null {
  const match = /(?:^|\s)path=(?:"([^"]+)"|'([^']+)'|(\S+))/.exec(rest);
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
