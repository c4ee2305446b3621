import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Heartbeat } from '../heartbeat.js';
import type { BoxGroup, ControlGroup } from '../limits/box-groups.js';
import type { ControlGroups } from '../limits/control-groups.js';
import type { ProcessTree } from '../workdir/open-files.js';
import { childrenOf, Entry } from './entry.js';
import { below, endAll, everywhere, type Found, markOf } from './leftovers.js';
import { Launch, type LaunchCommand, signal } from './launch.js';
import { type Pipes, removePipes } from './pipes.js';

/** The same for all boxes of one driver. */
export interface BoxResources {
  pipes: Pipes;
  heartbeat: Heartbeat;
  /** Null where there is none that we may divide. */
  groups: ControlGroups | null;
  /** Whether processes get away from the box: no process namespace holds them. */
  leaky?: boolean;
}

export interface BoxOptions {
  /** Of each of its commands. */
  memoryBytes: number;
  /** Whether it ends with the first command that has entered it. */
  single: boolean;
  make: (place: BoxPlace) => LaunchCommand;
  /** Told of it before it stands: what is closed meanwhile ends it. */
  begun: (box: Box) => void;
}

/** How a box is made, for who knows the driver. */
export interface BoxPlace {
  /** The folder of its pipes, as the host names it. */
  pipes: string;
  /** The folder of its control group; null: it has none. */
  group: string | null;
}

/** A box that does not stand by then, or that no command can enter, does not work any more. */
const ENTER_MS = 30_000;
/** Marks are large, for a limit of so many microseconds bounds nothing. */
const [FIRST_MARK, MARKS] = [10 ** 12, 2 ** 40];

/**
 * One box: namespaces with one process that holds them, which starts the commands inside, each with limits of its own (docs/decisions/0108). All
 * of it ends with that process, which lives by the heartbeat.
 */
export class Box {
  private readonly entries = new Map<string, Entry>();
  /** Of the commands that run, by their marks. */
  private readonly marks = new Map<string, Entry>();
  private said = '';

  private constructor(
    private readonly resources: BoxResources,
    private readonly launch: Launch,
    private readonly folder: string,
    private readonly group: BoxGroup | null,
    private readonly options: BoxOptions & { handed: number },
  ) {
    launch.control.on('data', (chunk: Buffer) => this.hear(chunk));
    void launch.ended.then(() => this.entries.forEach((entry) => entry.lose()));
  }

  /** Rejects with {@link SandboxError} when it cannot be made. */
  static async open(resources: BoxResources, options: BoxOptions): Promise<Box> {
    const folder = resources.pipes.place();
    const group = resources.groups?.open(options.memoryBytes) ?? null;
    const command = options.make({ pipes: folder, group: group?.path ?? null });
    const launch = new Launch(resources, command);
    const box = new Box(resources, launch, folder, group, { ...options, handed: command.file.length });
    options.begun(box);
    const waiting = setTimeout(() => box.kill(), ENTER_MS).unref();
    const stands = await launch.stands;
    clearTimeout(waiting);
    if (stands) return box;
    await box.close();
    throw launch.failure;
  }

  /** Whether no command can enter it any more. */
  get over(): boolean {
    return this.launch.over;
  }

  /** Resolves when it is over. */
  get ended(): Promise<void> {
    return this.launch.ended;
  }

  /** Its processes, for those who measure their files; null before there are any. */
  get tree(): ProcessTree | null {
    const { first } = this.launch;
    return first === undefined ? null : { pid: first, handed: [this.options.handed] };
  }

  /** A command on its way in. @param words makes the program and its arguments. */
  enter(hasInput: boolean, words: (of: { id: string; mark: number }) => string[]): Entered {
    const { launch, folder, resources } = this;
    const group = this.group?.make() ?? null;
    const place = { pipes: resources.pipes, folder, say: (line: string) => void launch.control.write(line) };
    const entry = new Entry({ ...place, numberOf: (inside) => this.numberOf(inside) }, group, hasInput);
    const mark = FIRST_MARK + randomInt(MARKS);
    this.entries.set(entry.id, entry);
    this.marks.set(String(mark), entry);
    const waiting = setTimeout(() => entry.started || entry.over || this.kill(), ENTER_MS).unref();
    void entry.ended.then(() => clearTimeout(waiting));
    if (this.over) entry.lose();
    else void entry.begin(words({ id: entry.id, mark })).catch(() => entry.lose());
    return new Entered(entry, group, {
      clear: () => this.clear(entry, group, String(mark)),
      processes: async () => (await this.ofMark(String(mark))).pids,
    });
  }

