// The other tenant, as a process of its own: each second it creates a small task, every fifth of them with a check, each second second an automation that is due soon and
// a delivery of its provider, and it reads ten times a second. Arguments: the service's address, a key, the path and the secret of its
// connection. It tells its parent of each request and of each task that it created, when that is over.
import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** One request, as soon as it is over. */
export interface SeenRequest {
  /** `create`, `plan` or `deliver`, or what was read. */
  kind: 'create' | 'plan' | 'deliver' | 'task' | 'messages' | 'list' | 'result';
  /** When it was due, milliseconds since 1970: a request that had to wait for the one before counts from there. */
  at: number;
  ms: number;
  /** Null without an answer. */
  status: number | null;
  /** What was wrong; null for a 2xx. */
  problem: string | null;
}

/** One task, as soon as it is over. */
export interface SeenTask {
  id: string;
  at: number;
  /** From its creation to its end, by the service's own times. */
  ms: number;
  status: string;
  /** The outcomes of its commands. */
  results: string[];
  /** What became of its check; `none` of a task without one. */
  checked: string;
}

/** What its parent hears; `answered` is its word that each request which had begun when the parent asked is over. */
export type Told = { request: SeenRequest } | { task: SeenTask } | { created: string } | { answered: true };

interface Task {
  id: string;
  status: string;
  createdAt: string;
  finishedAt: string | null;
  checks: { status: string };
}

/** An address of its own, as another client has: what is counted by address is not the attacker's. */
const ADDRESS = '127.0.0.2';
const CREATE_EVERY_MS = 1000;
const PLAN_EVERY_MS = 2000;
/** From the request that makes an automation to the time at which it is due. */
const AHEAD_MS = 4000;
const READ_EVERY_MS = 100;
const PATIENCE_MS = 150_000;
/** There is nearly always one of its commands under way, to be interrupted. */
const RUNBOOK = '```bash\necho small > a.txt; sleep 0.8; cat a.txt\n```';
/** In a sandbox of its own, after that. */
const CHECK = { name: 'small', command: 'grep -x small a.txt' };
const FINAL = ['completed', 'failed', 'cancelled'];

const [url = '', secret = '', hookPath = '', hookSecret = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const open = new Set<string>();
const under = new Set<Promise<unknown>>();
let last = '';
let reads = 0;
let creates = 0;

const tell = (told: Told) => process.send?.(told);

/** Resolves with the parsed answer, null when it is none of the 2xx; either way the parent is told. */
async function ask<T>(
  kind: SeenRequest['kind'],
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<T | null> {
  const at = Date.now();
  const began = performance.now();
  const { status, text } = await exchange(method, path, body, headers).catch((error: Error) => {
    return { status: null, text: error.message };
  });
  const ok = status !== null && status >= 200 && status < 300;
  // An answer that took longer than the time ahead was late, not wrong: no wall-clock time is asserted.
  const late = kind === 'plan' && status === 400 && text.includes('schedule_in_past');
  const problem = ok || late ? null : `${method} ${path}: ${status} ${text.slice(0, 300)}`;
  tell({ request: { kind, at, ms: performance.now() - began, status, problem } });
  return ok ? (JSON.parse(text) as T) : null;
}

function exchange(
  method: string,
  path: string,
  body?: unknown,
  more: Record<string, string> = {},
): Promise<{ status: number | null; text: string }> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { Authorization: `Bearer ${secret}`, ...more };
    if (body !== undefined)
      Object.assign(headers, { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() });
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const req = request(url + path, { method, agent, headers, signal, localAddress: ADDRESS }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? null, text })).on('error', reject);
    });
    req.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function create(): Promise<void> {
  const checks = creates++ % 5 === 4 ? [CHECK] : [];
  const body = { content: RUNBOOK, model: 'runbook', checks };
  const answer = await ask<{ task: Task }>('create', 'POST', '/v1/tasks', body);
  if (answer === null) return;
  last = answer.task.id;
  open.add(last);
  tell({ created: last });
}

/** An automation that fires once, soon. */
async function plan(): Promise<void> {
  const runAt = new Date(Date.now() + AHEAD_MS).toISOString();
  await ask('plan', 'POST', '/v1/automations', { name: 'Once', content: 'Nothing to do.', model: 'runbook', runAt });
}

/** An event for the automation that the parent has made; signed as GitHub signs. */
async function deliver(): Promise<void> {
  const body = { ref: 'refs/heads/main', after: randomUUID() };
  const digest = createHmac('sha256', hookSecret).update(JSON.stringify(body)).digest('hex');
  const headers = {
    'X-GitHub-Event': 'push',
    'X-GitHub-Delivery': randomUUID(),
    'X-Hub-Signature-256': `sha256=${digest}`,
  };
  await ask('deliver', 'POST', hookPath, body, headers);
}

async function read(): Promise<void> {
  if (last === '') return;
  const [oldest = last] = open;
  switch (reads++ % 3) {
    case 0:
      return settle((await ask<{ task: Task }>('task', 'GET', `/v1/tasks/${oldest}`))?.task);
    case 1:
      return void (await ask('messages', 'GET', `/v1/tasks/${last}/messages`));
    default:
      for (const task of (await ask<{ tasks: Task[] }>('list', 'GET', '/v1/tasks?limit=50'))?.tasks ?? [])
        await settle(task);
  }
}

/** Tells of a task that is over, once. */
async function settle(task: Task | undefined): Promise<void> {
  if (task === undefined || !FINAL.includes(task.status) || !open.delete(task.id)) return;
  const { id, status, createdAt, finishedAt, checks } = task;
  const at = Date.parse(createdAt);
  const path = `/v1/tasks/${id}/messages`;
  const answer = await ask<{ messages: { parts: { type: string; status?: string }[] }[] }>('result', 'GET', path);
  const parts = answer?.messages.flatMap((message) => message.parts) ?? [];
  const results = parts.flatMap((part) => (part.type === 'tool_result' ? [part.status ?? 'none'] : []));
  tell({ task: { id, at, ms: Date.parse(finishedAt ?? createdAt) - at, status, results, checked: checks.status } });
}

/** Begins one each so many milliseconds, however long those before it take. */
async function every(ms: number, act: () => Promise<void>): Promise<never> {
  for (let due = Date.now(); ; due += ms) {
    await wait(Math.max(0, due - Date.now()));
    const acting = act();
    under.add(acting);
    void acting.finally(() => under.delete(acting));
  }
}

// The parent may be gone without a word.
process.on('disconnect', () => process.exit());
process.on('message', () => void Promise.allSettled(under).then(() => tell({ answered: true })));
void every(CREATE_EVERY_MS, create);
void every(PLAN_EVERY_MS, plan);
void every(PLAN_EVERY_MS, deliver);
void every(READ_EVERY_MS, read);
