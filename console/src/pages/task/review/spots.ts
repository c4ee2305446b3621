// Lines of a patch as its table has them (`ui/diff-rows.tsx`): side by side a row has four cells, else three.
import type { Side } from './comments.ts';

/** One line of one side, and where it stands on the page. */
export interface Spot {
  path: string;
  side: Side;
  line: number;
  row: HTMLTableRowElement;
  /** Its number. */
  cell: HTMLTableCellElement;
}

const other = (side: Side): Side => (side === 'old' ? 'new' : 'old');
const isSplit = (row: HTMLTableRowElement) => row.cells.length === 4;
const isLine = (row: HTMLTableRowElement) => row.cells.length > 2 && row.parentElement?.tagName === 'TBODY';

export function numberOf(row: HTMLTableRowElement, side: Side): number | null {
  if (!isLine(row)) return null;
  const text = row.cells[side === 'old' ? 0 : isSplit(row) ? 2 : 1]?.textContent;
  return text ? Number(text) : null;
}

export function spotOf(row: HTMLTableRowElement, side: Side): Spot | null {
  const line = numberOf(row, side);
  const cell = row.cells[side === 'old' ? 0 : isSplit(row) ? 2 : 1];
  const path = row.closest<HTMLElement>('[data-path]')?.dataset['path'];
  return line === null || cell === undefined || path === undefined ? null : { path, side, line, row, cell };
}

/** The line that something belongs to. Of a line that did not change, one means what it is now, except on its old number. */
export function spotAt(target: EventTarget | null, side?: Side): Spot | null {
  const cell = target instanceof Element ? target.closest('td') : null;
  const row = cell?.closest('tr');
  if (!cell || !row || !isLine(row)) return null;
  if (side !== undefined) return spotOf(row, side);
  if (isSplit(row)) return spotOf(row, cell.cellIndex < 2 ? 'old' : 'new');
  return (cell.cellIndex === 0 ? spotOf(row, 'old') : null) ?? spotOf(row, 'new') ?? spotOf(row, 'old');
}

/** The line whose number this is. */
export function onNumber(target: Element): Spot | null {
  const cell = target.closest('td');
  const row = cell?.closest('tr');
  if (!cell || !row || !(isSplit(row) ? cell.cellIndex % 2 === 0 : cell.cellIndex < 2)) return null;
  return spotAt(cell);
}

/** Whether both are lines of one side of a file. */
export const besides = (a: Spot, b: Spot): boolean =>
  a.side === b.side && a.path === b.path && a.row.closest('table') === b.row.closest('table');

/**
 * The next line down or up: with an `anchor` of the same side of the same file, else in the next file too, on the `side` where one
 * is as far as there is one.
 */
export function rowBeside(
  from: HTMLTableRowElement,
  by: 1 | -1,
  root: HTMLElement,
  anchor?: Spot,
  side: Side = 'new',
): Spot | null {
  const tables = [...root.querySelectorAll('table')];
  let table = tables.findIndex((one) => one.contains(from));
  for (let at = from.rowIndex + by; table !== -1 && tables[table] !== undefined;) {
    const { rows } = tables[table] as HTMLTableElement;
    for (; at >= 0 && at < rows.length; at += by) {
      const row = rows[at];
      if (row === undefined || !isLine(row)) continue;
      const spot = anchor ? spotOf(row, anchor.side) : isSplit(row) ? spotOf(row, side) : null;
      if (spot) return spot;
      if (!anchor) {
        const any = isSplit(row) ? spotOf(row, other(side)) : (spotOf(row, 'new') ?? spotOf(row, 'old'));
        if (any) return any;
      }
    }
    if (anchor) return null;
    table += by;
    at = by === 1 ? 0 : (tables[table]?.rows.length ?? 0) - 1;
  }
  return null;
}

export function rowsBetween(a: HTMLTableRowElement, b: HTMLTableRowElement): HTMLTableRowElement[] {
  const rows = a.closest('table')?.rows;
  if (rows === undefined) return [];
  const [first, last] = [a.rowIndex, b.rowIndex].sort((x, y) => x - y);
  return [...rows].slice(first, (last ?? 0) + 1).filter(isLine);
}
