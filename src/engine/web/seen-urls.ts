// Addresses that people and pages have named (reference §27, docs/decisions/0105). The agent can print any address, with what it knows in it.
import { type ConversationMessage, isJsonObject, type StoredPart, type ToolResult } from '../models/conversation.js';
import { ownTool } from '../models/own-tool.js';
import { LONGEST, pageUrl } from './page-url.js';

/** The tool whose results count, by its name in the record. */
const NAMES = /^web[_-]?fetch$/i;
const BEGINNINGS = /https?:\/\//gi;
/** Without a scheme, as people write it. */
const BARE = /(?<![\w@.:/-])(?:[a-z0-9-]{1,63}\.)+[a-z]{2,24}(?::\d{1,5})?(?:\/[^\s<>"'`]{0,2048})?(?![\w-])/gi;
/** Signs that may end an address although one may have them, and those that follow one in a sentence. */
const ENDS = /[)\]}|*,;\\]/g;
const MOST_ENDS = 6;
/** Addresses of one text: they are looked for in the event loop. */
const MOST = 2_000;
const BEHIND = /[.,;:!?)\]}|*_~\\]+$/;

/** A message of the record stays as it is; a result too. */
const FOUND = new WeakMap<object, Set<string>>();

/** Whether an address stands in a message of the user, in notes of the owner, or in what `web_fetch` has found. */
export function isSeen({ href }: URL, conversation: readonly ConversationMessage[]): boolean {
  return conversation.some((message) => {
    if (message.byService === true) return false;
    if (message.role === 'user') return namedIn(message, () => saidBy(message.parts), true).has(href);
    return message.invocations.some(({ name, result }) => {
      if (result === null || result.status === 'denied') return false;
      return namedIn(result, () => foundBy(name, result), false).has(href);
    });
  });
}

/** The addresses in what an agent writes to a task of its own that `isSeen` lets it read itself: it can write any. */
export function namedFor(text: string, isSeen: (url: URL) => boolean): string[] {
  return [...urlsIn(text, true)].filter((url) => isSeen(new URL(url)));
}

/** What a person has written, and notes of the owner. What the service adds to a message, such as the output of a check, is neither. */
function saidBy(parts: readonly StoredPart[]): string {
  const texts = parts.flatMap((part) => {
    if (part.type === 'text') return part.named ?? [part.text];
    if (part.type === 'custom' && part.kind === 'review') return [JSON.stringify(part.data)];
    if (part.type === 'surroundings') return part.text.match(/^<owner_notes file="[^]*?^<\/owner_notes>$/gm) ?? [];
    return [];
  });
  return texts.join('\n');
}

/** Errors do not count: they name what was asked for. */
function foundBy(name: string, { status, forModel, ...result }: Exclude<ToolResult, { status: 'denied' }>): string {
  const notes = (forModel?.notes ?? []).map(({ text }) => text);
  const output = status === 'success' && 'output' in result ? result.output : null;
  const found = isJsonObject(output) ? output : {};
  const { url, text, content } = found;
  const tool = ownTool(name) ?? name;
  // A page has its address; what a server of the same name answers has none, and an agent program tells texts alone.
  const isPage = NAMES.test(tool) && typeof url === 'string' && typeof text === 'string';
  if (isPage) return [...notes, url, text].join('\n');
  // What a person has answered to a question, and not what the agent gave to choose from.
  return [...notes, ...(tool === 'ask' && typeof content === 'string' ? [content] : [])].join('\n');
}

function namedIn(of: object, text: () => string, bare: boolean): Set<string> {
  let found = FOUND.get(of);
  if (found === undefined) FOUND.set(of, (found = urlsIn(text(), bare)));
  return found;
}

/** The addresses in a text, as `URL` writes them. @param bare also those without a scheme, as people write them. */
export function urlsIn(written: string, bare: boolean): Set<string> {
  // JSON may have it so.
  const text = written.replaceAll('\\/', '/');
  const found = new Set<string>();
  const add = (url: string) => {
    for (const one of new Set([url, url.replaceAll('&amp;', '&')])) {
      try {
        found.add(pageUrl(one).href);
      } catch {
        // It is none.
      }
    }
  };
  const all = (run: string) => {
    const ends = [...first(MOST_ENDS, run.matchAll(ENDS))].map(({ index }) => index);
    for (const url of new Set([run, ...[...ends, run.length].map((end) => run.slice(0, end).replace(BEHIND, ''))]))
      add(url);
  };
  for (const { index } of first(MOST, text.matchAll(BEGINNINGS))) {
    all(/^[^\s<>"'`]+/.exec(text.slice(index, index + LONGEST))?.[0] ?? '');
  }
  if (bare) for (const [host] of first(MOST, text.matchAll(BARE))) all(`https://${host}`);
  return found;
}

function* first<T>(most: number, all: Iterable<T>): Generator<T> {
  let count = 0;
  for (const one of all) {
    if (count++ === most) return;
    yield one;
  }
}
