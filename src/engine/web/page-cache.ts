/** A page of text that a task has read. */
export interface KnownPage {
  /** Behind the redirects. */
  url: string;
  status: number;
  mediaType: string;
  title: string | null;
  text: string;
  /** The host had more than may be read. */
  cut: boolean;
}

const KEPT_MS = 15 * 60_000;
/** Characters of all pages of a process. */
const CHARACTERS = 32_000_000;

/** What tasks have read in the last 15 minutes: they read on, and look again, without another request. */
export class PageCache {
  /** The oldest first: all are kept for equally long. */
  private readonly pages = new Map<string, { page: KnownPage; until: number }>();
  private length = 0;

  /** @param now milliseconds. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  get(taskId: string, url: URL): KnownPage | null {
    this.clear();
    return this.pages.get(keyOf(taskId, url))?.page ?? null;
  }

  put(taskId: string, url: URL, page: KnownPage): void {
    const key = keyOf(taskId, url);
    this.remove(key);
    this.pages.set(key, { page, until: this.now() + KEPT_MS });
    this.length += page.text.length;
    this.clear();
  }

  private clear(): void {
    const now = this.now();
    for (const [key, { until }] of this.pages) {
      if (until > now && this.length <= CHARACTERS) return;
      this.remove(key);
    }
  }

  private remove(key: string): void {
    this.length -= this.pages.get(key)?.page.text.length ?? 0;
    this.pages.delete(key);
  }
}

function keyOf(taskId: string, { href }: URL): string {
  return `${taskId} ${href}`;
}
