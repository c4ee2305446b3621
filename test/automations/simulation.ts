// Lets schedules go over the days on which clocks change, while workers are killed, and compares what fired with a list that knows nothing
// of the service.
import type { Member } from '../harness/client.js';
import type { TestDatabase } from '../harness/database.js';
import { plan } from '../harness/automations.js';
import { nextRun } from '../../src/resources/automations/schedule.js';
import { clockChanges, ZoneMinutes } from './expected.js';
import type { SimulatedClock } from './simulated-clock.js';
import type { Workers } from './workers.js';

const HOUR = 3_600_000;
const CRONS = [
  '0 * * * *',
  '*/30 * * * *',
  '15 */2 * * *',
  '30 2 * * *',
  '30 1 * * *',
  '45 1 * * *',
  '0,30 2 * * *',
  '5 0 * * *',
  '10 2 * * 0',
  '0 9 * * 1-5',
  '0 0 1 * *',
  '0 0 29 2 *',
];

export interface Period {
  from: number;
  until: number;
}

interface Schedule {
  id: string;
  cron: string;
  zone: string;
}

export interface Verdict {
  expected: number;
  missing: string[];
  unexpected: string[];
  doubled: string[];
  /** Runs without exactly one task. */
  withoutTask: number;
}

/** The clock changes of zones in 2026, oldest first, each with some hours before and after. */
export function periods(zones: readonly string[], before: number, after: number): Period[] {
  const changes = zones.flatMap((zone) => clockChanges(zone, 2026));
  return [...new Set(changes)]
    .sort((a, b) => a - b)
    .map((at) => ({ from: at - before * HOUR, until: at + after * HOUR }));
}

export class Simulation {
  private schedules: Schedule[] = [];
  private killed = 0;

  constructor(
    private readonly db: TestDatabase,
    private readonly clock: SimulatedClock,
    private readonly workers: Workers,
  ) {}

  async make(owner: Member, zones: readonly string[], count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const cron = CRONS[n % CRONS.length] ?? '';
      const zone = zones[Math.floor(n / CRONS.length) % zones.length] ?? '';
      const given = { cron, timezone: zone, overlap: 'allow', dueIn: null } as const;
      this.schedules.push({ id: await plan(this.db, owner, given), cron, zone });
    }
  }

  /**
   * Goes through a period. At each hour a process with a slow clock plans one automation again that has just fired, and a worker is
   * killed while it fires.
   */
  async run(period: Period): Promise<Verdict> {
    // Nothing is planned while the clock jumps.
    await this.db.query('UPDATE automations SET next_run_at = NULL');
    await this.clock.set(period.from);
    await this.db.query('DELETE FROM automation_runs');
    const expected = this.expected(period);
    await this.planAll(period.from);
    const instants = [...new Set([...expected.values()].flat())].sort((a, b) => a - b);
    let hour = Math.floor(period.from / HOUR);
    for (const instant of [...instants, period.until]) {
      await this.clock.set(instant);
      if (Math.floor(instant / HOUR) > hour) {
        hour = Math.floor(instant / HOUR);
        await this.workers.killAndReplace(this.killed++ % this.workers.processes.length);
        await this.clock.wake();
      }
      await this.clock.settled();
      await this.planAgain(instant);
      await this.clock.settled();
    }
    return this.compare(expected);
  }

  private expected({ from, until }: Period): Map<string, number[]> {
    const zones = new Map([...new Set(this.schedules.map(({ zone }) => zone))].map((zone) => [zone, new ZoneMinutes(zone, from, until)])); // prettier-ignore
    const known = new Map<string, number[]>();
    const list = ({ cron, zone }: Schedule) => {
      const key = `${zone} ${cron}`;
      const found = known.get(key) ?? zones.get(zone)?.occurrences(cron) ?? [];
      known.set(key, found);
      return found;
    };
    return new Map(this.schedules.map((one) => [one.id, list(one)]));
  }

  /** As a resume at the beginning of the period does. */
  private async planAll(from: number): Promise<void> {
    const times = this.schedules.map(({ cron, zone }) => nextRun(cron, zone, new Date(from)));
    await this.db.query(
      `UPDATE automations a SET next_run_at = p.at FROM unnest($1::uuid[], $2::timestamptz[]) AS p(id, at) WHERE a.id = p.id`,
      [this.schedules.map(({ id }) => id), times],
    );
  }

  private async planAgain(instant: number): Promise<void> {
    await this.db.query(
      `UPDATE automations SET next_run_at = $1
       WHERE id = (SELECT automation_id FROM automation_runs WHERE scheduled_at = $1 ORDER BY automation_id LIMIT 1)`,
      [new Date(instant)],
    );
    await this.clock.wake();
  }

  private async compare(expected: Map<string, number[]>): Promise<Verdict> {
    const rows = await this.db.query<{ id: string; at: Date; status: string; tasks: number }>(
      `SELECT automation_id AS id, scheduled_at AS at, status,
         (SELECT count(*)::int FROM tasks t WHERE t.automation_run_id = r.id AND t.id = r.task_id) AS tasks
       FROM automation_runs r`,
    );
    const named = (id: string, at: number) => {
      const { cron, zone } = this.schedules.find((one) => one.id === id) ?? {};
      return `${cron} ${zone} ${new Date(at).toISOString()}`;
    };
    const found = new Map<string, Map<number, number>>();
    for (const { id, at, status } of rows) {
      const times = found.get(id) ?? new Map<number, number>();
      if (status === 'started') times.set(at.getTime(), (times.get(at.getTime()) ?? 0) + 1);
      found.set(id, times);
    }
    const verdict: Verdict = { expected: 0, missing: [], unexpected: [], doubled: [], withoutTask: 0 };
    for (const [id, times] of expected) {
      const fired = found.get(id) ?? new Map<number, number>();
      verdict.expected += times.length;
      for (const at of times) if (!fired.has(at)) verdict.missing.push(named(id, at));
      for (const [at, count] of fired) {
        if (!times.includes(at)) verdict.unexpected.push(named(id, at));
        if (count > 1) verdict.doubled.push(named(id, at));
      }
    }
    verdict.withoutTask = rows.filter(({ status, tasks }) => status === 'started' && tasks !== 1).length;
    return verdict;
  }
}
