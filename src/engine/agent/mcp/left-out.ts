import { cleanText } from '../clean-json.js';

/** How many are named. */
const NAMED = 5;
const NAME = 64;
/** What a question to a person would show as something else: line breaks, control characters, turns of the direction of writing. */
const UNSHOWABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Whether people can be shown a name as it is, and a database can keep it. */
export function isShowable(name: string): boolean {
  return name.isWellFormed() && name.search(UNSHOWABLE) < 0;
}

/** What of lists is not taken, for one line of the log, however much it is. */
export class LeftOut {
  private readonly named: string[] = [];
  private count = 0;

  add(name: string | undefined, why: string): void {
    this.count += 1;
    if (this.count > NAMED) return;
    const shown =
      name === undefined ? '(without a name)' : cleanText(name.slice(0, NAME)).replace(UNSHOWABLE, '\uFFFD');
    this.named.push(`${shown}: ${why}`);
  }

  /** Null: nothing is. */
  get words(): string | null {
    if (this.count === 0) return null;
    const more = this.count > NAMED ? `; and ${this.count - NAMED} more` : '';
    return this.named.join('; ') + more;
  }
}
