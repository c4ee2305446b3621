// Sends orders as a client that does not give up: one key each, the same key again until there is an answer.
import { setTimeout as wait } from 'node:timers/promises';
import type { Order } from './orders.js';
import type { World } from './world.js';

export interface Accepted {
  order: Order;
  id: string;
}

/** How long a client tries one order again. Milliseconds. */
const PATIENCE = 60_000;

export async function send(world: World, orders: Order[], clients = 8): Promise<Accepted[]> {
  const accepted: Accepted[] = [];
  const left = orders.values();
  const client = async () => {
    for (const order of left) accepted.push({ order, id: await place(world, order) });
  };
  await Promise.all(Array.from({ length: clients }, client));
  return accepted;
}

async function place(world: World, order: Order): Promise<string> {
  for (const deadline = Date.now() + PATIENCE; ; await wait(50)) {
    const answer = await attempt(world, order);
    if (answer !== null) return answer;
    if (Date.now() > deadline) throw new Error(`${order.key} was not accepted within ${PATIENCE} ms.\n${world.log}`);
  }
}

/** Null when it is worth another try. */
async function attempt(world: World, { key, body }: Order): Promise<string | null> {
  const headers = {
    Authorization: `Bearer ${world.secret}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': key,
  };
  const url = `${world.api.url}/v1/tasks`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (response === null || text === null || text === undefined) return null;
  if (response.status === 201) return (JSON.parse(text) as { task: { id: string } }).task.id;
  // 409: the same key is still at work elsewhere.
  if (response.status >= 500 || response.status === 409) return null;
  throw new Error(`${response.status}: ${text}`);
}
