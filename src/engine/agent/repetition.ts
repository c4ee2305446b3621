// Whether a model goes in circles: looked up in what is on record, so that a worker that takes over sees the same (docs/decisions/0047).
import { createHash } from 'node:crypto';
import type { ConversationMessage, JsonValue, ToolInvocation, ToolResult } from '../models/conversation.js';
import { MOST_CHARACTERS, sorted } from '../models/result-text.js';
import { asAsked } from './approval.js';
import { onlyWaits } from './commands/waits-for-commands.js';

/** After how many repetitions the model gets a hint, and after how many the turn ends. */
interface Bounds {
  hint: number;
  end: number;
}

/** Times in a row that a step brings the same. */
const SAME: Bounds = { hint: 4, end: 8 };
/** Times in a row that a step fails in the same way. */
const SAME_FAILURE: Bounds = { hint: 3, end: 6 };
/** Times that 2 to 4 steps come round. */
const ROUNDS: Bounds = { hint: 3, end: 6 };
/** Steps that are alike but for figures, while no file changes: an agent that waits for something makes some of these. */
const ALIKE: Bounds = { hint: 16, end: 32 };
/** From so many steps on the folders of the task are checked for changes, so that ordinary steps pay nothing. */
const FOLDERS_CHECKED = 12;
/** Steps in a row of which every call fails. */
const FAILURES: Bounds = { hint: 12, end: 25 };
/** For {@link ALIKE} and {@link FAILURES} the model gets a hint at every so many steps. */
const EVERY = 4;
const STEPS_SEEN = Math.max(FAILURES.end, ALIKE.end);
/** Of so many steps something may be said. */
const FEWEST = Math.min(SAME.hint, SAME_FAILURE.hint, ROUNDS.hint);
const PERIODS = [1, 2, 3, 4];

/** What the last step shows: words for the model, in its result; with `over` the turn ends for that reason. */
export interface Circling {
  hint: string;
  over: string | null;
}

/** Null while there is nothing to say. A message of the user begins anew; calls that are meant (`deliberate`) and steps that wait are never counted. */
export function circling(conversation: readonly ConversationMessage[]): Circling | null {
  const steps = lastSteps(conversation, STEPS_SEEN);
  if (steps.length < FEWEST) return null;
  const all = [...failures(steps), ...rounds(steps)].filter(({ hints, count, bounds }) => hints || count >= bounds.end);
  const worst = all.find(({ count, bounds }) => count >= bounds.end) ?? all[0];
  if (worst === undefined) return null;
  const { count, bounds, what, advice, unit } = worst;
  const over = count >= bounds.end ? `${what}.` : null;
  return { hint: `${what}. ${advice} After ${bounds.end} ${unit} the task fails.`, over };
}

/** Whether the last step has come so often, but for its figures, that it matters whether it has changed a file. */
export function mayCircle(conversation: readonly ConversationMessage[]): boolean {
  const steps = lastSteps(conversation, STEPS_SEEN);
  if (steps.length < FOLDERS_CHECKED) return false;
  return PERIODS.some((period) => lengthOf(steps, period, isAlike) >= FOLDERS_CHECKED);
}

/**
 * The result of a call with what the model alone reads of it. `conversation`: with that result, when it ends a step, which may show by
 * now that the model goes in circles; else empty.
 */
export function withHint(result: ToolResult, conversation: ConversationMessage[], characters: number): ToolResult {
  const hint = circling(conversation)?.hint;
  if (result.status === 'denied' || (hint === undefined && characters === MOST_CHARACTERS)) return result;
  const notes = { ...(characters === MOST_CHARACTERS ? {} : { characters }), ...(hint === undefined ? {} : { hint }) };
  return { ...result, forModel: { ...result.forModel, ...notes } };
}

/** Times in a row that a person denies a call before it is refused without asking once more. */
const DENIALS = 2;

/** The error of a call that a person has denied in the steps before, without another call in between; else null. */
export function deniedBefore(conversation: readonly ConversationMessage[], call: ToolInvocation): string | null {
  const key = callKey(asAsked(call));
  const own = conversation.findLastIndex(({ invocations }) => invocations.includes(call));
  let count = 0;
  for (let index = own - 1; index >= 0; index--) {
    const same = conversation[index]?.invocations.find((one) => callKey(asAsked(one)) === key);
    if (same?.result == null || same.result.status === 'success') break;
    if (same.result.status === 'denied') count++;
  }
  if (count < DENIALS) return null;
  return 'A person has denied this same call again and again, so nobody was asked and nothing was done.';
}

