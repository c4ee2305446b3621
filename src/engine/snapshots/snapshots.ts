// Snapshots of folders: what the service asks the programs for that read and write them (reference §22, docs/decisions/0091).
import { existsSync } from 'node:fs';
import { Program } from './program.js';

/** The folders of one snapshot: the path of each on this host, by the name that paths in the snapshot begin with. */
export type Roots = Record<string, string>;

/** Where the objects of one workspace lie. */
export interface SnapshotObjects {
  /**
   * Which of some blobs are stored. Both are JSON, which nobody here looks into: SHA-256 of each, and for those that are
   * there `[sha256, object, place of its frame, length of that, place of the blob in it, length]`.
   */
  known(digests: string): Promise<string>;
  /** Stores an object of at most 16 MiB, and resolves with its SHA-256. `blobs`: `[sha256, place of its frame, length of that, place in it, length]` of each blob in it, as JSON; null for a manifest. */
  put(bytes: Buffer, blobs: string | null): Promise<string>;
  /** All bytes of an object, by its SHA-256. */
  open(sha256: string): Promise<Buffer>;
}

/** The last snapshot of the same folders. */
export interface PreviousSnapshot {
  /** SHA-256 of the manifest's object. */
  manifest: string;
  /** What it was told by {@link Captured.walk}. */
  walk: string | null;
}

export interface Captured {
  /** SHA-256 of the manifest's object. */
  manifest: string;
  /** Stands for the folders as they are. Null when a change could come that has the times of the last one. */
  walk: string | null;
  /** Null when nothing has changed since the last snapshot, whose manifest this one has. */
  made: { files: number; bytes: number; objects: string[] } | null;
}

/** No snapshot has more than some 500,000 files: what find(1) says of them is 64 MiB at most, and the manifest is one object. */
export class TooManyFilesError extends Error {}

/** How a program has ended with one folder. `small`: it may read the next one. */
interface Told {
  taken: Omit<Captured, 'manifest'> | null;
  small: boolean;
}

/**
 * Programs that have nothing to do, each with what ends it: to start one takes 0.1 s of work, to read a small folder 0.01 s. Two of them, for each keeps 10 MB
 * that it shares with nobody.
 */
const idle = new Map<Program, NodeJS.Timeout>();
const MOST_IDLE = 2;
const IDLE_MS = 60_000;

/**
 * Reads the folders, also while something changes them, and stores what is not there yet: the objects first, the manifest last. Null when none of
 * the folders exists. What did not change since the last snapshot is not read. Rejects when the storage fails, with {@link TooManyFilesError},
 * and with the reason of the signal; what is stored by then nobody names.
 */
export async function capture(
  roots: Roots,
  previous: PreviousSnapshot | null,
  store: SnapshotObjects,
  signal: AbortSignal,
): Promise<Captured | null> {
  const present = Object.fromEntries(Object.entries(roots).filter(([, path]) => existsSync(path)));
  if (Object.keys(present).length === 0) return null;
  const program = reader() ?? (await Program.start('capture'));
  let manifest = previous?.manifest ?? '';
  let blobs: string | null = null;
  const told = await program.perform(signal, async () => {
    await program.send('R', JSON.stringify({ roots: present, walk: previous?.walk ?? null }));
    for (;;) {
      const { type, body } = await program.receive();
      if (type === 'N') await program.send('P', previous === null ? '' : await store.open(previous.manifest));
      else if (type === 'Q') await program.send('K', await store.known(body.toString()));
      else if (type === 'B') blobs = body.toString();
      else if (type === 'O') await store.put(body, blobs);
      else if (type === 'M') manifest = await store.put(body, null);
      else if (type === 'D') return JSON.parse(body.toString()) as Told;
    }
  });
  if (told.small && idle.size < MOST_IDLE) keep(program);
  else await program.end();
  if (told.taken === null) throw new TooManyFilesError('The folders have too many files for a snapshot.');
  return { manifest, ...told.taken };
}

/** One that is idle and that nobody has ended. */
function reader(): Program | undefined {
  for (const [program, ending] of [...idle].reverse()) {
    clearTimeout(ending);
    idle.delete(program);
    if (program.hold()) return program;
  }
  return undefined;
}

function keep(program: Program): void {
  program.release();
  const end = () => {
    idle.delete(program);
    void program.end();
  };
  idle.set(program, setTimeout(end, IDLE_MS).unref());
}

/**
 * Makes the folders of a snapshot again, with exact modes, times and links, in folders that are there and empty.
 * @param owner user and group of all that is made; null: the process's own.
 */
export async function restore(
  roots: Roots,
  manifest: string,
  store: Pick<SnapshotObjects, 'open'>,
  owner: number | null,
  signal: AbortSignal,
): Promise<void> {
  const program = await Program.start('restore');
  await program.perform(signal, async () => {
    await program.send('R', JSON.stringify({ roots, owner }));
    await program.send('P', await store.open(manifest));
    for (;;) {
      const { type, body } = await program.receive();
      if (type === 'G') await program.send('O', await store.open(body.toString()));
      else if (type === 'D') return;
    }
  });
  await program.end();
}
