// From messages to what is drawn: what a person said, what the agent said, and runs of steps between.
import type { Message, MessagePart, ReviewComment } from '../../api/client.ts';
import { type Result, usual, usualResult } from './usual.ts';

export type FilePart = Extract<MessagePart, { type: 'file' }>;
export type SourcePart = Extract<MessagePart, { type: 'source_url' | 'source_document' }>;

/** In the form of the loop's own tools, whichever program made it. */
export interface Call {
  id: string;
  name: string;
  input: Record<string, unknown>;
  result: Result | null;
}

export type Step = { kind: 'call'; key: string; call: Call } | { kind: 'reasoning'; key: string; text: string };

export type Block =
  | { kind: 'user'; key: string; message: Message; text: string; files: FilePart[]; review: ReviewComment[] }
  | { kind: 'text'; key: string; text: string }
  | { kind: 'steps'; key: string; steps: Step[]; handedOver: boolean }
  | { kind: 'ask'; key: string; call: Call }
  | { kind: 'file'; key: string; part: FilePart }
  | { kind: 'source'; key: string; part: SourcePart }
  /** Stands between this turn, which is over, and the next one. */
  | { kind: 'turn'; key: string; turn: number }
  /** What only says that something happened, and whatever this console does not know. */
  | { kind: 'quiet'; key: string; name: string; data: unknown };

/** What a message gives by itself; runs of steps are joined across messages. */
type Part = Exclude<Block, { kind: 'steps' | 'turn' }> | { kind: 'step'; key: string; step: Step; handedOver: boolean };

export interface PlanItem {
  text: string;
  status: 'pending' | 'in_progress' | 'done' | 'dropped';
}

/** A message that did not change is the same object, and gives the same blocks: only what changed is drawn anew. */
const kept = new WeakMap<Message, Part[]>();

function ownBlocksOf(message: Message): Part[] {
  const known = kept.get(message);
  if (known !== undefined) return known;
  const blocks =
    message.role === 'user' ? [said(message)] : message.parts.flatMap((part, index) => made(message, part, index));
  kept.set(message, blocks);
  return blocks;
}

function said(message: Message): Part {
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const files = message.parts.flatMap((part) => (part.type === 'file' ? [part] : []));
  const review = message.parts.flatMap((part) =>
    part.type === 'custom' && part.kind === 'review' ? [part.data as ReviewComment] : [],
  );
  return { kind: 'user', key: message.id, message, text, files, review };
}

function made(message: Message, part: MessagePart, index: number): Part[] {
  const key = `${message.id}-${index}`;
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ kind: 'text', key, text: part.text }];
    case 'reasoning':
      if (part.text.trim() === '') return [];
      return [{ kind: 'step', key, step: { kind: 'reasoning', key, text: part.text }, handedOver: false }];
    case 'tool_call': {
      const call = callOf(message, part);
      if (call.name === 'ask') return [{ kind: 'ask', key, call }];
      return [{ kind: 'step', key, step: { kind: 'call', key, call }, handedOver: call.name === 'publish' }];
    }
    case 'tool_result':
    case 'step_start':
      return [];
    case 'file':
      // What was published is shown by its call.
      return message.parts.some((one) => published(one) === part.id) ? [] : [{ kind: 'file', key, part }];
    case 'source_url':
    case 'source_document':
      return [{ kind: 'source', key, part }];
    case 'data':
      // The plan is shown by the call that made it, and beside the conversation.
      return part.name === 'plan' ? [] : [{ kind: 'quiet', key, name: part.name, data: part.data }];
    default:
      return [{ kind: 'quiet', key, name: part.type, data: part }];
  }
}

function callOf(message: Message, part: Extract<MessagePart, { type: 'tool_call' }>): Call {
  const result = message.parts.find(
    (one): one is Result => one.type === 'tool_result' && one.toolCallId === part.toolCallId,
  );
  const { name, input } = usual(part.name, fieldsOf(part.input));
  return { id: part.toolCallId, name, input, result: result === undefined ? null : usualResult(name, result) };
}

const published = (part: MessagePart): unknown =>
  part.type === 'tool_result' && part.status === 'success' && usual(part.name, {}).name === 'publish'
    ? fieldsOf(part.output).id
    : null;

export const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A message stands where it was read; those that wait stand at the end. */
const orderOf = ({ role, readAt, createdAt, status }: Message): string =>
  role === 'user' ? (readAt ?? (status === 'queued' ? '~' : createdAt)) : createdAt;

