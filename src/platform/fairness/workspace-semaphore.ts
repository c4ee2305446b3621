import { KeyedSemaphore } from './keyed-semaphore.js';

/** Permits of this process, of which one workspace gets fewer than there are: what one does cannot stop another. */
export class WorkspaceSemaphore {
  private readonly ofWorkspace: KeyedSemaphore;
  private readonly all: KeyedSemaphore;

  /** @param shares permits of all workspaces together, and of one. */
  constructor({ atOnce, ofWorkspace }: { atOnce: number; ofWorkspace: number }) {
    this.ofWorkspace = new KeyedSemaphore(ofWorkspace);
    this.all = new KeyedSemaphore(atOnce);
  }

  /** Resolves with a function that releases the permit; it is called once. Rejects with the reason of the signal. */
  async acquire(workspaceId: string, signal: AbortSignal): Promise<() => void> {
    // The one of the workspace first: who waits for that takes none of the others'.
    const releaseOwn = await this.ofWorkspace.acquire(workspaceId, signal);
    try {
      const release = await this.all.acquire('', signal);
      return () => {
        release();
        releaseOwn();
      };
    } catch (error) {
      releaseOwn();
      throw error;
    }
  }
}