  /** Ends it at once, with all that is in it. */
  kill(): void {
    this.launch.kill();
  }

  /** The same, and resolves when it is gone. */
  async close(): Promise<void> {
    this.kill();
    await this.launch.ended;
    removePipes(this.folder);
    await this.group?.remove();
  }

  /** Ends what is left of a command; when that does not succeed, the box. */
  private async clear(entry: Entry, group: ControlGroup | null, mark: string): Promise<void> {
    const { single } = this.options;
    const { leaky = false } = this.resources;
    // The kernel ends all that is in it.
    if (single && !leaky) return this.close();
    this.marks.delete(mark);
    entry.hold();
    const ended = group === null ? await endAll(() => this.find(entry, mark)) : await group.remove();
    entry.kill();
    if (single || !ended) this.kill();
    await entry.ended;
    this.entries.delete(entry.id);
    if (single) await this.close();
  }

  /** What has the mark of none that runs, and what a command is being started with. */
  private async find(entry: Entry, mark: string): Promise<Found> {
    const starting = entry.over || entry.pid === undefined ? null : entry.pid;
    const found = await this.marked(mark);
    if (starting === null) return found;
    // It is stopped, so what it has started is below it.
    const started = await below(starting, (pid) => pid !== starting);
    return {
      pids: [...new Set([...found.pids, ...started.pids])],
      ended: [...found.ended, ...started.ended],
      unsure: found.unsure || started.unsure,
    };
  }

  /** @param ends of the box, also told the marks; where processes get away from it, all with that one mark are found. */
  private async marked(mark: string, ends = (pid: number, own: string) => this.ends(pid, own)): Promise<Found> {
    if (this.resources.leaky === true) return everywhere(mark);
    const { first } = this.launch;
    if (first === undefined || this.over) return { pids: [], ended: [], unsure: false };
    return below(first, ends);
  }

  /** Those of one command alone, but for what has lowered its mark. */
  private ofMark(mark: string): Promise<Found> {
    return this.marked(mark, (_, own) => own === mark);
  }

  /** The first process has no mark, nor has what it starts commands with. */
  private ends(pid: number, mark: string): boolean {
    if (pid === this.launch.first || this.marks.has(mark)) return false;
    return mark !== UNMARKED;
  }

  private numberOf(inside: number): number | undefined {
    const { first } = this.launch;
    if (first === undefined) return undefined;
    // The last one, as a rule.
    return childrenOf(first).findLast((pid) => insideOf(pid) === inside);
  }

  private hear(chunk: Buffer): void {
    const lines = (this.said + chunk.toString('latin1')).split('\n');
    this.said = lines.pop() ?? '';
    for (const line of lines) {
      const [what = '', id = '', value = ''] = line.split(' ');
      this.entries.get(id)?.hear(what, value);
    }
  }
}

/** A command that has entered a box, for {@link Command}. */
export class Entered {
  constructor(
    readonly entry: Entry,
    private readonly group: ControlGroup | null,
    private readonly box: { clear: () => Promise<void>; processes: () => Promise<number[]> },
  ) {}

  /** Sends a signal to its processes, as far as there are any. */
  async signal(name: 'SIGINT' | 'SIGTERM'): Promise<void> {
    for (const pid of await this.box.processes()) signal(pid, name);
  }

  /** Ends all its processes, and resolves when they are gone. Idempotent. */
  readonly clear = (): Promise<void> => (this.cleared ??= this.box.clear());
  private cleared: Promise<void> | undefined;

  /** Whether the kernel ended it for its memory. Asked before it is cleared. */
  get outOfMemory(): boolean {
    return this.group?.outOfMemory() === true;
  }
}

/** What a process has that no command has started, as this one. */
const UNMARKED = markOf(process.pid) ?? 'unlimited';

/** The number of a process in the innermost namespace. */
function insideOf(pid: number): number | undefined {
  try {
    const numbers = /^NSpid:(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return Number(numbers?.trim().split(/\s+/).at(-1));
  } catch {
    return undefined;
  }
}
