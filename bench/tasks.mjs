// Tasks from the create to their end. The end is looked for in the database, so that polling costs the service nothing.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 2;
const PATIENCE_MS = 60_000;

/** One look each two milliseconds for all tasks that are waited for. */
class Ends {
  #waiting = new Map();
  #looking = false;

  constructor(db, table) {
    this.db = db;
    this.text = `SELECT id, status FROM ${table} WHERE id = ANY($1) AND status IN ('completed', 'failed', 'cancelled')`;
  }

  of(id) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, until: performance.now() + PATIENCE_MS });
      if (!this.#looking) void this.#look();
    });
  }

  async #look() {
    this.#looking = true;
    while (this.#waiting.size > 0) {
      const { rows } = await this.db.query({
        name: this.text.slice(0, 40),
        text: this.text,
        values: [[...this.#waiting.keys()]],
      });
      for (const { id, status } of rows) {
        const { resolve, reject } = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (status === 'completed') resolve();
        else reject(new Error(`Task ${id} ended as ${status}.`));
      }
      for (const [id, { reject, until }] of this.#waiting) {
        if (performance.now() > until) reject(new Error(`Task ${id} did not end.`));
      }
      await delay(POLL_MS);
    }
    this.#looking = false;
  }
}

/** What takes tasks: the service, or the floor. `perform(content)` creates one and resolves with its id at its end. `model`: another one than the default. */
export function taker(world, origin, { floor = false, model } = {}) {
  const ends = new Ends(world.db, floor ? 'floor.tasks' : 'tasks');
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${world.key}` };
  return async function perform(content) {
    const given = { ...headers, 'idempotency-key': randomUUID() };
    const response = await fetch(`${origin}${floor ? '/tasks' : '/v1/tasks'}`, {
      method: 'POST',
      headers: given,
      // With a title of its own: else the model is asked for one.
      body: JSON.stringify({ title: 'A task', content, model }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    const { id } = floor ? answer : answer.task;
    await ends.of(id);
    return id;
  };
}

/** Performs `count` tasks, `atOnce` of them at a time. Resolves with the milliseconds of each and of all. */
export async function many(perform, count, atOnce, content) {
  const each = [];
  const ids = [];
  const began = performance.now();
  let left = count;
  const one = async () => {
    while (left-- > 0) {
      const start = performance.now();
      ids.push(await perform(content));
      each.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return { each, ids, wall: performance.now() - began };
}
