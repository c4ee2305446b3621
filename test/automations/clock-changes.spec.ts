// Each occurrence fires exactly once, whatever clocks do and whichever worker dies (reference §12).
import { bootApp, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { type Period, periods, Simulation } from './simulation.js';
import { SimulatedClock } from './simulated-clock.js';
import { Workers } from './workers.js';

const LONG = process.env['MILLWRIGHT_LONG'] !== undefined;
const ZONES = ['America/New_York', 'Australia/Lord_Howe', 'Europe/Berlin', 'Africa/Casablanca', 'America/Santiago', 'Pacific/Auckland']; // prettier-ignore
const zones = LONG ? ZONES : ZONES.slice(0, 2);
const size = LONG ? { automations: 1000, before: 6, after: 18 } : { automations: 48, before: 1, after: 2 };

const LIMIT_MS = LONG ? 3_600_000 : 120_000;

/** A database of its own with a clock of its own, three workers and the schedules. */
function useSimulation() {
  let db: TestDatabase;
  let workers: Workers | undefined;
  const made: { simulation?: Simulation } = {};
  const service = useService(async () => {
    db = await createDatabase();
    return bootApp({ db });
  });
  beforeAll(async () => {
    const clock = await SimulatedClock.on(db);
    workers = await Workers.start(db, 3);
    made.simulation = new Simulation(db, clock, workers);
    await made.simulation.make(await makeMember(service), zones, size.automations);
  }, LIMIT_MS);
  afterAll(async () => {
    await workers?.close();
  });
  return {
    run: (period: Period) => made.simulation?.run(period),
    query: (sql: string) => db.query(sql),
  };
}

const all = periods(zones, size.before, size.after);

describe('over the days on which clocks change, with a worker killed each hour', () => {
  const simulation = useSimulation();

  it.each(all.map((period) => [new Date(period.from).toISOString(), period] as const))(
    'from %s each occurrence fires exactly once',
    async (_name, period) => {
      const verdict = await simulation.run(period);
      expect(verdict).toEqual({ ...verdict, missing: [], unexpected: [], doubled: [], withoutTask: 0 });
      expect(verdict?.expected).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  it(
    'without the unique key of the runs the same finds occurrences that fired twice',
    async () => {
      await simulation.query('DROP INDEX automation_runs_occurrence');
      const [period] = all;
      if (period === undefined) throw new Error('No clock changes.');
      const verdict = await simulation.run(period);
      expect(verdict?.doubled.length).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
