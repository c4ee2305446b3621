// Where a runbook stands, read from the conversation alone: nothing else survives a restart, so nothing else is asked.
import { setImmediate } from 'node:timers/promises';
import { codeBlock } from '../../../platform/text/code-block.js';
import {
  type ConversationMessage,
  isJsonObject,
  type JsonValue,
  textOf,
  type ToolInvocation,
} from '../conversation.js';
import { isNudge } from '../nudges.js';
import { reviewIn } from '../review.js';
import { type Block, parseRunbook, type Runbook } from './runbook-blocks.js';

export interface RunbookState {
  blocks: Block[];
  /** One line for each block that was carried out, in order. */
  done: string[];
  /** Answer to the last `ask`, for `$ANSWER`. */
  answer: string | null;
  /** The result that no message describes yet. */
  last: { block: Block; text: string } | null;
  /** Of the `output` blocks ({@link Runbook}). */
  outputs: string[];
  /** How often the runbook was at its end: after an answer that did not fit it is asked once more. */
  ends: number;
  /** What the last command has printed. */
  stdout: string;
  /** The block that ended the turn, and why. */
  failure: { block: Block; why: string } | null;
  /** Names of the files that were attached to the messages; they are not read. */
  attachments: string[];
  /** What looks like a block and was not carried out, one sentence each. */
  remarks: string[];
}

/** The blocks of the user messages that end with this one, for the steps to come: a conversation only grows at its end. */
const READ = new WeakMap<ConversationMessage, Runbook>();

const START: RunbookState = {
  blocks: [],
  done: [],
  answer: null,
  last: null,
  failure: null,
  attachments: [],
  remarks: [],
  outputs: [],
  ends: 0,
  stdout: '',
};

/**
 * Replays a conversation. User messages that stand together are one runbook. One that comes while a runbook is under way
 * replaces what is left of it when it has blocks; without blocks it is a remark, and the runbook goes on, or ends by the
 * block that failed or was denied.
 */
export async function replay(messages: ConversationMessage[]): Promise<RunbookState> {
  let state = START;
  let over = true;
  let unread: ConversationMessage[] = [];
  const read = async () => {
    if (unread.length > 0) {
      const { blocks, remarks, outputs } = await runbookOf(unread);
      const attachments = unread.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === 'file' ? [part.name] : [])),
      );
      if (blocks.length > 0 || over) state = { ...START, blocks, remarks, attachments, outputs, answer: state.answer };
      else {
        const all = { remarks: [...state.remarks, ...remarks], attachments: [...state.attachments, ...attachments] };
        state = { ...state, ...all };
      }
    }
    unread = [];
  };
  for (const message of messages) {
    if (message.role === 'user') {
      if (!isNudge(message)) unread.push(message);
      continue;
    }
    await read();
    for (const invocation of message.invocations) state = advance(state, invocation);
    over = message.invocations.length === 0;
    if (over) state = { ...state, ends: state.ends + 1 };
  }
  await read();
  return state;
}

async function runbookOf(unread: ConversationMessage[]): Promise<Runbook> {
  const last = unread.at(-1);
  const known = last === undefined ? undefined : READ.get(last);
  if (known !== undefined) return known;
  const runbook: Runbook = { blocks: [], remarks: [], outputs: [] };
  let lines = 0;
  for (const message of unread) {
    // Each in a turn of the event loop of its own: leases are renewed between them, however long the history is.
    await setImmediate();
    const text = textOf(message.parts);
    const { blocks, remarks, outputs } = await parseRunbook(text, { lines, blocks: runbook.blocks.length });
    runbook.blocks = runbook.blocks.concat(blocks);
    runbook.remarks = runbook.remarks.concat(remarks, reviewRemark(message));
    runbook.outputs = runbook.outputs.concat(outputs);
    // They become one text, with an empty line between them.
    lines += text.split('\n').length + 1;
  }
  if (last !== undefined) READ.set(last, runbook);
  return runbook;
}

/** The fences of comments and quotes are what others have written of code: none is carried out. */
function reviewRemark({ parts }: ConversationMessage): string[] {
  const count = parts.filter((part) => reviewIn(part) !== null).length;
  if (count === 0) return [];
  return [
    `The review (${count === 1 ? '1 comment' : `${count} comments`}): put blocks into the text of the message itself.`,
  ];
}