/** `before` are the blocks of the last drawing: what is still the same stays the same object. */
export function blocksOf(messages: readonly Message[], before: ReadonlyMap<string, Block>): Block[] {
  const blocks: Block[] = [];
  const sorted = messages.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : orderOf(a) > orderOf(b) ? 1 : 0));
  let turn = 0;
  for (const message of sorted) {
    const of = message.turn ?? 0;
    if (turn > 0 && of > turn) blocks.push({ kind: 'turn', key: `turn-${turn}`, turn });
    turn = Math.max(turn, of);
    for (const block of ownBlocksOf(message)) append(blocks, block);
  }
  return blocks.map((block) => {
    const known = before.get(block.key);
    if (block.kind === 'turn') return known ?? block;
    return block.kind === 'steps' && known?.kind === 'steps' && sameSteps(known.steps, block.steps) ? known : block;
  });
}

function append(blocks: Block[], block: Part): void {
  const last = blocks.at(-1);
  if (block.kind !== 'step') blocks.push(block);
  else if (last?.kind === 'steps' && last.handedOver === block.handedOver) last.steps.push(block.step);
  else blocks.push({ kind: 'steps', key: `steps-${block.key}`, steps: [block.step], handedOver: block.handedOver });
}

const sameSteps = (a: Step[], b: Step[]) => a.length === b.length && a.every((step, index) => step === b[index]);

/** The agent's plan as it stands: of the last call that made one, or of all that made and changed an item each. */
export function planOf(messages: readonly Message[]): PlanItem[] | null {
  let plan: PlanItem[] | null = null;
  let items = new Map<string, PlanItem>();
  for (const message of messages) {
    for (const part of message.parts) {
      if (part.type === 'data' && part.name === 'plan') plan = planItems(fieldsOf(part.data).items);
      if (part.type !== 'tool_call') continue;
      const call = callOf(message, part);
      if (call.name === 'todo' && call.result?.status !== 'error') plan = planItems(call.input.items);
      if (call.name !== 'todo_item' || call.result?.status !== 'success') continue;
      items = withItem(items, call);
      plan = [...items.values()];
    }
  }
  return plan;
}

function withItem(items: Map<string, PlanItem>, { input, result }: Call): Map<string, PlanItem> {
  const told = textOf(result?.status === 'success' ? result.output : '');
  const id = textOf(input.taskId) || (/#(\d+)/.exec(told)?.[1] ?? '');
  const known = items.get(id);
  const [item] = planItems([{ text: known?.text, status: known?.status ?? 'pending', ...input }]);
  const changed = new Map(items);
  if (input.status === 'deleted') changed.delete(id);
  else if (item !== undefined && id !== '') changed.set(id, item);
  return changed;
}

const STATUSES: Readonly<Record<string, PlanItem['status']>> = { completed: 'done', cancelled: 'dropped' };

/** In the words of the loop or of another program. */
export function planItems(items: unknown): PlanItem[] {
  if (!Array.isArray(items)) return [];
  return items.flatMap((item): PlanItem[] => {
    const { text, content, step, status } = fieldsOf(item);
    const words = textOf(text ?? content ?? step);
    const said = textOf(status);
    return words === '' ? [] : [{ text: words, status: STATUSES[said] ?? (said as PlanItem['status']) }];
  });
}

export const exitCode = ({ result }: Call): number | null => {
  const code = result?.status === 'success' ? fieldsOf(result.output).exitCode : null;
  return typeof code === 'number' ? code : null;
};

/** `open`: its turn has not come yet. `stopped`: it never will. */
export type Outcome = 'running' | 'open' | 'waiting' | 'ok' | 'failed' | 'denied' | 'stopped';

/** What goes on around a call: of the task, and of the call that a person is asked about. */
export interface Now {
  state: 'running' | 'paused' | 'over';
  waiting: string | null;
}

export function outcomeOf(call: Call, now: Now): Outcome {
  if (call.result === null) {
    if (now.waiting === call.id) return 'waiting';
    return now.state === 'running' ? 'running' : now.state === 'paused' ? 'open' : 'stopped';
  }
  if (call.result.status === 'denied') return 'denied';
  if (call.result.status === 'error') return 'failed';
  return (exitCode(call) ?? 0) === 0 ? 'ok' : 'failed';
}

export const failed = (step: Step): boolean =>
  step.kind === 'call' && outcomeOf(step.call, { state: 'over', waiting: null }) === 'failed';
