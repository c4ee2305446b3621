// Whether the service answers. While it does not, one small request asks again and again; the pages keep what they have.
import { Store } from './store.ts';

/** So long after a lost request the next question is asked, in milliseconds; the last one again and again. */
const WAITS = [500, 1000, 2000, 4000];

/** A proxy in front of a service that is away answers 502 to 504. */
const isThere = (): Promise<boolean> =>
  fetch('/health/live', { cache: 'no-store' }).then(
    ({ status }) => status < 502,
    () => false,
  );

class Connection {
  readonly reachable = new Store(true);
  readonly #listeners = new Set<() => void>();
  #timer = 0;
  #tries = 0;

  constructor() {
    addEventListener('online', () => this.ask());
    addEventListener('offline', () => this.lost());
    document.addEventListener('visibilitychange', () => !document.hidden && !this.reachable.value && this.ask());
  }

  lost(): void {
    if (!this.reachable.value) return;
    this.reachable.set(false);
    this.#tries = 0;
    this.#later();
  }

  /** A proxy has answered in place of the service: it may be away, or only this one request may be. */
  doubted(): void {
    if (!this.reachable.value) return;
    void isThere().then((there) => there || this.lost());
  }

  answered(): void {
    if (this.reachable.value) return;
    clearTimeout(this.#timer);
    this.reachable.set(true);
    for (const listener of this.#listeners) listener();
  }

  /** Is called each time that the service answers again. */
  onReturn(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves once the service answers: something that was fetched by the browser itself did not come. */
  back(): Promise<void> {
    this.lost();
    return new Promise((resolve) => {
      const end = this.onReturn(() => (end(), resolve()));
    });
  }

  /** Asks at once. */
  ask(): void {
    if (this.reachable.value) return;
    clearTimeout(this.#timer);
    void isThere().then((there) => (there ? this.answered() : this.#later()));
  }

  #later(): void {
    clearTimeout(this.#timer);
    const wait = WAITS[Math.min(this.#tries++, WAITS.length - 1)];
    this.#timer = window.setTimeout(() => this.ask(), wait);
  }
}

export const connection = new Connection();
