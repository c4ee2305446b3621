// A thread that reads Markdown: some texts of 200,000 characters take half a second, in which the event loop of the service
// must not stand still. Plain JavaScript, because Node starts a thread from a file that it can run as it is.
import { parentPort } from 'node:worker_threads';
import MarkdownIt from 'markdown-it';

/** Quoted lines that one text may make the parser look at: half a second. A text of 200,000 characters has half as many lines. */
const QUOTED_LINES = 1_000_000;
/** Lines of one link reference (`[a]: …`); what is longer is prose. */
const REFERENCE_LINES = 100;

class QuotesError extends Error {
  constructor(line) {
    super();
    this.line = line;
  }
}

const markdown = new MarkdownIt('commonmark');
// Only the fences are wanted. What stands inside a paragraph has none, and takes minutes for some texts.
markdown.core.ruler.disable(['inline', 'text_join']);
// A reference is copied with each further line that it might have: 200,000 characters of such lines took 15 seconds.
const reference = markdown.block.ruler.getRules('').find(({ name }) => name === 'reference');
markdown.block.ruler.at('reference', (state, startLine, endLine, silent) => {
  const { lineMax } = state;
  state.lineMax = Math.min(lineMax, startLine + REFERENCE_LINES);
  const found = reference(state, startLine, endLine, silent);
  state.lineMax = lineMax;
  return found;
});
// A quote is read to the next empty line before the parser knows where it ends, and what follows is read again:
// 200,000 characters of quotes without an empty line between them took three minutes.
markdown.block.ruler.before('blockquote', 'quoted_lines', (state, startLine, endLine) => {
  if (state.src[state.bMarks[startLine] + state.tShift[startLine]] !== '>') return false;
  let line = startLine;
  while (line < endLine && !state.isEmpty(line)) line++;
  state.env.quotedLines += line - startLine;
  if (state.env.quotedLines > QUOTED_LINES) throw new QuotesError(startLine + 1);
  return false;
});

function fencesOf(text) {
  const tokens = markdown.parse(text, { quotedLines: 0 }).filter(({ type }) => type === 'fence');
  return tokens.map(({ info, content, map }) => ({ info: info.trim(), content, line: map[0] + 1 }));
}

parentPort.on('message', (text) => {
  try {
    parentPort.postMessage({ fences: fencesOf(text) });
  } catch (error) {
    if (!(error instanceof QuotesError)) throw error;
    parentPort.postMessage({ quotesAt: error.line });
  }
});
