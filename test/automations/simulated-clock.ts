// A clock for schedules that a test moves: the one function that says what time it is, on a database of its own.
import type { TestDatabase } from '../harness/database.js';
import { until } from '../harness/until.js';

const WAKE = JSON.stringify({ work: { kind: 'occurrences', id: 'clock' } });

export class SimulatedClock {
  private constructor(private readonly db: TestDatabase) {}

  /** Before the workers start. Their tasks are not worked on: what is looked at is when they are made. */
  static async on(db: TestDatabase): Promise<SimulatedClock> {
    await db.query('CREATE TABLE simulated_clock (at timestamptz NOT NULL)');
    await db.query(`INSERT INTO simulated_clock VALUES ('2026-01-01T00:00:00Z')`);
    await db.query(
      `CREATE OR REPLACE FUNCTION schedule_now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT at FROM simulated_clock'`,
    );
    await db.query(
      `CREATE FUNCTION never_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.status := 'cancelled'; RETURN NEW; END $$`,
    );
    await db.query('CREATE TRIGGER never_run BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION never_run()');
    return new SimulatedClock(db);
  }

  /** Sets it and wakes the workers, as a write would. */
  async set(instant: number): Promise<void> {
    await this.db.query('UPDATE simulated_clock SET at = $1', [new Date(instant)]);
    await this.wake();
  }

  async wake(): Promise<void> {
    await this.db.query(`SELECT pg_notify('millwright', $1)`, [WAKE]);
  }

  /** Waits until nothing is due any more. */
  async settled(): Promise<void> {
    const nothingDue = async () => {
      const [row] = await this.db.query<{ due: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM automations WHERE status = 'active' AND next_run_at <= schedule_now()) AS due`,
      );
      return row?.due === false;
    };
    await until('all that is due to have fired', nothingDue, { within: 150_000, every: 10 });
  }
}
