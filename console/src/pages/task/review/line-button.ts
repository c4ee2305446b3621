// The one button that comments on a line. It goes to the line under the pointer, or to the one that the arrow keys choose: a patch
// may have thousands of lines, so none of them has a button, a handler or a state of its own. Where a line is, the table says.
import { t } from '../../../texts/index.ts';
import type { Range } from './comments.ts';
import { besides, numberOf, onNumber, rowBeside, rowsBetween, type Spot, spotAt, spotOf } from './spots.ts';
import css from './review.module.css';

export interface Told {
  /** Somebody comments on these lines. */
  onComment: (range: Range) => void;
  /** Whether a comment on the last lines was begun, and nothing is written yet: then another line makes a range of them. */
  isBegun: () => boolean;
}

const SVG = 'http://www.w3.org/2000/svg';

export class LineButton {
  private readonly button = makeButton();
  private readonly ends = new AbortController();
  /** Where the button is. */
  private at: Spot | null = null;
  /** Where the range begins. */
  private anchor: Spot | null = null;
  private pointer = [0, 0];
  private drag: 'no' | 'pressed' | 'moved' = 'no';

  constructor(
    private readonly root: HTMLElement,
    private readonly told: () => Told,
  ) {
    const { signal } = this.ends;
    root.addEventListener('pointerover', (event) => this.hover(event), { signal });
    root.addEventListener('focusin', (event) => this.enter(event.target as HTMLElement), { signal });
    root.addEventListener('keydown', (event) => this.key(event), { signal });
    root.addEventListener('click', (event) => this.click(event), { signal });
    this.button.addEventListener('pointerdown', (event) => this.press(event), { signal });
    // A drag selects lines, no text.
    this.button.addEventListener('mousedown', (event) => event.preventDefault(), { signal });
    // The button goes along with the pointer, and loses a capture by that.
    document.addEventListener('pointermove', (event) => this.move(event), { signal });
    document.addEventListener('pointerup', () => this.release(), { signal });
    document.addEventListener('pointercancel', () => (this.drag = 'no'), { signal });
  }

  stop(): void {
    this.ends.abort();
    this.button.remove();
  }

  /** To where a comment was: one goes on from there. */
  focusOn({ path, side, endLine }: Range): void {
    const file = [...this.root.querySelectorAll<HTMLElement>('[data-path]')].find(
      (one) => one.dataset['path'] === path,
    );
    const rows = [...(file?.querySelectorAll('tr') ?? [])];
    const row = rows.find((one) => numberOf(one, side) === endLine);
    const spot = row && spotOf(row, side);
    if (!spot) return;
    this.anchor = null;
    this.goTo(spot);
  }

  private hover({ target, pointerType, clientX, clientY }: PointerEvent): void {
    // What scrolls moves lines below a pointer that stands still.
    const moved = clientX !== this.pointer[0] || clientY !== this.pointer[1];
    this.pointer = [clientX, clientY];
    if (pointerType === 'touch' || this.drag !== 'no' || !moved) return;
    const spot = spotAt(target);
    if (!spot || spot.cell === this.at?.cell) return;
    const focused = document.activeElement === this.button;
    this.place(spot);
    if (!focused) return;
    this.anchor = null;
    this.mark();
    this.button.focus({ preventScroll: true });
  }

