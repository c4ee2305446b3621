// The conversation on a terminal or in a log: text, commands and their output while they come, and below them one line of progress.
const RESULT_LINES = 24;
/** Of what a command has written beside the lines that were shown while it ran. */
const LAST_LINES = 8;
const USER_LINES = 8;
const QUIET_MS = 10_000;
const MARKS = { text: '  ', reasoning: '  ~ ' };
const OUTPUT_MARK = '      ';

/** Text of somebody else: control characters do not reach the terminal. */
const plain = (text) => text.replace(/[^\P{Cc}\n\t]/gu, '');

export class Printer {
  /** What the task does, in a few words. */
  state = '';
  #transcript = null;
  #steps = 0;
  #results = 0;
  /** What has been shown of the output of the last command. */
  #shown = '';
  /** The last line ends of a text that may go on: they have not been written. */
  #open = null;
  #progress = '';
  #lastOutput = performance.now();

  constructor(out) {
    this.out = out;
    this.fancy = out.isTTY === true && !process.env.NO_COLOR;
  }

  /** Before the events of another task. `transcript`: a `Transcript` of `@millwright/cli`. */
  begin(transcript) {
    this.#transcript = transcript;
    [this.#steps, this.#results, this.state] = [0, 0, 'queued'];
  }

  /** One line that replaces itself; without a terminal a plain line when nothing else was printed for 10 s. */
  progress(text) {
    if (this.#open !== null) return;
    if (this.fancy) {
      if (text !== this.#progress) this.out.write(`\r\x1b[2K${text === null ? '' : this.#style('2', text)}`);
      this.#progress = text ?? '';
    } else if (text !== null && performance.now() - this.#lastOutput > QUIET_MS) this.line(`(${text})`);
  }

  line(text) {
    this.#close();
    if (this.#progress !== '') this.progress(null);
    this.out.write(`${text}\n`);
    this.#lastOutput = performance.now();
  }

  heading(text) {
    this.line('');
    this.line(this.#style('1', `== ${text}`));
  }

  block(text, { limit = Infinity, mark = '  ', then = mark } = {}) {
    const lines = plain(text).trimEnd().split('\n');
    // Of long output the end says more than the beginning.
    const shown = lines.length > limit ? lines.slice(-limit) : lines;
    if (shown.length < lines.length) this.line(`${mark}… ${lines.length - shown.length} more lines`);
    shown.forEach((line, index) => this.line((index === 0 ? mark : then) + line));
  }

  question(text, options) {
    this.line('');
    this.line(this.#style('1', 'The agent asks'));
    this.block(text);
    options.forEach((option, index) => this.block(`${index + 1}. ${option.label}`, { mark: '    ' }));
  }

  /** An event of the task, or a piece of what is still being made. */
  event(event) {
    for (const entry of this.#transcript.read(event)) this.#entry(entry);
    const { message, status, toolCallId } = event.data ?? {};
    if (event.type === 'message.created' && message.role === 'assistant') this.#steps += 1;
    if (event.type === 'tool.completed' && toolCallId) this.#results += 1;
    if (status) this.state = `${status} · ${this.#steps} steps · ${this.#results} tool calls`;
  }

  #entry(entry) {
    switch (entry.type) {
      case 'asked':
        return this.#asked(entry.text);
      case 'text':
      case 'reasoning':
        return this.#text(entry);
      case 'discarded':
        return this.line('  (That answer was cut off. It is asked for again.)');
      case 'call':
        return this.#call(entry.call);
      case 'output':
        this.#shown += `${entry.line}\n`;
        return this.line(OUTPUT_MARK + plain(entry.line));
      case 'result':
        return this.#result(entry);
      default:
    }
  }

  #asked(text) {
    this.#speaker('You');
    const lines = text.trimEnd().split('\n');
    this.block(lines.slice(0, USER_LINES).join('\n'), { mark: '  | ' });
    if (lines.length > USER_LINES) this.line(`  | … ${lines.length - USER_LINES} more lines`);
  }

  #text({ type, text, begins, ends }) {
    if (begins && type === 'text') this.#speaker('Agent');
    const news = begins ? this.#withoutRepeats(text) : text;
    if (begins && ends) return this.block(news, { mark: MARKS[type] });
    this.#piece(news, MARKS[type], begins);
    if (ends) this.#close();
  }

  /** The runbook model quotes each result in its next message; here it was printed a moment ago. */
  #withoutRepeats(text) {
    const fence = /\n*(`{3,})text\n([^]*?)\n\1/g;
    return text.replace(fence, (all, _, quoted) => (this.#shown.includes(quoted.trimEnd()) ? '' : all));
  }

  #call({ name, input }) {
    this.#shown = '';
    // The question is shown when it is to be answered.
    if (name === 'ask') return;
    const bash = name === 'bash' && typeof input?.command === 'string';
    const about = bash ? input.command : `${name}: ${input?.path ?? JSON.stringify(input)}`;
    this.block(about, { mark: `  ${this.#style('36', bash ? '$' : '>')} `, then: '    ' });
  }

  #result({ result: { status, output, error }, output: rest }) {
    const mark = OUTPUT_MARK;
    if (status === 'error') return this.block(`error: ${error}`, { mark, limit: RESULT_LINES });
    if (status === 'denied') return this.line(`${mark}denied`);
    if (typeof output?.exitCode !== 'number')
      return this.block(typeof output === 'string' ? output : JSON.stringify(output), { mark, limit: 6 });
    if (rest !== '') this.block(rest, { mark, limit: this.#shown === '' ? RESULT_LINES : LAST_LINES });
    this.#shown += rest;
    if (output.exitCode !== 0) this.line(`${mark}${this.#style('33', `exit code ${output.exitCode}`)}`);
  }

  #speaker(name) {
    this.line('');
    this.line(this.#style('1', name));
  }

  /** Goes on with a text where it ended. Its last line ends wait for more: at its end they are not wanted. */
  #piece(text, mark, begins) {
    if (begins || this.#open === null) {
      this.#close();
      if (this.#progress !== '') this.progress(null);
      this.out.write(mark);
      this.#open = '';
    }
    const all = this.#open + plain(text);
    const said = all.trimEnd();
    this.#open = all.slice(said.length);
    this.out.write(said.replaceAll('\n', `\n${mark}`));
    this.#lastOutput = performance.now();
  }

  #close() {
    if (this.#open !== null) this.out.write('\n');
    this.#open = null;
  }

  #style(code, text) {
    return this.fancy ? `\x1b[${code}m${text}\x1b[0m` : text;
  }
}
