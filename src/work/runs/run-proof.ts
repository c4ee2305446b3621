import { Readable } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import { newId } from '../../platform/database/ids.js';
import { Proofs } from '../../resources/proofs/proofs.js';
import type { ActiveRun } from './claimed-run.js';
import { FencedWrites } from './fenced-writes.js';
import { PublishedFiles } from './published-files.js';
import { FACTS, PROVEN, PROVEN_FILE } from './run-proof.sql.js';

const FILE = 'proof.json';

/** Makes the proof of what the checks of a turn have found, and keeps it (reference §26). */
@Injectable()
export class RunProof {
  private readonly logger = new Logger(RunProof.name);

  constructor(
    private readonly proofs: Proofs,
    private readonly database: Database,
    private readonly files: PublishedFiles,
    private readonly writes: FencedWrites,
  ) {}

  /** @param workdirSha256 of what the checks saw of a task without a repository. */
  async make(held: ActiveRun, result: 'passed' | 'failed', workdirSha256: string | null): Promise<void> {
    const { taskId, model } = held.run;
    const [facts] = await retryWhileUnavailable(() => this.database.work.run(FACTS({ taskId })), held.signal);
    // Deleted meanwhile: the next write tells.
    if (facts === undefined) return;
    const { repository } = facts;
    const about = { ...facts, taskId, model, result, workdirSha256: repository === null ? workdirSha256 : null };
    const envelope = await this.proofs.make({ ...about, finishedAt: new Date() });
    const bytes = Buffer.from(`${JSON.stringify(envelope)}\n`);
    const file = { id: newId(), name: FILE, size: bytes.length, content: Readable.from([bytes]) };
    const given = { result: { status: 'success' as const, output: null }, files: [file] };
    await this.files.keeping(held, given, async ({ result: stored, files, publishedBytes }) => {
      if (stored.status === 'error') this.logger.warn(`Task ${taskId} has no ${FILE}: ${stored.error}`);
      const all = { run: held.run, envelope, files, publishedBytes, limits: this.files.quota.limits };
      const written = files.length === 0 ? undefined : await this.writes.tried(held, PROVEN_FILE(all));
      if (written === undefined) await this.writes.fenced(held, PROVEN({ run: held.run, envelope }));
    });
  }
}