  /** A file that has the focus has the button too: the next Tab goes to it. */
  private enter(target: HTMLElement): void {
    if (!target.matches('[data-scrollable]') || target.contains(this.button)) return;
    const first = target.querySelector('tr');
    const spot = first && rowBeside(first, 1, this.root);
    if (!spot) return;
    this.anchor = null;
    this.place(spot);
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0 || event.shiftKey || event.pointerType === 'touch') return;
    this.drag = 'pressed';
    this.anchor = this.at;
  }

  private move({ clientX, clientY }: PointerEvent): void {
    if (this.drag === 'no' || this.anchor === null) return;
    const spot = spotAt(document.elementFromPoint(clientX, clientY), this.anchor.side);
    if (!spot || !besides(spot, this.anchor) || spot.row === this.at?.row) return;
    this.drag = 'moved';
    this.place(spot);
    this.mark();
  }

  private release(): void {
    if (this.drag === 'no') return;
    if (this.drag === 'moved') this.comment();
    // The click that follows is this one's end.
    setTimeout(() => (this.drag = 'no'));
  }

  private click(event: MouseEvent): void {
    if (this.drag === 'moved' || !(event.target instanceof Element)) return;
    const onButton = this.button.contains(event.target);
    const spot = onButton ? this.at : onNumber(event.target);
    if (!spot) return;
    const touched = matchMedia('(hover: none)').matches && this.told().isBegun();
    // By the keyboard the range is chosen before.
    const goesOn = event.detail === 0 || event.shiftKey || touched;
    if (!goesOn || !this.anchor || !besides(spot, this.anchor)) this.anchor = spot;
    this.place(spot);
    this.comment();
  }

  private key(event: KeyboardEvent): void {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || !(target instanceof HTMLElement)) return;
    if (key === 'c' && target.matches('[data-scrollable]') && target.contains(this.button) && this.at) {
      this.anchor = null;
      this.goTo(this.at);
    } else if (target !== this.button || this.at === null || !this.keyOn(event, this.at)) return;
    event.preventDefault();
  }

  /** Whether it was one for the button. */
  private keyOn({ key, shiftKey }: KeyboardEvent, at: Spot): boolean {
    switch (key) {
      case 'ArrowDown':
      case 'ArrowUp': {
        const by = key === 'ArrowDown' ? 1 : -1;
        this.anchor = shiftKey ? (this.anchor ?? at) : null;
        const next = rowBeside(at.row, by, this.root, this.anchor ?? undefined, at.side);
        if (next) this.goTo(next);
        return true;
      }
      case 'ArrowLeft':
      case 'ArrowRight': {
        const other = spotOf(at.row, key === 'ArrowLeft' ? 'old' : 'new');
        this.anchor = null;
        if (other) this.goTo(other);
        return true;
      }
      case 'c':
        this.comment();
        return true;
      case 'Escape':
        this.anchor = null;
        this.mark();
        return true;
      default:
        return false;
    }
  }

  private goTo(spot: Spot): void {
    this.place(spot);
    this.mark();
    this.button.focus({ preventScroll: true });
    spot.row.scrollIntoView({ block: 'nearest' });
  }

  private place(spot: Spot): void {
    this.at = spot;
    spot.cell.append(this.button);
    this.name(spot.line, spot.line, spot.side);
  }

  private name(line: number, endLine: number, side: Range['side']): void {
    this.button.setAttribute('aria-label', t.task.review.commentOn(line, endLine, side));
  }

  private range({ path, side, line }: Spot): Range {
    const from = this.anchor?.line ?? line;
    return { path, side, line: Math.min(from, line), endLine: Math.max(from, line) };
  }

  /** Shows what is chosen. */
  private mark(): void {
    this.unmark();
    if (this.at === null) return;
    const { line, endLine, side } = this.range(this.at);
    this.name(line, endLine, side);
    for (const row of rowsBetween(this.anchor?.row ?? this.at.row, this.at.row)) row.dataset['chosen'] = side;
  }

  private unmark(): void {
    for (const row of this.root.querySelectorAll<HTMLElement>('[data-chosen]')) delete row.dataset['chosen'];
  }

  private comment(): void {
    if (this.at === null) return;
    this.anchor ??= this.at;
    this.unmark();
    this.told().onComment(this.range(this.at));
  }
}

function makeButton(): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = css.plus ?? '';
  button.title = t.task.review.keys;
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 10 10');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', 'M5 1v8M1 5h8');
  svg.append(path);
  button.append(svg);
  return button;
}