function advance(state: RunbookState, invocation: ToolInvocation): RunbookState {
  const block = state.blocks[state.done.length];
  if (block === undefined) return state;
  const { failed, text, summary } = judge(block, invocation);
  const last = { block, text };
  if (failed !== null) return { ...state, last, failure: { block, why: failed } };
  const answer = block.action.kind === 'ask' ? answerOf(invocation) : state.answer;
  const stdout = block.action.kind === 'command' ? stdoutOf(invocation) : state.stdout;
  return { ...state, last, answer, stdout, done: [...state.done, summary] };
}

interface Judgement {
  /** Why the block failed; null when the runbook goes on. */
  failed: string | null;
  /** The result in Markdown. */
  text: string;
  /** A few words. */
  summary: string;
}

function judge({ action }: Block, { result }: ToolInvocation): Judgement {
  if (result === null) return bad('it has no result');
  const mayFail = 'mayFail' in action && action.mayFail;
  if (result.status === 'denied') {
    const why = result.reason === null ? 'it was denied' : `it was denied: ${result.reason}`;
    return mayFail ? good(`Not run: ${why}`, 'denied, as it may fail') : bad(why);
  }
  if (result.status === 'error') return mayFail ? good(result.error, 'failed, as it may') : bad(result.error);
  if (action.kind === 'ask') return good(`The answer: ${answerOf({ result }) ?? ''}`, 'answered');
  if (action.kind === 'delegate') return good(tasksOf(result.output), 'the tasks are over');
  if (action.kind === 'tool') return good(fenced(field(result.output, 'text')).trim() || 'Done.', 'done');
  if (action.kind !== 'command') return good('Done.', 'done');
  const code = field(result.output, 'exitCode');
  const exitCode = typeof code === 'number' ? code : Number.NaN;
  const text = `Exit code ${exitCode}.${fenced(field(result.output, 'stdout'))}${fenced(field(result.output, 'stderr'))}`;
  if (exitCode === 0) return good(text, 'exit code 0');
  if (mayFail) return good(text, `exit code ${exitCode}, as it may`);
  return { failed: `exit code ${exitCode}`, text, summary: '' };
}

/** A line for each of the tasks. */
function tasksOf(output: JsonValue): string {
  const tasks = field(output, 'tasks');
  const lines = (Array.isArray(tasks) ? tasks : []).map((task) => {
    const [title, status, said] = [field(task, 'title'), field(task, 'status'), field(task, 'text')];
    const line = `- ${typeof title === 'string' ? title : ''}: ${typeof status === 'string' ? status : ''}`;
    return typeof said === 'string' ? `${line}\n\n${said}` : line;
  });
  return lines.join('\n');
}

function bad(why: string): Judgement {
  return { failed: why, text: `Failed: ${why}`, summary: '' };
}

function good(text: string, summary: string): Judgement {
  return { failed: null, text, summary };
}

/** The answer of a person: the chosen options' ids, else the text. */
function answerOf({ result }: Pick<ToolInvocation, 'result'>): string | null {
  if (result?.status !== 'success') return null;
  const options = field(result.output, 'options');
  const ids = Array.isArray(options) ? options.map((option) => field(option, 'id')) : [];
  if (ids.length > 0) return ids.map(String).join(' ');
  const content = field(result.output, 'content');
  return typeof content === 'string' ? content : '';
}

function stdoutOf({ result }: ToolInvocation): string {
  const stdout = result?.status === 'success' ? field(result.output, 'stdout') : null;
  return typeof stdout === 'string' ? stdout.trim() : '';
}

function field(value: JsonValue, name: string): JsonValue {
  return isJsonObject(value) ? (value[name] ?? null) : null;
}

/** The end of an output as a code block; its middle is in the tool's result alone. */
function fenced(output: JsonValue): string {
  const text = typeof output === 'string' ? output.trimEnd() : '';
  return text === '' ? '' : codeBlock('text', text.length > 2000 ? `…${text.slice(-2000)}` : text);
}

/** The JSON of the next `output` block at the end of an answer; empty without such a block. The last one serves for all that follow. */
export function outputBlock({ outputs, ends, stdout }: RunbookState): string {
  const output = outputs[ends] ?? outputs.at(-1);
  return output === undefined ? '' : codeBlock('json', output === '' ? stdout : output);
}
