/** A fenced block of Markdown, behind an empty line. Its fence is longer than each row of back quotes in the text, so the text cannot end it. */
export function codeBlock(word: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  return `\n\n${fence}${word}\n${text}\n${fence}`;
}