interface Finding {
  count: number;
  bounds: Bounds;
  /** Whether the model gets a hint at this count. */
  hints: boolean;
  what: string;
  advice: string;
  unit: 'times' | 'steps';
}

/** `steps`: the last one first. */
function rounds(steps: Step[]): Finding[] {
  const call = steps[0]?.calls === 1 ? 'call' : 'calls';
  const found: Finding[] = [];
  for (const period of PERIODS) {
    const same = lengthOf(steps, period, (one, other) => one.same === other.same);
    const [count, bounds] = [Math.floor(same / period), period === 1 ? SAME : ROUNDS];
    if (count >= bounds.hint) {
      const what =
        period === 1
          ? `The same ${call} came ${count} times in a row, with the same result`
          : `The same ${period} steps came ${count} times in a row, with the same results`;
      const advice = 'It will not change by itself: do something else, or finish and say what is open.';
      found.push({ count, bounds, hints: same % period === 0, what, advice, unit: 'times' });
    }
    const alike = sinceChange(steps.slice(0, lengthOf(steps, period, isAlike)));
    if (alike <= same) continue;
    found.push({
      ...stepsInRow(alike, ALIKE),
      what: `The last ${alike} steps differ in figures alone, their results as well, and no file has changed`,
      advice: 'If the task needs this, do what is left in one command; else do something else, or finish.',
    });
  }
  return found;
}

function failures(steps: Step[]): Finding[] {
  const call = steps[0]?.calls === 1 ? 'call' : 'calls';
  const first = steps[0]?.same;
  const count = whileTrue(steps, ({ failed, same }) => failed && same === first);
  const failing = whileTrue(steps, ({ failed }) => failed);
  return [
    {
      count,
      bounds: SAME_FAILURE,
      hints: count >= SAME_FAILURE.hint,
      what: `The same ${call} failed ${count} times in a row`,
      advice: 'Find out why before you try again, or go another way.',
      unit: 'times',
    },
    {
      ...stepsInRow(failing, FAILURES),
      what: `All calls of the last ${failing} steps failed`,
      advice: 'Stop and think about the cause; when you cannot go on, finish and say what is open.',
    },
  ];
}

function stepsInRow(count: number, bounds: Bounds) {
  return { count, bounds, hints: count >= bounds.hint && count % EVERY === 0, unit: 'steps' as const };
}

/** Steps at the end that come again every `period` steps; those of the first round count too. */
function lengthOf(steps: Step[], period: number, equal: (one: Step, other: Step) => boolean): number {
  let length = 0;
  for (const [index, step] of steps.entries()) {
    const next = steps[index + period];
    if (next === undefined || !equal(step, next)) break;
    length++;
  }
  return length === 0 ? Math.min(1, steps.length) : length + period;
}

/** Alike but for figures, without anything new: another part of a file is new, whatever its figures are. */
function isAlike(one: Step, other: Step): boolean {
  return one.alike === other.alike && (one.asked === other.asked || one.found === other.found);
}

/** How many of the steps have come since the folders of the task last changed. Where nobody looked nothing is known to have changed. */
function sinceChange(steps: Step[]): number {
  let later: string | null = null;
  let since = 0;
  for (const [index, { workdir }] of steps.entries()) {
    if (workdir === null) continue;
    if (later !== null && workdir !== later) return since;
    [later, since] = [workdir, index];
  }
  return steps.length;
}

function whileTrue(steps: Step[], test: (step: Step) => boolean): number {
  const end = steps.findIndex((step) => !test(step));
  return end < 0 ? steps.length : end;
}

/** A step in short. */
interface Step {
  /** How many calls it made. */
  calls: number;
  /** Its calls. */
  asked: string;
  /** Its calls and their results. */
  same: string;
  /** Both without figures. */
  alike: string;
  /** Words of the results that the calls do not have. Empty: too few to count as new. */
  found: string;
  /** The fingerprint of the folders behind it; null: nobody looked. */
  workdir: string | null;
  failed: boolean;
}

