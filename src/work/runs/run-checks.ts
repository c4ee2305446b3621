import { Readable } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import type { PublishedFile } from '../../engine/agent/agent-tool.js';
import { isPassing } from '../../platform/database/database-errors.js';
import { Database } from '../../platform/database/database.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import { newId } from '../../platform/database/ids.js';
import { Proofs } from '../../resources/proofs/proofs.js';
import type { ActiveRun } from './claimed-run.js';
import { FencedWrites } from './fenced-writes.js';
import { PublishedFiles } from './published-files.js';
import { checkQuery, ENDED, ENDED_FILE, type CheckEvent } from './run-checks.sql.js';
import { FACTS, PROVEN, PROVEN_FILE } from './run-proof.sql.js';
import type { Written } from './run-recorder.sql.js';

const FILE = 'proof.json';

/** Records the checks of a turn, and makes the proof of what they have found (reference §26). */
@Injectable()
export class RunChecks {
  private readonly logger = new Logger(RunChecks.name);

  constructor(
    private readonly proofs: Proofs,
    private readonly database: Database,
    private readonly files: PublishedFiles,
    private readonly writes: FencedWrites,
  ) {}

  /** A turn whose checks are over for good has its proof then. Throws as the recorder does. */
  async record(held: ActiveRun, event: CheckEvent<'check' | 'checked' | 'checks'>): Promise<Written> {
    if (event.type === 'checked') return this.ended(held, event);
    const written = await this.writes.fencedInLog(held, checkQuery(held.run, event));
    if (event.type !== 'checks' || event.told !== null || event.status === 'error') return written;
    await this.prove(held, event.status, event);
    return written;
  }

  /** Without room for all of its output, the end of that has to do. */
  private async ended(held: ActiveRun, { phase, round, result, whole }: CheckEvent<'checked'>): Promise<Written> {
    const { protect, protectedChanged } = result;
    const about = { run: held.run, phase, round, result, protect, protectedChanged };
    const { limits } = this.files.quota;
    const withFile = (file: PublishedFile) =>
      this.files.own(held, file, (stored) => this.writes.tried(held, ENDED_FILE({ ...about, ...stored, limits })));
    const kept = whole === null ? undefined : await withFile(whole);
    if (kept === undefined) return this.writes.fencedInLog(held, ENDED(about));
    this.writes.tell(held);
    return kept;
  }

  private async prove(
    held: ActiveRun,
    result: 'passed' | 'failed',
    { names, workdirSha256, patchSha256 }: CheckEvent<'checks'>,
  ): Promise<void> {
    const { taskId, model } = held.run;
    const [facts] = await retryWhileUnavailable(() => this.database.work.run(FACTS({ taskId })), held.signal);
    // Deleted meanwhile: the next write tells.
    if (facts === undefined) return;
    const { repository } = facts;
    const about = {
      ...facts,
      taskId,
      model,
      result,
      names,
      patchSha256,
      workdirSha256: repository === null ? workdirSha256 : null,
    };
    const envelope = await this.proofs.make({ ...about, finishedAt: new Date() }).catch((error: unknown) => {
      if (isPassing(error)) throw error;
      // A turn whose checks were changed under way may have facts that contradict each other: it ends all the same.
      this.logger.error(`Task ${taskId} has no proof: ${String(error)}`);
      return null;
    });
    if (envelope === null) return;
    const bytes = Buffer.from(`${JSON.stringify(envelope)}\n`);
    const file = { id: newId(), name: FILE, size: bytes.length, content: Readable.from([bytes]) };
    const { limits } = this.files.quota;
    const written = await this.files.own(held, file, (stored) =>
      this.writes.tried(held, PROVEN_FILE({ run: held.run, envelope, ...stored, limits })),
    );
    if (written === undefined) await this.writes.fenced(held, PROVEN({ run: held.run, envelope }));
  }
}
