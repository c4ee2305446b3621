// How the files of one workspace share a process with all others.

/** Pieces of files of one workspace that a process takes in at once. */
const AT_ONCE = 4;

interface Workspace {
  taken: number;
  /** Files whose next piece has come, the one that waits longest first. */
  waiting: (() => void)[];
}

/**
 * Files that arrive take turns, piece by piece, among those of their workspace. A file whose turn has not come is not read, so
 * that the connection that it comes by fills up and its sender waits. Without it the event loop had a piece of each of a
 * hundred files to do before it came to another tenant's request, which took 0.5 s. A turn is a piece and not a file: a slow
 * sender would have it for minutes.
 */
export class Turns {
  private readonly workspaces = new Map<string, Workspace>();

  /** Resolves when a piece may be taken in, with what ends the turn; it is called once. */
  async take(workspaceId: string): Promise<() => void> {
    const workspace = this.workspaces.get(workspaceId) ?? { taken: 0, waiting: [] };
    this.workspaces.set(workspaceId, workspace);
    if (workspace.taken < AT_ONCE) workspace.taken++;
    else await new Promise<void>((begin) => workspace.waiting.push(begin));
    return () => this.end(workspaceId, workspace);
  }

  private end(workspaceId: string, workspace: Workspace): void {
    const next = workspace.waiting.shift();
    if (next !== undefined) return next();
    workspace.taken--;
    if (workspace.taken === 0) this.workspaces.delete(workspaceId);
  }
}
