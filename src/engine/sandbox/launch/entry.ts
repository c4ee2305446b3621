import { randomBytes } from 'node:crypto';
import { closeSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import type { ControlGroup } from '../limits/box-groups.js';
import { giveWay } from '../limits/give-way.js';
import { signal } from './launch.js';
import { openPipe, type Pipe, type Pipes } from './pipes.js';

/** What the first process of a box says of a command may come on another way than the end of what started it. */
const LAST_WORD_MS = 20;

/** The streams of a command, which wait for its first byte. */
export interface EntryStreams {
  output: [Socket, Socket];
  input: Socket | null;
}

/** What an entry needs of its box. */
export interface EntryPlace {
  pipes: Pipes;
  /** The folder of its pipes, as the host names it. */
  folder: string;
  /** Says to the first process inside. */
  say: (line: string) => void;
  /** A child of the first process, by its number inside, as the host numbers it; undefined: there is none. */
  numberOf: (inside: number) => number | undefined;
}

/** One command on its way into a box, from its pipes to its exit code. */
export class Entry {
  readonly id = randomBytes(8).toString('hex');
  /** Null when it has ended before it had any. */
  readonly streams: Promise<EntryStreams | null>;
  /** When the command has its streams. What was written and closed before, nobody would find. */
  readonly begun: Promise<void>;
  /** Its exit code, once its first process has ended; null: nobody has said it. */
  readonly ended: Promise<number | null>;
  /** Whether the command itself has begun. */
  started = false;
  over = false;
  /** What has started it, as the host numbers it: a child of the first process of the box. */
  pid: number | undefined;
  private killed = false;
  private held = false;
  private begins: () => void = () => undefined;
  private opened: (streams: EntryStreams | null) => void = () => undefined;
  private end: (code: number | null) => void = () => undefined;
  /** The end of each pipe that the command has too. */
  private others: number[] = [];
  private life: Pipe | undefined;

  constructor(
    private readonly place: EntryPlace,
    private readonly group: ControlGroup | null,
    private readonly hasInput: boolean,
  ) {
    this.streams = new Promise((resolve) => (this.opened = resolve));
    this.begun = new Promise((resolve) => (this.begins = resolve));
    this.ended = new Promise((resolve) => {
      this.end = (code) => {
        if (this.over) return;
        this.over = true;
        this.opened(null);
        this.begins();
        this.letGo();
        this.life?.own.destroy();
        resolve(code);
      };
    });
  }

  /** @param words the program and its arguments; what is told of it comes by {@link hear}. */
  async begin(words: readonly string[]): Promise<void> {
    const { pipes, folder, say } = this.place;
    const names = ['life', 'out', 'err', ...(this.hasInput ? ['in'] : [])];
    await pipes.make(
      folder,
      names.map((name) => this.named(name)),
    );
    if (this.over) return;
    const content = words.map((word) => `${word}\0`).join('');
    // Nobody lists the folder. The user inside is another one when the service is root.
    writeFileSync(this.path('words'), content, { mode: 0o444, flag: 'wx' });
    this.life = openPipe(this.path('life'), 'read');
    this.others.push(this.life.other);
    this.life.own.on('error', () => undefined).on('close', () => void later(LAST_WORD_MS).then(() => this.lose()));
    this.life.own.resume();
    say(`${this.id} ${this.hasInput ? 'i' : 'n'}\n`);
  }

  hear(what: string, value: string): void {
    if (this.over) return;
    if (what === 'p') this.enter(Number(value));
    else if (what === 's') this.start();
    else if (what === 'e') this.end(Number(value));
  }

  /** Nobody is left who could say more of it. */
  lose(): void {
    this.end(null);
  }

  /** What starts it starts nothing any more; what is below that already, {@link Box} ends before it {@link kill}s this. */
  hold(): void {
    this.killed = true;
    if (this.pid === undefined || this.over) return;
    this.held = true;
    signal(this.pid, 'SIGSTOP');
  }

  /** What has started it ends. */
  kill(): void {
    // What is stopped ends in no other way where no namespace ends it, also when its box is lost meanwhile.
    if (this.pid !== undefined && (this.held || !this.over)) signal(this.pid, 'SIGKILL');
  }

  /** The process that starts the command waits for this: what comes after it is inside of its limits. */
  private enter(inside: number): void {
    this.letGo();
    this.pid = this.place.numberOf(inside);
    if (this.pid === undefined) return this.lose();
    if (this.killed) return this.kill();
    try {
      this.group?.take(this.pid);
      const [out, err] = [this.open('out', 'read'), this.open('err', 'read')];
      this.opened({ output: [out, err], input: this.hasInput ? this.open('in', 'write') : null });
    } catch {
      // It is gone, or its folder is.
      signal(this.pid, 'SIGKILL');
      this.lose();
    }
  }

  private start(): void {
    this.started = true;
    this.letGo();
    for (const name of ['life', 'out', 'err', 'words', ...(this.hasInput ? ['in'] : [])]) unlink(this.path(name));
    this.begins();
    if (this.group === null) for (const child of childrenOf(this.pid ?? 0)) giveWay(child);
  }

  private open(name: string, which: 'read' | 'write'): Socket {
    const { own, other } = openPipe(this.path(name), which);
    this.others.push(other);
    return own;
  }

  private letGo(): void {
    this.others.splice(0).forEach((fd) => closeSync(fd));
  }

  private named(name: string): string {
    return `${this.id}.${name}`;
  }

  private path(name: string): string {
    return join(this.place.folder, this.named(name));
  }
}

function unlink(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Its box is gone, and its folder with that.
  }
}

/** Those that the first thread of a process has started. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