/** A step that is over stays as it is. */
const STEPS = new WeakMap<ConversationMessage, Step>();

function lastSteps(conversation: readonly ConversationMessage[], most: number): Step[] {
  const steps: Step[] = [];
  const newest = conversation.at(-1);
  if (newest !== undefined && onlyWaits(newest)) return steps;
  for (let index = conversation.length - 1; index >= 0 && steps.length < most; index--) {
    const message = conversation[index];
    if (message === undefined || message.invocations.length === 0 || isDeliberate(message)) break;
    if (onlyWaits(message)) continue;
    const step = STEPS.get(message) ?? stepOf(message);
    if (step === null) break;
    STEPS.set(message, step);
    steps.push(step);
  }
  return steps;
}

/** For a step whose result was recorded in other words than its tool gave. */
export function forget(step: ConversationMessage): void {
  STEPS.delete(step);
}

/** Null while a call has no result. */
function stepOf({ invocations }: ConversationMessage): Step | null {
  const asked = invocations.map(callKey).join('\n');
  const results: ToolResult[] = [];
  for (const { result } of invocations) {
    if (result === null) return null;
    results.push(result);
  }
  const answers = results.map(resultKey);
  const masked = [...invocations.map(callKey), ...answers].map(withoutFigures);
  return {
    calls: invocations.length,
    asked,
    same: hash(asked, ...answers),
    alike: hash(...masked),
    found: hash(...invocations.map((call, index) => foundBy(call, answers[index] ?? ''))),
    workdir: workdirOf(results.at(-1)),
    failed: results.every(isFailure),
  };
}

function workdirOf(result: ToolResult | undefined): string | null {
  return result === undefined || result.status === 'denied' ? null : (result.forModel?.workdir ?? null);
}

/** What may change files, and tells the time, a duration or a size: so many figures in its result are more, rows of a table for instance. */
const CHANGING = ['bash', 'bash_input', 'exec_command', 'write_stdin', 'write', 'edit', 'apply_patch'];
const MANY_FIGURES = 8;

/** The figures of a result that its call does not name. */
function foundBy(call: ToolInvocation, answer: string): string {
  const named = new Set(callKey(call).match(FIGURES));
  const found = (ends(answer).match(FIGURES) ?? []).filter((figure) => /\d/.test(figure) && !named.has(figure));
  return !CHANGING.includes(call.name) || new Set(found).size >= MANY_FIGURES ? found.join(' ') : '';
}

function isDeliberate({ parts }: ConversationMessage): boolean {
  return parts.some((part) => part.type === 'tool' && part.deliberate === true);
}

function callKey({ name, input }: ToolInvocation): string {
  return `${name} ${JSON.stringify(sorted(input))}`;
}

/** Without what the model alone reads: a duration, an earlier hint. */
function resultKey(result: ToolResult): string {
  if (result.status === 'success') return JSON.stringify(sorted(result.output));
  return `${result.status} ${result.status === 'error' ? result.error : result.reason}`;
}

/** A command that ends with another code than 0 is a result for the API, and a failure here. */
function isFailure(result: ToolResult): boolean {
  return result.status !== 'success' || exitCodeOf(result.output) !== 0;
}

function exitCodeOf(output: JsonValue): JsonValue {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return 0;
  return output['exitCode'] ?? 0;
}

/** Characters at the beginning and at the end of a text whose figures are left out: 64 results of 64 KB then take 20 ms. */
const EDGE = 8_000;
/** Numbers, and ids and hashes, whose letters are figures too. Nothing is looked for ahead: 64 long results took 1.7 s with that. */
const FIGURES = /(?<![\w-])[0-9a-f][0-9a-f-]{7,}|\d+(?:\.\d+)*/gi;

function ends(text: string): string {
  return text.length > 2 * EDGE ? text.slice(0, EDGE) + text.slice(-EDGE) : text;
}

function withoutFigures(text: string): string {
  if (text.length > 2 * EDGE) {
    return withoutFigures(text.slice(0, EDGE)) + text.slice(EDGE, -EDGE) + withoutFigures(text.slice(-EDGE));
  }
  return text.replace(FIGURES, (found) => (/\d/.test(found) ? '0' : found));
}

function hash(...texts: string[]): string {
  return createHash('sha1').update(texts.join('\0')).digest('base64');
}
