import { setImmediate as turn } from 'node:timers/promises';
import { InFlight } from './in-flight.js';
import { type Answer, inProgress, type KeyedRequest } from './keyed-request.js';

const request = (key: string, body = 'a'): KeyedRequest => ({
  workspaceId: 'w',
  userId: 'u',
  method: 'POST',
  path: '/v1/tasks',
  key,
  fingerprint: Buffer.from(body),
});
const answer: Answer = { status: 201, body: '{}', location: '/v1/tasks/1', replayed: false };

/** A piece of work that ends when it is told to. */
function work() {
  let begun = 0;
  let end: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  return {
    begun: () => begun,
    succeed: () => end?.resolve(answer),
    fail: (error: Error) => end?.reject(error),
    perform: () => {
      begun++;
      return new Promise<Answer>((resolve, reject) => (end = { resolve, reject }));
    },
  };
}

describe('InFlight', () => {
  it('performs once, and gives those that waited the same answer as a replay', async () => {
    const [flight, one] = [new InFlight(), work()];
    const all = [1, 2, 3].map(() => flight.once(request('k'), one.perform));
    one.succeed();
    expect(await Promise.all(all)).toEqual([answer, { ...answer, replayed: true }, { ...answer, replayed: true }]);
    expect(one.begun()).toBe(1);
  });

  it('another body is a conflict once the first has succeeded', async () => {
    const [flight, one] = [new InFlight(), work()];
    const first = flight.once(request('k'), one.perform);
    const other = flight.once(request('k', 'b'), one.perform);
    one.succeed();
    await first;
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  it('other keys do not wait', async () => {
    const [flight, one, two] = [new InFlight(), work(), work()];
    const first = flight.once(request('k'), one.perform);
    const second = flight.once(request('l'), two.perform);
    two.succeed();
    expect(await second).toEqual(answer);
    one.succeed();
    await first;
  });

  it('when the first fails, those that waited perform one after another', async () => {
    const [flight, one] = [new InFlight(), work()];
    const all = [1, 2, 3].map(() => flight.once(request('k'), one.perform));
    one.fail(new Error('one'));
    await expect(all[0]).rejects.toThrow('one');
    await turn();
    expect(one.begun()).toBe(2);
    one.succeed();
    expect(await Promise.all(all.slice(1))).toEqual([answer, { ...answer, replayed: true }]);
  });

  it('what another process performs is in progress for all that waited', async () => {
    const [flight, one] = [new InFlight(), work()];
    const all = [1, 2].map(() => flight.once(request('k'), one.perform));
    one.fail(inProgress());
    for (const waiting of all) await expect(waiting).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    expect(one.begun()).toBe(1);
  });
});
