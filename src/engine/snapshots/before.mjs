import { TEXTS } from './manifest.mjs';
import { aboutOf } from './walk.mjs';

/** The entries of the last manifest. They mostly come in the order in which they are asked for; only when one does not, they are looked for by name. */
export class Before {
  #texts;
  #next = 0;
  #places = null;

  constructor(texts) {
    this.#texts = texts;
  }

  /** Where the bytes of a file lie, when it is as it was; else null. */
  unchanged(about, path) {
    const at = this.#find(path);
    if (at === undefined) return null;
    this.#next = at + TEXTS;
    return isSame(this.#texts[at], about) ? this.#texts[at + 2] : null;
  }

  #find(path) {
    for (let at = this.#next; at < this.#texts.length; at += TEXTS) {
      if (this.#texts[at + 1] === path) return at;
      // Folders and links are not asked for.
      if (this.#texts[at][0] === 'f') break;
    }
    this.#places ??= new Map(
      Array.from({ length: this.#texts.length / TEXTS }, (_, at) => [this.#texts[TEXTS * at + 1], TEXTS * at]),
    );
    return this.#places.get(path);
  }
}

/** The blocks of a file, which are counted too, change also when its bytes come to lie elsewhere. */
function isSame(before, about) {
  if (before === about) return true;
  const [one, other] = [aboutOf(before), aboutOf(about)];
  return ['kind', 'size', 'mtime', 'stamp'].every((key) => one[key] === other[key]);
}
