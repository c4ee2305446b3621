import type { Readable } from 'node:stream';
import type { Metrics } from '../../platform/metrics/metrics.js';
import { type OpenedFile, type RunOptions, type RunResult, SandboxSession, type WriteOptions } from './sandbox.js';

/** A session of any driver, with its commands counted. */
export class MeteredSession extends SandboxSession {
  constructor(
    private readonly session: SandboxSession,
    private readonly metrics: Metrics,
  ) {
    super();
  }

  async run(command: string, options?: RunOptions): Promise<RunResult> {
    let outcome = 'failed';
    try {
      const result = await this.session.run(command, options);
      outcome = result.killed ?? 'ended';
      return result;
    } finally {
      this.metrics.sandboxStarts.inc({ outcome });
    }
  }

  readFile(path: string): Promise<OpenedFile> {
    return this.session.readFile(path);
  }

  writeFile(path: string, content: string | Buffer | Readable, options?: WriteOptions): Promise<void> {
    return this.session.writeFile(path, content, options);
  }

  override get workdirBytes(): number | null {
    return this.session.workdirBytes;
  }

  close(): Promise<void> {
    return this.session.close();
  }
}
