import { LONG, SEED } from '../harness/numbers.js';
import { until } from '../harness/until.js';
import { Fuzzer } from './fuzzer.js';
import {
  bytesAfterCleaning,
  calm,
  connections,
  descriptors,
  halfWritten,
  openTransactions,
  orphanedWorkdirs,
} from './residue.js';
import { World } from './world.js';

const REQUESTS = Number(process.env['MILLWRIGHT_FUZZ_REQUESTS'] ?? (LONG ? 200_000 : 14_000));
/** So many bring the service to its usual number of connections. */
const WARM_UP = Math.min(2_000, REQUESTS / 10);
/** Two cores answer some 300 a second, those of a busy machine 10. Milliseconds. */
const TIME = 600_000 + REQUESTS * 35;

describe(`Generated requests (seed ${SEED})`, () => {
  let world: World;
  let fuzzer: Fuzzer;
  let before: Record<string, number>;
  /** Connections of the set-up, which are kept for a while. */
  let idle: number;

  beforeAll(async () => {
    world = await World.make();
    fuzzer = await Fuzzer.make(world, SEED);
    idle = connections(world);
  });
  // Undefined when it could not be made.
  afterAll(() => (world as World | undefined)?.close());

  it(
    `${REQUESTS} are answered as the document says, none with a fault of the service, none too late`,
    async () => {
      await fuzzer.run(WARM_UP);
      await calm(world, idle);
      before = await descriptors(world);
      await fuzzer.run(REQUESTS - WARM_UP);
    },
    TIME,
  );

  it('the service still answers, and has logged no error', async () => {
    await calm(world, idle);
    expect((await fetch(`${world.service.url}/health/ready`)).status).toBe(200);
    expect(world.service.ended).toBe(false);
    const lines = world.service.log.split('\n').filter((line) => line !== '');
    expect(lines.filter((line) => !/"level":(30|40)/.test(line))).toEqual([]);
  });

  it('it has no more open than before: no file, socket or pipe', async () => {
    // Read again until it fits: a connection to the database that is made between the two readings looks like one more.
    let more: [string, number][] | null = null;
    const closed = async () => {
      more = Object.entries(await descriptors(world)).filter(([kind, count]) => count > (before[kind] ?? 0));
      return more.length === 0;
    };
    // The last command's pipes are closed a moment after its task is over.
    await until('all to be closed', closed).catch(() => undefined);
    expect(more).toEqual([]);
  });

  it('no transaction is open, and nobody waits for a lock', async () => {
    let open: object[] = [];
    // Again and again: a chore has one for a moment, and between two of its statements it is idle.
    const over = async () => (open = await openTransactions(world)).length === 0;
    await until('all to be over', over, { within: 5_000 }).catch(() => undefined);
    expect(open).toEqual([]);
  });

  it('every operation was carried out, and a good share of all requests', () => {
    const { statistics, operationNames } = fuzzer;
    process.stderr.write(`${statistics.table}\nCarried out: ${Math.round(statistics.share * 100)} %\n`);
    // Nothing that is generated is signed, is the address of a repository, waits until a build is made, or begins a command that goes on.
    const outside = [
      'POST /hooks/{connectionId}',
      'GET /v1/repositories/branches',
      'POST /v1/environments/{slug}/test',
      'POST /v1/tasks/{taskId}/commands/{commandId}/stop',
      // Nothing is sold here.
      'POST /v1/billing/checkout',
      'POST /v1/billing/portal',
    ];
    expect(operationNames.filter((name) => !statistics.fulfilled(name) && !outside.includes(name))).toEqual([]);
    expect(statistics.share).toBeGreaterThan(0.4);
  });

  it('tasks asked in every way, and were answered in every way', async () => {
    const answered = await world.db.query<{ answer: string }>(
      `SELECT DISTINCT concat_ws(' ', type, decision) AS answer FROM interactions WHERE status = 'answered' ORDER BY 1`,
    );
    const all = ['approval approve', 'approval deny', 'choice', 'question'];
    expect(answered.map(({ answer }) => answer)).toEqual(all);
  });

  it('no file is left that the database does not know', async () => {
    expect(await halfWritten(world)).toEqual([]);
    expect(await orphanedWorkdirs(world)).toEqual([]);
    expect(await world.service.end()).toBe(0);
    const { stored, known } = await bytesAfterCleaning(world);
    expect(stored).toEqual(known);
  });
});
