// Opens the files of a folder that may change under it. No path is given to the kernel as a whole, for one of its folders may have become a link by
// now: name after name is opened without following links, and each further one by the descriptor of its folder.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { bytesOf } from './manifest.mjs';
import { seconds } from './walk.mjs';

// open(2): a handle that neither reads nor triggers anything. Node has no constant for it.
const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

const within = (folder, name) => Buffer.concat([Buffer.from(`/proc/self/fd/${folder}/`), bytesOf(name)]);

export class FolderReader {
  /** The folders that are open, from the root on: entries come sorted, so the next file mostly lies in the last one. */
  #open = [];
  #roots;

  /** `roots`: the path of each on the host, by name. */
  constructor(roots) {
    this.#roots = roots;
  }

  /**
   * A descriptor for reading what has that path, if it is not a link; null when there is none. The caller looks what it is, and closes it. A pipe does not
   * wait for its writer, and a task can make no devices.
   */
  open(path) {
    const names = path.split('/');
    const name = names.pop();
    try {
      return openSync(within(this.#folder(names), name), O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    } catch (error) {
      if (GONE.has(error.code)) return null;
      throw error;
    }
  }

  /** The folders that are open. */
  close() {
    while (this.#open.length > 0) closeSync(this.#open.pop().descriptor);
  }

  #folder(names) {
    const open = this.#open;
    while (open.length > 0 && !(open.length <= names.length && open.every(({ name }, at) => name === names[at]))) {
      closeSync(open.pop().descriptor);
    }
    for (const name of names.slice(open.length)) {
      const where = open.length === 0 ? this.#roots[name] : within(open.at(-1).descriptor, name);
      open.push({ name, descriptor: openSync(where, O_PATH | O_DIRECTORY | O_NOFOLLOW) });
    }
    return open.at(-1).descriptor;
  }
}

/** A name that leads nowhere any more, or to what may not be read, is left out of the snapshot. */
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM', 'ENXIO', 'ENODEV', 'ENAMETOOLONG']);

/** Fills `bytes` from an open file, and says how many there were; what is shorter has ended meanwhile, or is no file any more. */
export function readInto(bytes, descriptor, position) {
  let read = 0;
  while (read < bytes.length) {
    const more = readOrEnd(descriptor, bytes, read, bytes.length - read, position + read);
    if (more === 0) break;
    read += more;
  }
  return read;
}

function readOrEnd(descriptor, ...where) {
  try {
    return readSync(descriptor, ...where);
  } catch (error) {
    if (UNREADABLE.has(error.code)) return 0;
    throw error;
  }
}

/** What reading a pipe, a folder or a socket ends with. */
const UNREADABLE = new Set(['EAGAIN', 'EISDIR', 'ESPIPE', 'EINVAL']);

/** What the system says of an open file, with the `stamp` of find(1); null when it is no regular one. */
export function stated(descriptor) {
  const stats = fstatSync(descriptor, { bigint: true });
  if (!stats.isFile()) return null;
  const { size, mtimeNs, ctimeNs, ino, mode } = stats;
  return { size: Number(size), mtimeNs, mode: Number(mode) & 0o7777, stamp: `${ino} ${seconds(ctimeNs)}` };
}
