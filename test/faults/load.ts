// Sends orders as a client that does not give up: one key each, the same key again until there is an answer.
import { setTimeout as wait } from 'node:timers/promises';
import type { Order } from './orders.js';
import type { World } from './world.js';

export interface Accepted {
  order: Order;
  id: string;
}

/** An answer that is none: the request is worth another try. */
export interface Refusal {
  method: string;
  /** Null when the connection ended without an answer. */
  status: number | null;
  /** `error.code`, where there is one. */
  code?: string | undefined;
  retryAfter?: string | null;
}

/** How long a client tries one order again. Milliseconds. */
const PATIENCE = 60_000;

/** @param refusals is given every one of them, but for a 409: the same key is still at work elsewhere. */
export async function send(world: World, orders: Order[], clients = 8, refusals: Refusal[] = []): Promise<Accepted[]> {
  const accepted: Accepted[] = [];
  const left = orders.values();
  const client = async () => {
    for (const order of left) accepted.push({ order, id: await place(world, order, refusals) });
  };
  await Promise.all(Array.from({ length: clients }, client));
  return accepted;
}

/** Reads the tasks again and again until the signal, as a page that somebody looks at. */
export async function watch(world: World, signal: AbortSignal, refusals: Refusal[]): Promise<void> {
  for (; !signal.aborted; await wait(20)) await ask(world, 'GET', '/v1/tasks?limit=5', {}, refusals);
}

async function place(world: World, { key, body }: Order, refusals: Refusal[]): Promise<string> {
  const init = { headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key }, body: JSON.stringify(body) };
  for (const deadline = Date.now() + PATIENCE; ; await wait(50)) {
    const text = await ask(world, 'POST', '/v1/tasks', init, refusals);
    if (text !== null) return (JSON.parse(text) as { task: { id: string } }).task.id;
    if (Date.now() > deadline) throw new Error(`${key} was not accepted within ${PATIENCE} ms.\n${world.log}`);
  }
}

/** What a success brings; null when it is worth another try. */
async function ask(
  world: World,
  method: string,
  path: string,
  init: { headers?: Record<string, string>; body?: string },
  refusals: Refusal[],
): Promise<string | null> {
  const headers = { Authorization: `Bearer ${world.secret}`, ...init.headers };
  const response = await fetch(world.api.url + path, { ...init, method, headers }).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (response === null || text === null || text === undefined) {
    refusals.push({ method, status: null });
    return null;
  }
  const { status } = response;
  if (response.ok) return text;
  if (status !== 409 && status < 500) throw new Error(`${status}: ${text}`);
  const { error } = JSON.parse(text) as { error?: { code?: string } };
  if (status !== 409)
    refusals.push({ method, status, code: error?.code, retryAfter: response.headers.get('retry-after') });
  return null;
}
