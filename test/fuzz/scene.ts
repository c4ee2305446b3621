// The ids that a sequence of requests knows: those of the set-up, and those in the answers that it got.
import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { isRef, type Ref } from './values.js';

export type Ids = Record<string, string[]>;

const ODD = ['', 'x', '%', 'null', '0190a000', '../x', 'a b', '0190A000-0000-7000-8000-00000000000G', 'x'.repeat(500)];
/** How many are kept of a kind: the newest. */
const KEPT = 20;

export class Scene {
  /** Before each Idempotency-Key: a sequence that is tried again must not meet its own keys of before. */
  readonly nonce = randomUUID();
  readonly own: Ids = {};

  constructor(
    private readonly shared: Ids,
    private readonly foreign: Ids,
  ) {}

  /** @param ownAlone for what is to be deleted: the things of the set-up are for all sequences. */
  resolve({ $id, from, nth }: Ref, ownAlone = false): string {
    if (from === 'unknown') return uuidv7();
    if (from === 'odd') return ODD[nth % ODD.length] ?? '';
    const [own, shared] = [this.own[$id] ?? [], ownAlone ? [] : (this.shared[$id] ?? [])];
    const ids = from === 'foreign' ? (this.foreign[$id] ?? []) : from === 'own' && own.length > 0 ? own : shared;
    return ids.at(-1 - (nth % ids.length)) ?? uuidv7();
  }

  /** A value with all its references resolved. */
  filled(value: unknown): unknown {
    if (isRef(value)) return this.resolve(value);
    if (Array.isArray(value)) return value.map((item) => this.filled(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.filled(item)]));
  }

  /**
   * Remembers what an answer names: `{task: {id}}` is a `taskId`, also in a list. Lists of a whole workspace are left
   * out: a sequence lives on what it made.
   */
  learn(body: unknown, path: string): void {
    if (typeof body !== 'object' || body === null) return;
    for (const [key, value] of Object.entries(body as Record<string, unknown>)) {
      if (key === 'nextCursor') this.keep('cursor', value);
      else if (Array.isArray(value) && /^\/v1\/\w+\/./.test(path))
        value.forEach((one) => this.keepRecord(key.replace(/s$/, ''), one)); // prettier-ignore
      else this.keepRecord(path.startsWith('/v1/repository-connections') ? 'repositoryConnection' : key, value);
    }
  }

  private keepRecord(kind: string, record: unknown): void {
    const { id, slug, pendingInteraction } = (record ?? {}) as { id?: unknown; slug?: unknown; pendingInteraction?: { id: string } | null }; // prettier-ignore
    this.keep(`${kind}Id`, id);
    if (kind === 'environment' || kind === 'agent') this.keep('slug', slug);
    if (kind === 'task') this.keep('interactionId', pendingInteraction?.id);
  }

  private keep(name: string, id: unknown): void {
    if (typeof id !== 'string') return;
    const ids = (this.own[name] ??= []);
    if (ids.includes(id)) return;
    ids.push(id);
    if (ids.length > KEPT) ids.shift();
  }
}
