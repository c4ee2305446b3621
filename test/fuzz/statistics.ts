/** How often each operation was answered with each status. */
export class Statistics {
  private readonly counts = new Map<string, Map<number, number>>();

  count(operation: string, status: number): void {
    const own = this.counts.get(operation) ?? new Map<number, number>();
    this.counts.set(operation, own.set(status, (own.get(status) ?? 0) + 1));
  }

  /** Whether an operation was carried out at least once. */
  fulfilled(operation: string): boolean {
    return [...(this.counts.get(operation)?.keys() ?? [])].some(isSuccess);
  }

  /** The share of all requests that were carried out. */
  get share(): number {
    const all = [...this.counts.values()].flatMap((own) => [...own]);
    const sum = (counts: [number, number][]) => counts.reduce((total, [, count]) => total + count, 0);
    return sum(all.filter(([status]) => isSuccess(status))) / sum(all);
  }

  /** One line per operation, those with a name in the document first. */
  get table(): string {
    const lines = [...this.counts].map(([operation, own]) => {
      const statuses = [...own].sort(([a], [b]) => a - b).map(([status, count]) => `${status || 'closed'}: ${count}`);
      return `${operation.padEnd(48)} ${statuses.join(', ')}`;
    });
    return lines.sort().join('\n');
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 400;
}
