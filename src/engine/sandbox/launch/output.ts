const KEPT = 64 * 1024;

/** Keeps the first and the last 64 KiB of a stream, in bounded memory however much comes. */
export class Output {
  private readonly first: Buffer[] = [];
  private last: Buffer[] = [];
  private firstBytes = 0;
  private lastBytes = 0;
  bytes = 0;

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    const head = chunk.subarray(0, KEPT - this.firstBytes);
    if (head.length > 0) {
      this.first.push(head);
      this.firstBytes += head.length;
    }
    const rest = chunk.subarray(head.length);
    if (rest.length === 0) return;
    this.last.push(rest);
    this.lastBytes += rest.length;
    // Joined now and then, not at every chunk: what is held stays below three times what is kept.
    if (this.lastBytes > 2 * KEPT || this.last.length > 256) this.trim();
  }

  get left(): number {
    return Math.max(0, this.bytes - 2 * KEPT);
  }

  text(): string {
    this.trim();
    const parts = [...this.first];
    if (this.left > 0) parts.push(Buffer.from(`\n[… ${this.left} bytes left out …]\n`));
    return Buffer.concat([...parts, ...this.last])
      .toString('utf8')
      .replaceAll('\0', '');
  }

  private trim(): void {
    const joined = Buffer.concat(this.last);
    // A copy: a slice would keep the whole buffer.
    const kept = Buffer.from(joined.subarray(Math.max(0, joined.length - KEPT)));
    this.last = [kept];
    this.lastBytes = kept.length;
  }
}
