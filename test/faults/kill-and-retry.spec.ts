import { CLIENTS, KeyedWrites, type Outcome } from './keyed-writes.js';
import { LONG, SEED } from '../harness/numbers.js';

/** A kill costs two seconds of booting, and on a busy machine six. */
const KILLS = LONG ? 300 : 3;

// Both sides of a commit are to be hit; one kill in two hits the far one.
const bothHit = ({ performed, replayed }: Outcome) => performed > 0 && replayed > 0;

describe(`A process killed between claim and answer, seed ${SEED} (reference §8)`, () => {
  let writes: KeyedWrites;

  beforeAll(async () => {
    writes = await KeyedWrites.start();
  }, 120_000);
  afterAll(() => writes.close(), 60_000);

  it('a client that retries until it succeeds gets one effect for each key', async () => {
    const outcome = await writes.run((so) => so.kills >= KILLS && (bothHit(so) || so.kills >= 30));
    const { keys, kills, cut } = outcome;
    const once = { tasks: keys, titles: keys, messages: keys, runs: keys, records: keys };
    expect(await writes.effects()).toEqual(once);
    expect(cut).toBe(kills * CLIENTS);
    expect(bothHit(outcome)).toBe(true);
  }, 3_600_000);
});
