// The JSON value that an answer of a model is, or holds. Plain JavaScript, because the thread beside the service uses it.

/** What clients and the database can hold without trouble. */
const MOST_LEVELS = 100;

/** `{value}`, or what is wrong with the text. */
export function jsonIn(text) {
  let found;
  for (const candidate of candidates(text)) {
    found = parsed(candidate);
    if (found !== undefined) break;
  }
  if (found === undefined) return { fault: `It is no JSON: ${whyNot(text)}` };
  const fault = unfit(found.value, 1);
  return fault === null ? found : { fault };
}

/** The whole, then what stands in its last block, then what comes from the first line on that begins like JSON. */
function* candidates(text) {
  yield text;
  const block = lastBlock(text);
  if (block !== null) yield block;
  const begins = text.search(/^[{[]/m);
  if (begins > 0) yield text.slice(begins);
}

/** What the last fence holds whose info string is empty or `json`; one that is left open ends with the text. */
function lastBlock(text) {
  let open = null;
  let last = null;
  for (const line of text.split('\n')) {
    const [, ticks, info] = /^(`{3,})([^`]*)$/.exec(line.trim()) ?? [];
    if (open === null) {
      if (ticks !== undefined) open = { ticks, isJson: /^(json)?$/i.test(info.trim()), lines: [] };
    } else if (ticks !== undefined && info === '' && ticks.length >= open.ticks.length) {
      if (open.isJson) last = open.lines.join('\n');
      open = null;
    } else open.lines.push(line);
  }
  return open?.isJson === true ? open.lines.join('\n') : last;
}

function parsed(text) {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function whyNot(text) {
  try {
    JSON.parse(text);
  } catch (error) {
    return error.message.slice(0, 200);
  }
}

/** What JSON can say and a client could not read. */
function unfit(value, level) {
  if (value === Infinity || value === -Infinity) return 'It holds a number that is too large.';
  if (typeof value !== 'object' || value === null) return null;
  if (level > MOST_LEVELS) return `It is nested deeper than ${MOST_LEVELS} levels.`;
  for (const one of Object.values(value)) {
    const fault = unfit(one, level + 1);
    if (fault !== null) return fault;
  }
  return null;
}
