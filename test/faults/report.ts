/** A line of figures for the person who runs the suite. */
export function report(what: string, figures: Record<string, unknown> = {}): void {
  const words = Object.entries(figures).map(([name, figure]) => `${name} ${String(figure)}`);
  process.stderr.write(`faults: ${[what, ...words].join(', ')}\n`);
}
