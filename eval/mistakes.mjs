// What models do wrong with a change, as pure functions. Each takes the change as it is right and gives one as a sloppy
// model writes it; what it cannot spoil it leaves as it is.

/** In the order in which a sloppy player makes them, one for each change. */
export const MISTAKES = ['indentation', 'numbers', 'tabs', 'cut'];

/** The block moved: without the indentation that its lines share, or with two spaces where they share none. */
export function moved(text) {
  const shared = sharedIndentation(text);
  return eachLine(text, (line) => (shared === '' ? `  ${line}` : line.slice(shared.length)));
}

/** Tabs where the file has spaces, four spaces where it has tabs. */
export function retabbed(text) {
  return eachLine(text, (line) => {
    const [indentation] = /^[ \t]*/.exec(line);
    const other = indentation.includes('\t')
      ? indentation.replaceAll('\t', '    ')
      : indentation.replace(/ {2,4}/g, '\t');
    return other + line.slice(indentation.length);
  });
}

/** The lines as a tool showed them, with whatever stood before them; null when they were not shown in one piece. */
export function asShown(result, text) {
  const wanted = text.split('\n');
  const shown = result.split(/\r?\n/);
  const at = shown.findIndex((_, from) => standsAt(shown, from, wanted));
  return at < 0 ? null : shown.slice(at, at + wanted.length).join('\n');
}

/** Whether a text was shown, line by line, with anything before each line. */
export function isShown(result, text) {
  return asShown(result, text) !== null;
}

function standsAt(shown, from, wanted) {
  return wanted.every((line, index) => (shown[from + index] ?? '\0').trimEnd().endsWith(line.trimEnd()));
}

/** Arguments that broke off: JSON without its end. */
export function cut(json) {
  return json.slice(0, Math.ceil(json.length * 0.7));
}

function sharedIndentation(text) {
  const all = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => /^[ \t]*/.exec(line)[0]);
  return all.reduce((shared, one) => {
    let length = 0;
    while (length < shared.length && shared[length] === one[length]) length++;
    return shared.slice(0, length);
  });
}

function eachLine(text, change) {
  return text
    .split('\n')
    .map((line) => (line.trim() === '' ? line : change(line)))
    .join('\n');
}
