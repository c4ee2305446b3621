import { CLIENTS, KeyedWrites, type Outcome } from './keyed-writes.js';
import { LONG, SEED } from '../harness/numbers.js';
import { report } from './report.js';

/** A kill costs two seconds of booting, and on a busy machine six. */
const KILLS = LONG ? 300 : 3;

/** More than are answered in that many kills in CI; clients go on without afterwards. */
const QUESTIONS = LONG ? 2_000 : 30;

// Both sides of a commit are to be hit; one kill in two hits the far one.
const bothHit = ({ performed, replayed }: Outcome) => performed > 0 && replayed > 0;

describe(`A process killed between claim and answer, seed ${SEED} (reference §8)`, () => {
  let writes: KeyedWrites;

  beforeAll(async () => {
    writes = await KeyedWrites.start(QUESTIONS);
  });
  afterAll(() => writes.close(), 60_000);

  it('a client that retries until it succeeds gets one effect for each key', async () => {
    const outcome = await writes.run((so) => so.kills >= KILLS && (bothHit(so) || so.kills >= 30));
    const { keys, kills, cut, created, sent, answered } = outcome;
    report(`${kills} kills under keyed writes`, { ...outcome });
    const once = { created, sent, answered, keys, records: keys };
    expect(await writes.effects()).toEqual({ ...once, messages: created + sent, runs: created + answered });
    // No act without its row in the audit log, and no row without its act.
    expect(await writes.audited()).toEqual({ created, sent, answered, strays: 0, broken: 0 });
    expect(Math.min(created, sent, answered)).toBeGreaterThan(0);
    expect(cut).toBe(kills * CLIENTS);
    expect(bothHit(outcome)).toBe(true);
  }, 3_600_000);
});
