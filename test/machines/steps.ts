// What the tasks of cuts.spec.ts do: a log in which each line depends on all before it, and what their histories say of it.
import { createHash } from 'node:crypto';
import type { Client } from '../harness/client.js';
import type { Answer, ChatMessage, ChatRequest } from '../harness/model-server.js';
import { numbers, SEED } from '../harness/numbers.js';
import { call, type PartBody, readMessages } from '../harness/tasks.js';

/** A task is over when its log has so many lines. */
export const LINES = 8;

export const beginning = (n: number) => `Write the log ${n}.`;
/** The number of the task that a request is about, null: it is of another story. */
export function numberOf({ messages }: ChatRequest): number | null {
  const found = messages.map((message) => /Write the log (\d+)\./.exec(JSON.stringify(message.content))?.[1]);
  const text = found.find((one) => one !== undefined);
  return text === undefined ? null : Number(text);
}

/** The number of the call that follows, from 1; null: the last result says that the log is complete. */
export function nextCall({ messages }: ChatRequest): number | null {
  const last = messages.at(-1);
  const lines = last?.role === 'tool' ? /of (\d+) lines/.exec(JSON.stringify(last.content))?.[1] : undefined;
  if (Number(lines) >= LINES) return null;
  return messages.flatMap(({ tool_calls: calls = [] }) => calls).length + 1;
}

/** Appends the number of the call and the hash of all before; the line comes at any time of the command. */
export function append(n: number, k: number): Answer {
  const random = numbers(SEED + 1000 * n + k);
  const [before, after] = [random() / 3, random() / 5].map((seconds) => seconds.toFixed(2));
  const line = `line="$k $(cat log 2>/dev/null | sha256sum | cut -c1-16)"; printf '%s\\n' "$line" >> log`;
  return call('bash', {
    command: `k=${k}; sleep ${before}; ${line}; sleep ${after}; echo "$line of $(wc -l < log) lines"`,
  });
}

/** The calls of which the agent was told that they have left no trace, word by word. */
export function toldLost(messages: ChatMessage[]): number[][] {
  const texts = messages.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content));
  return texts
    .filter((text) => text.includes('have left no trace'))
    .map((text) => [...text.matchAll(/- bash: [\\"]*k=(\d+);/g)].map(([, k]) => Number(k)));
}

export interface Told {
  restoredToStep: number;
  lostSteps: number;
}

/** What the history of a task says. */
export interface History {
  /** By the number of the call: what it printed, null where it was interrupted. */
  calls: { k: number; line: string | null }[];
  told: Told[];
}

export async function historyOf(client: Client, id: string): Promise<History> {
  const parts: PartBody[] = (await readMessages(client, id, '?limit=100')).flatMap((message) => message.parts);
  const results = new Map(parts.flatMap((part) => (part.type === 'tool_result' ? [[part.toolCallId, part]] : [])));
  const calls = parts
    .filter(({ type }) => type === 'tool_call')
    .map(({ toolCallId, input }) => {
      const { status, output } = results.get(toolCallId) ?? {};
      const k = Number(/^k=(\d+);/.exec((input as { command: string }).command)?.[1]);
      return { k, line: status === 'success' ? (output as { stdout: string }).stdout.replace(/ of .*\n/, '') : null };
    });
  const told = parts.filter(({ type, name }) => type === 'data' && name === 'workdir');
  return { calls, told: told.map(({ data }) => data as Told) };
}

/** What the folder holds, read through the service. */
export async function logOf(client: Client, id: string): Promise<string[]> {
  const listed = await client.get<{ entries: { path: string }[] }>(`/v1/tasks/${id}/workdir`);
  expect(listed.body.entries.map(({ path }) => path)).toEqual(['log']);
  const { status, text } = await client.get(`/v1/tasks/${id}/workdir/content?path=log`);
  expect(status).toBe(200);
  return text.trimEnd().split('\n');
}

/** Whether each line stands behind exactly those that were there when it was written. */
export function isUnbroken(log: string[]): boolean {
  const hash = (lines: string[]) => createHash('sha256').update(lines.map((line) => `${line}\n`).join('')).digest('hex'); // prettier-ignore
  return log.every((line, at) => line.split(' ')[1] === hash(log.slice(0, at)).slice(0, 16));
}
