// The table at the end: what was tried, how often, and how often it was held.

export interface Row {
  kind: string;
  attempts: number;
  held: number;
}

/** In Markdown, with aligned columns, and the sums at the end. */
export function tableOf(rows: Row[]): string {
  const sum = (of: (row: Row) => number) => rows.reduce((all, row) => all + of(row), 0);
  const total = { kind: `${rows.length} kinds`, attempts: sum(({ attempts }) => attempts), held: sum(({ held }) => held) }; // prettier-ignore
  const cells = [['kind', 'attempts', 'held'], ...[...rows, total].map(({ kind, attempts, held }) => [kind, String(attempts), String(held)])]; // prettier-ignore
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) => `| ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`; // prettier-ignore
  const rule = `| ${widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`; // prettier-ignore
  const [head = [], ...rest] = cells;
  return [line(head), rule, ...rest.map(line)].join('\n');
}
