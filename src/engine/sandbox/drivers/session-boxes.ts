import { Box, type BoxPlace, type BoxResources } from '../launch/box.js';
import { NotStarted } from '../launch/command.js';
import type { WayOut } from '../network/network-proxy.js';
import { SandboxError } from '../sandbox.js';
import type { ProcessTree } from '../workdir/open-files.js';
import type { SessionParts } from './session-parts.js';

const LOST =
  'What earlier commands had left running is gone, and /dev/shm is empty: what held them was ended from outside';

/** The box that shared commands have in common, and the way out that is open in it. */
interface Shared {
  box: Promise<Box>;
  wayOut: WayOut | null;
}

/** The boxes of one session: one for its shared commands, made when the first one wants it, and one for each other command. */
export class SessionBoxes {
  private readonly open = new Set<Box>();
  private shared: Shared | undefined;
  /** A box was lost, until {@link takeNote}. */
  private lost = false;
  private over = false;

  constructor(
    private readonly resources: BoxResources,
    private readonly memoryBytes: number,
    private readonly launch: SessionParts['launch'],
  ) {}

  /**
   * Runs a command in a box. A shared box that no command can enter any more is replaced once: an agent may have made it so.
   * @param run enters the box. @param wayOut what leads out; null: nothing does. @param memoryBytes of a box of its own, where that is not as usual.
   */
  async enter<T>(
    shared: boolean,
    wayOut: WayOut | null,
    run: (box: Box) => Promise<T>,
    memoryBytes?: number,
  ): Promise<T> {
    if (!shared) return run(await this.make(wayOut, true, memoryBytes));
    const { found, box } = await this.sharedBox(wayOut);
    try {
      return await run(box);
    } catch (error) {
      if (!found || !(error instanceof NotStarted)) throw error;
      await this.replace(box);
      return run((await this.sharedBox(wayOut)).box);
    }
  }

  /** A sentence for the model when what ran is gone, once. */
  takeNote(): string | null {
    const { lost } = this;
    this.lost = false;
    return lost ? LOST : null;
  }

  get trees(): ProcessTree[] {
    return [...this.open].flatMap(({ tree }) => tree ?? []);
  }

  async endShared(): Promise<void> {
    const { shared } = this;
    this.shared = undefined;
    await (await shared?.box.catch(() => undefined))?.close();
  }

  /** Ends all of them at once; there will be no others. */
  kill(): void {
    this.over = true;
    this.open.forEach((box) => box.kill());
  }

  async close(): Promise<void> {
    this.over = true;
    await Promise.all([...this.open].map((box) => box.close()));
  }

  /** `found`: other commands have been in it. */
  private async sharedBox(wayOut: WayOut | null): Promise<{ found: boolean; box: Box }> {
    const { shared } = this;
    if (shared === undefined) return { found: false, box: await this.makeShared(wayOut) };
    const box = await shared.box.catch(() => null);
    // Another command has replaced it meanwhile.
    if (this.shared !== shared) return this.sharedBox(wayOut);
    if (box === null) this.shared = undefined;
    else if (!box.over && shared.wayOut === wayOut) return { found: true, box };
    // What leads out is mounted in it.
    else await this.replace(box);
    return this.sharedBox(wayOut);
  }

  private makeShared(wayOut: WayOut | null): Promise<Box> {
    const made = { box: this.make(wayOut, false), wayOut };
    this.shared = made;
    return made.box;
  }

  private async replace(box: Box): Promise<void> {
    if ((await this.shared?.box.catch(() => undefined)) === box) {
      this.shared = undefined;
      this.lost = true;
    }
    await box.close();
  }

  private async make(wayOut: WayOut | null, single: boolean, own?: number): Promise<Box> {
    const { resources } = this;
    if (this.over) throw new SandboxError('The session of the sandbox is closed.');
    const memoryBytes = own ?? this.memoryBytes;
    const make = (place: BoxPlace) => this.launch(wayOut, place, own);
    return Box.open(resources, { memoryBytes, single, make, begun: (box) => this.keep(box) });
  }

  private keep(box: Box): void {
    this.open.add(box);
    // Also of one that somebody else has ended nothing is left.
    const gone = box.ended.then(() => box.close()).catch(() => undefined);
    void gone.then(() => this.open.delete(box));
  }
}
