import type { Fault } from './programs.js';

/** Where comments and trailing commas belong to the format, whatever else the file holds. */
const WITH_COMMENTS =
  /(^|\/)((ts|js)config[^/]*\.json|\.(vscode|devcontainer)\/[^/]+|\.?(eslintrc|devcontainer|deno)\.json)$/;
/** And where nobody reads them. */
const STRICT = /(^|\/)(package(-lock)?|composer|manifest)\.json$/;
/** Texts, comments, and commas before an end. One that is not ended goes to the end, or it would be looked for from each place anew. */
const TOKENS = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*(?:[^]*?\*\/|[^]*)|,(?=\s*[\]}])/g;

/** What is wrong with a text as JSON; comments are taken to be meant. Null: nothing. In this process: parsing runs nothing of the text. */
export function jsonFault(path: string, text: string): Fault | null {
  const fault = parseFault(text);
  if (fault === null || STRICT.test(path)) return fault;
  let comments = 0;
  const blank = (token: string) => token.replace(/[^\n]/g, ' ');
  const without = text.replace(TOKENS, (token) => {
    if (token.startsWith('"') || token === ',') return token;
    comments++;
    return blank(token);
  });
  if (comments === 0 && !WITH_COMMENTS.test(path)) return fault;
  return parseFault(without.replace(TOKENS, (token) => (token === ',' ? ' ' : token)));
}

function parseFault(text: string): Fault | null {
  // Files of Windows begin with a mark that JSON has no place for, and readers pass over.
  const body = text.startsWith('\ufeff') ? ` ${text.slice(1)}` : text;
  try {
    JSON.parse(body);
    return null;
  } catch (error) {
    const { message } = error as Error;
    const at = / in JSON at position (\d+)| at position (\d+)/.exec(message);
    const end = message.includes('end of JSON') ? body.trimEnd().length : null;
    const position = at === null ? end : Number(at[1] ?? at[2]);
    const line = position === null ? null : body.slice(0, position).split('\n').length;
    return { line, message: message.replace(/(,? "[^]*" is not valid JSON|(?: in JSON)? at position [^]*)$/, '') };
  }
}
