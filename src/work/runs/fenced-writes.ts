import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import type { Query } from '../../platform/database/sql.js';
import { Notices } from '../../platform/notices/notices.js';
import { type ClaimedRun, FencedError, type ActiveRun } from './claimed-run.js';

/** How the statements of run-recorder.sql.ts are carried out. Who follows the task hears of each. */
@Injectable()
export class FencedWrites {
  /** How often a run's write without windows of usage and without steering was refused, one after the other. */
  private readonly refused = new WeakMap<ClaimedRun, number>();

  constructor(
    private readonly database: Database,
    private readonly notices: Notices,
  ) {}

  /** Waits for the task in slices: between them its connection serves the runs whose tasks nobody has locked. */
  async tried<Row>({ run, signal }: ActiveRun, query: Query<Row>): Promise<Row | undefined> {
    let rows: Row[] | null;
    while ((rows = await this.slice(query, signal)) === null) signal.throwIfAborted();
    if (rows.length > 0) this.notices.send({ tasks: [run.taskId] });
    return rows[0];
  }

  /**
   * `free` writes nothing when the workspace has windows of usage, when a message waits to steer, or when the run is not ours. After two
   * refusals one after the other it has windows, and is not asked again.
   */
  async freely<Row>(held: ActiveRun, free: Query<Row>, whole: Query<Row>): Promise<Row> {
    const refused = this.refused.get(held.run) ?? 0;
    if (refused < 2) {
      const row = await this.tried(held, free);
      if (row !== undefined) {
        if (refused > 0) this.refused.delete(held.run);
        return row;
      }
      this.refused.set(held.run, refused + 1);
    }
    return this.fenced(held, whole);
  }

  /** As {@link fenced}, for what stands in the log of the workspace too: the status of the task, and what it waits for. */
  async fencedInLog<Row>(held: ActiveRun, query: Query<Row>): Promise<Row> {
    const row = await this.fenced(held, query);
    this.tell(held);
    return row;
  }

  /** There is news in the log of the workspace. */
  tell({ run }: ActiveRun): void {
    this.notices.send({ workspace: run.workspaceId });
  }

  /** Throws {@link FencedError} when the statement writes nothing. */
  async fenced<Row>(held: ActiveRun, query: Query<Row>): Promise<Row> {
    const row = await this.tried(held, query);
    if (row === undefined) throw new FencedError(held.run);
    return row;
  }

  /** Null when the task was locked all the time. */
  private async slice<Row>(query: Query<Row>, signal: AbortSignal): Promise<Row[] | null> {
    // Not `run` of the pool: it closes the connection after any error, a lock that was not had in time too, and a write that
    // asks again on a new one overtakes those that wait. A statement that was sent may be committed whatever the error says:
    // the executor then lets the run go, and a worker loads it again.
    const client = await retryWhileUnavailable(() => this.database.work.connect(), signal);
    let broken = false;
    try {
      return query.rowsOf(await client.query(query));
    } catch (error) {
      broken = !isLockTimeout(error);
      if (broken) throw error;
      return null;
    } finally {
      client.release(broken);
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  return (error as { code?: string }).code === '55P03';
}
