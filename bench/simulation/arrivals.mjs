// Tasks that arrive at their own times, whether or not those before them are over: what waits, waits in the figures.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { NAME } from './parts.mjs';

/** Tasks come `perSecond` at random times, of one workspace after the other, until `stop`, which resolves with the ids of all. */
export function arrivals(origin, keys, perSecond) {
  const ids = [];
  const sending = new Set();
  const end = new AbortController();
  let failure;
  const send = async (n) => {
    const response = await fetch(`${origin}/v1/tasks`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${keys[n % keys.length]}`,
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({ title: 'A task', content: 'Write some notes.', model: NAME }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    ids.push(answer.task.id);
  };
  const coming = (async () => {
    let due = performance.now();
    for (let n = 0; !end.signal.aborted; n++) {
      // The gaps of what comes at random are so.
      due += (-Math.log(1 - Math.random()) / perSecond) * 1000;
      await delay(Math.max(0, due - performance.now()), undefined, { signal: end.signal }).catch(() => undefined);
      if (end.signal.aborted) break;
      const sent = send(n)
        .catch((error) => (failure ??= error))
        .finally(() => sending.delete(sent));
      sending.add(sent);
    }
  })();
  return async function stop() {
    end.abort();
    await coming;
    await Promise.all(sending);
    if (failure !== undefined) throw failure;
    return ids;
  };
}
