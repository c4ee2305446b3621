import { Injectable } from '@nestjs/common';
import { plansOf } from '../../platform/config/config-file.js';
import { Env } from '../../platform/config/env.js';
import { Database } from '../../platform/database/database.js';
import type { Query } from '../../platform/database/sql.js';
import { Notices, RUNS } from '../../platform/notices/notices.js';
import { type UsageRules, usageRulesOf } from '../../resources/billing/usage.sql.js';
import { Machine } from '../machines/machine.js';
import type { ClaimedRun } from './claimed-run.js';
import {
  CLAIM,
  EXPIRED,
  HAND_BACK,
  END_LEASE,
  IS_LEFT,
  QUEUED,
  type QueuedRun,
  RECOVER,
  type Renewal,
  RENEW,
} from './run-claims.sql.js';

/** A kept place is a claim under this cap: its workspace has no running task, in any worker. */
const FIRST = { freeCap: 1, paidCap: 1 };

/** Who holds a run: claim, lease, hand back, recover. */
@Injectable()
export class RunClaims {
  private readonly leaseSeconds: number;
  /** How many runs a workspace of each plan may have running. */
  private readonly caps: { freeCap: number; paidCap: number };
  private readonly rules: UsageRules;
  /** How long a statement may take, in milliseconds: a beat or a look that hangs must not outlive the lease. */
  private readonly limitMs: number;

  constructor(
    private readonly database: Database,
    private readonly notices: Notices,
    private readonly machine: Machine,
    env: Env,
  ) {
    const { free, paid } = plansOf(env.file);
    this.caps = { freeCap: free.runningTasks, paidCap: paid.runningTasks };
    this.rules = usageRulesOf(env.file);
    this.leaseSeconds = env.variables.LEASE_SECONDS;
    this.limitMs = (this.leaseSeconds * 1000) / 3;
  }

  /**
   * Takes a queued run for this process; null when it is not to be had, or its workspace is at its cap. One statement.
   * @param which `first` takes it only for a workspace without a running task.
   */
  async claim(runId: string, which: 'any' | 'first' = 'any'): Promise<ClaimedRun | null> {
    const claim = CLAIM({
      runId,
      machineId: this.machine.id,
      leaseSeconds: this.leaseSeconds,
      rules: this.rules,
      ...(which === 'any' ? this.caps : FIRST),
    });
    const [row] = await this.database.claims.run(claim, this.limitMs);
    if (row === undefined) return null;
    this.notices.send({ tasks: [row.taskId], workspace: row.workspaceId });
    return { runId, ...row };
  }

  /** Whether a run waits for another machine. */
  async isLeft(runId: string): Promise<boolean> {
    const left = IS_LEFT({ runId, machineId: this.machine.id, leaseSeconds: this.leaseSeconds });
    return (await this.look(left)).length > 0;
  }

  /** Renews the leases of all held runs in one statement; returns those that are still held, by id. */
  async renew(runs: ClaimedRun[]): Promise<Map<string, Renewal>> {
    const held = { runIds: runs.map((run) => run.runId), epochs: runs.map((run) => run.epoch) };
    const renew = RENEW({ ...held, leaseSeconds: this.leaseSeconds });
    const rows = await this.database.leases.run(renew, this.limitMs);
    return new Map(rows.map(({ id, ...found }) => [id, found]));
  }

  /**
   * Puts it back into the queue and tells another worker at once, with Redis too by a notice: a job may be brought to any
   * worker, the one that stops included. The channel is closed after everything that is handed back. The run of a paused task is put aside.
   */
  async handBack({ taskId, workspaceId, runId, epoch }: ClaimedRun): Promise<void> {
    await this.look(HAND_BACK({ taskId, runId, epoch }));
    this.notices.send({ tasks: [taskId], workspace: workspaceId });
    this.notices.passOn({ work: { kind: RUNS, id: runId } });
  }

  /** Ends the lease at once, after an error that will pass. */
  async endLease({ runId, epoch }: ClaimedRun): Promise<void> {
    await this.look(END_LEASE({ runId, epoch }));
  }

  /** Puts runs whose lease has run out back into the queue; the sixth time in a row they fail. Returns their ids. */
  async recoverExpired(): Promise<string[]> {
    const recovered: string[] = [];
    for (const { id } of await this.look(EXPIRED())) {
      if ((await this.look(RECOVER({ runId: id }))).length > 0) recovered.push(id);
    }
    return recovered;
  }

  /**
   * The queued runs that are to start next, of workspaces below their cap: at most `limit`, in fair order.
   * @param open how many places are for every workspace; the others are for workspaces without a running task.
   * @param claiming runs that are being claimed: they are left out, and count as running.
   */
  queued(limit: number, open: number, claiming: string[]): Promise<QueuedRun[]> {
    return this.look(
      QUEUED({ leaseSeconds: this.leaseSeconds, limit, open, claiming, machineId: this.machine.id, ...this.caps }),
    );
  }

  private look<Row>(query: Query<Row>): Promise<Row[]> {
    return this.database.polling.run(query, this.limitMs);
  }
}
