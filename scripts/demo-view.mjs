// The conversation on a terminal or in a log: new parts as they come, and below them one line of progress.
const RESULT_LINES = 24;
const USER_LINES = 8;
const QUIET_MS = 10_000;

export class Printer {
  /** Id of the last message that cannot change any more, with all before it: where the next look begins. */
  lastComplete = null;
  #printed = new Set();
  #progress = '';
  #lastResult = '';
  #lastOutput = performance.now();

  constructor(out) {
    this.out = out;
    this.fancy = out.isTTY === true && !process.env.NO_COLOR;
  }

  /** One line that replaces itself; without a terminal a plain line when nothing else was printed for 10 s. */
  progress(text) {
    if (this.fancy) {
      if (text !== this.#progress) this.out.write(`\r\x1b[2K${text === null ? '' : this.#style('2', text)}`);
      this.#progress = text ?? '';
    } else if (text !== null && performance.now() - this.#lastOutput > QUIET_MS) this.line(`(${text})`);
  }

  line(text) {
    const progress = this.#progress;
    if (progress !== '') this.progress(null);
    this.out.write(`${text}\n`);
    this.#lastOutput = performance.now();
  }

  heading(text) {
    this.line('');
    this.line(this.#style('1', `== ${text}`));
  }

  /** Text of somebody else: control characters do not reach the terminal. */
  block(text, { limit = Infinity, mark = '  ', then = mark } = {}) {
    const lines = text
      .replace(/[^\P{Cc}\n\t]/gu, '')
      .trimEnd()
      .split('\n');
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

  /** Prints the parts of a message that were not printed yet. */
  message(message) {
    const seen = new Map();
    for (const part of message.parts) {
      const count = (seen.get(part.type) ?? 0) + 1;
      seen.set(part.type, count);
      // A result comes to stand in the middle of a message: parts are told apart by what they are, not by their place.
      const id = `${message.id} ${part.type} ${part.toolCallId ?? count}`;
      if (this.#printed.has(id)) continue;
      this.#printed.add(id);
      this.#part(message, part);
    }
    if (message.status === 'complete') this.lastComplete = message.id;
  }

  #part(message, part) {
    if (part.type === 'text') this.#text(message.role, part.text);
    else if (part.type === 'reasoning') this.block(part.text, { mark: '  ~ ', limit: RESULT_LINES });
    else if (part.type === 'tool_call') this.#call(part);
    else if (part.type === 'tool_result') this.#result(part);
  }

  #text(role, text) {
    this.line('');
    this.line(this.#style('1', role === 'user' ? 'You' : 'Agent'));
    if (role !== 'user') return this.block(this.#withoutRepeats(text));
    const lines = text.trimEnd().split('\n');
    this.block(lines.slice(0, USER_LINES).join('\n'), { mark: '  | ' });
    if (lines.length > USER_LINES) this.line(`  | … ${lines.length - USER_LINES} more lines`);
  }

  /** The runbook model quotes each result in its next message; here it was printed a moment ago. */
  #withoutRepeats(text) {
    const fence = /\n*(`{3,})text\n([^]*?)\n\1/g;
    return text.replace(fence, (all, _, quoted) => (this.#lastResult.includes(quoted.trimEnd()) ? '' : all));
  }

  #call(part) {
    // The question is shown when it is to be answered.
    if (part.name === 'ask') return;
    const mark = `  ${this.#style('36', part.name === 'bash' ? '$' : '>')} `;
    const bash = part.name === 'bash' && typeof part.input?.command === 'string';
    const about = bash ? part.input.command : `${part.name}: ${part.input?.path ?? JSON.stringify(part.input)}`;
    this.block(about, { mark, then: '    ' });
  }

  #result(part) {
    const mark = '      ';
    if (part.status === 'error') return this.block(`error: ${part.error}`, { mark, limit: RESULT_LINES });
    if (part.status === 'denied') return this.line(`${mark}denied`);
    const output = part.output;
    if (typeof output?.exitCode === 'number') {
      const said = [output.stdout, output.stderr].filter((text) => text?.trim()).join('\n');
      this.#lastResult = said;
      if (said) this.block(said, { mark, limit: RESULT_LINES });
      if (output.exitCode !== 0) this.line(`${mark}${this.#style('33', `exit code ${output.exitCode}`)}`);
      return;
    }
    this.block(typeof output === 'string' ? output : JSON.stringify(output), { mark, limit: 6 });
  }

  #style(code, text) {
    return this.fancy ? `\x1b[${code}m${text}\x1b[0m` : text;
  }
}
