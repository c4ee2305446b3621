/** Characters that a process keeps: a few requests with many pictures. */
const MOST = 64 * 1024 * 1024;

/** Files as base64, as models are sent them: those that were sent last. Every step of a task sends them again. */
export class FileCache {
  private readonly files = new Map<string, string>();
  private size = 0;

  get(key: string): string | undefined {
    const found = this.files.get(key);
    if (found !== undefined) {
      // The map has the order in which they were put there.
      this.files.delete(key);
      this.files.set(key, found);
    }
    return found;
  }

  set(key: string, data: string): void {
    this.remove(key);
    this.files.set(key, data);
    this.size += data.length;
    for (const oldest of this.files.keys()) {
      if (this.size <= MOST) break;
      this.remove(oldest);
    }
  }

  private remove(key: string): void {
    this.size -= this.files.get(key)?.length ?? 0;
    this.files.delete(key);
  }
}
