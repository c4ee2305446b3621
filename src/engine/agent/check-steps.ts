// What the service itself finds out at the end of a turn (reference §26).
import { newId } from '../../platform/database/ids.js';
import type { CheckedTurn, CheckResult } from '../checks/check.js';
import type { ConversationMessage, StoredPart } from '../models/conversation.js';
import type { AgentEvent, AgentFeedback, AgentInput, AgentOutcome } from './agent-engine.js';
import { inLanes, type CheckingInput } from './check-lanes.js';
import type { InputChecks } from './input-checks.js';
import type { RepositoryChanges } from './input-repository.js';
import type { TurnOutput } from './output/turn-output.js';
import type { TurnLimits } from './turn-limits.js';
import type { Failure } from './turn-outcomes.js';

type Steps<T> = AsyncGenerator<AgentEvent, T, AgentFeedback>;

/** The name of the `data` part by which the agent learns what failed. */
export const CHECKS_PART = 'checks';
/** Bytes of the output of each check that it reads. */
const SHOWN = 8 * 1024;

export type Passed = { passed: true } & CheckedTurn;
/** `passed`: the turn is completed. `again`: the agent goes on with what this message says. */
export type Verdict = Passed | { again: ConversationMessage } | { failed: Failure };

export const PASSED: Passed = { passed: true, results: [], before: [] };
const UNKNOWN: Verdict = { failed: unavailable('what the task has made is not known') };
/** They were to run again, and a PATCH has taken them away since. */
export const NONE_LEFT: Verdict = { failed: unavailable('the task has none any more') };

/** Carries out all checks of a task on what the turn has come to. @param changes null without a repository; what is not known cannot be checked. */
export async function* runChecks(
  checks: InputChecks,
  input: CheckingInput,
  changes: RepositoryChanges | null | 'unknown',
  repairs: number,
  limits: TurnLimits,
): Steps<Verdict> {
  if (changes === 'unknown') {
    const unseen = { names: [], workdirSha256: null, patchSha256: null };
    yield { type: 'checks', round: repairs, status: 'error', told: null, ...unseen };
    return UNKNOWN;
  }
  const left = () => limits.secondsLeft();
  const results = yield* inLanes(checks.checks, input, { phase: 'after', round: repairs }, left, (check, work) =>
    checks.run(check, { ...work, changes }),
  );
  const decisive = results.filter(({ required }) => required);
  const broken = decisive.filter(({ status }) => status === 'error');
  const failed = decisive.filter(({ status }) => status !== 'passed');
  const all = results.length === checks.checks.length;
  const status = broken.length > 0 ? 'error' : failed.length > 0 ? 'failed' : all ? 'passed' : 'error';
  const over = limits.exceeded();
  const mayGoOn = status === 'failed' && !checks.again && repairs < checks.maxRepairs && over === null;
  const told = mayGoOn ? { messageId: newId(), parts: partsOf(failed, repairs, checks.maxRepairs) } : null;
  const workdirSha256 = results.find((one) => one.workdirSha256 !== null)?.workdirSha256 ?? null;
  const patchSha256 = results.find((one) => one.patchSha256 !== null)?.patchSha256 ?? null;
  const names = results.map(({ name }) => name);
  yield { type: 'checks', round: repairs, names, status, told, workdirSha256, patchSha256 };
  if (status === 'passed') return { passed: true, results, before: checks.before };
  // The time of the turn has ended it, and not what it found.
  if (limits.secondsLeft() === 0 && over !== null) return { failed: over };
  if (broken.length > 0) return { failed: unavailable(namesOf(broken)) };
  const again = told === null ? null : readChecks(told.messageId, told.parts);
  if (again !== null) return { again };
  return { failed: notPassed(failed) };
}

/** The steps of a turn that has ended before: with the answer that the task has, if it has one. */
// eslint-disable-next-line require-yield -- no step is left.
export async function* answered({ messages }: AgentInput, output: TurnOutput): Steps<AgentOutcome> {
  return (isAnswered(messages) ? await output.end(messages, null) : null) ?? { type: 'completed', text: '' };
}

/** Whether the last that a run finds is an answer that ends the turn: its worker was lost, or stopped, before it had recorded the end. */
export function isAnswered(messages: readonly ConversationMessage[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'assistant' && last.invocations.length === 0;
}

function unavailable(why: string): Failure {
  const message = `Checks of this task could not be carried out: ${why}. Send a message to try again.`;
  return { type: 'failed', code: 'checks_unavailable', message, retryable: true };
}

function notPassed(failed: CheckResult[]): Failure {
  const message = `These checks did not pass: ${namesOf(failed)}.`;
  return { type: 'failed', code: 'checks_failed', message, retryable: false };
}

const namesOf = (results: CheckResult[]) => results.map(({ name }) => name).join(', ');

/** The parts of the message that tells of it: one for people, and one that only the model reads. */
function partsOf(failed: CheckResult[], repairs: number, most: number): StoredPart[] {
  const left = most - repairs;
  const text = [
    'The service has run the checks of this task itself, in a clean copy of your work, and these did not pass:',
    ...failed.map(inWords),
    `Find the cause and mend it; when you are done, all checks run again. That may be ${left === 1 ? 'once' : `${left} times`} in this turn.`,
    'Files that a check protects are in that copy as they were in the beginning, whatever you have made of them.',
  ].join('\n\n');
  const results = failed.map(({ name, status, exitCode, output, protectedChanged }) => ({
    ...{ name, status, exitCode, protectedChanged },
    output: endOf(output),
  }));
  return [
    { type: 'data', name: CHECKS_PART, id: newId(), data: { round: repairs, repairsLeft: left, failed: results } },
    { type: 'surroundings', text },
  ];
}

function inWords({ name, command, status, exitCode, output, protectedChanged }: CheckResult): string {
  const how = status === 'timed_out' ? 'it took too long' : exitCode === null ? 'it was ended' : `it ended with exit code ${exitCode}`; // prettier-ignore
  const kept = protectedChanged.length === 0 ? '' : `\nNot used of your changes: ${protectedChanged.join(', ')}.`;
  return `## ${name}: ${how}\n${command}\n<output>\n${endOf(output)}\n</output>${kept}`;
}

function endOf(output: string): string {
  const bytes = Buffer.from(output);
  return bytes.length <= SHOWN ? output : `…${bytes.subarray(-SHOWN).toString()}`;
}

/** The message as the model reads it: it is the service's word, and stands between the answers as one of the user does. */
export function readChecks(id: string, parts: StoredPart[]): ConversationMessage | null {
  const [first, second] = parts;
  if (first?.type !== 'data' || first.name !== CHECKS_PART || second?.type !== 'surroundings') return null;
  return { id, role: 'user', parts: [{ type: 'text', text: second.text }], invocations: [], byService: true };
}
