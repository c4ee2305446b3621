import { createHash } from 'node:crypto';
import type { SandboxSecrets, SecretUse, TaskSecret } from '../../engine/sandbox/sandbox.js';
import type { UseRow } from '../../resources/secrets/secret-uses.sql.js';
import type { UsableSecret } from '../../resources/secrets/secrets-of.js';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * What stands for a value inside: the same in each run of the task, so that files which have it go on working. It is worthless wherever a session has not
 * the secret, so nothing of it is secret.
 */
export function placeholderOf(taskId: string, secretId: string): string {
  const bytes = createHash('sha256').update(`${taskId} ${secretId}`).digest().subarray(0, 24);
  return `mwsec_${[...bytes].map((byte) => LETTERS[byte % LETTERS.length]).join('')}`;
}

/** The secrets of one run: read when its sandbox or its model first wants them, and held in memory as long as it goes on. */
export class TaskSecrets {
  private reading: Promise<SandboxSecrets | null> | undefined;
  private known: (TaskSecret & { id: string })[] = [];
  private readonly listeners = new Set<(all: readonly TaskSecret[]) => void>();
  private uses = new Map<string, UseRow>();

  readonly workspaceId: string;
  readonly taskId: string;
  /** As whom the task works. */
  readonly userId: string;
  private readonly approved: readonly string[] | 'all';

  /**
   * @param of `approved`: the names of those that may be used; the others wait for a person.
   * @param resolve reads which secrets there are now.
   */
  constructor(
    of: { workspaceId: string; taskId: string; userId: string; approved: readonly string[] | 'all' },
    private readonly resolve: () => Promise<UsableSecret[]>,
  ) {
    ({ workspaceId: this.workspaceId, taskId: this.taskId, userId: this.userId, approved: this.approved } = of);
  }

  /** Null: there are none. Rejects when they cannot be read. */
  open = (): Promise<SandboxSecrets | null> => {
    this.reading ??= this.read().catch((error: unknown) => {
      this.reading = undefined;
      throw error;
    });
    return this.reading;
  };

  /** Reads them again. What is new has to wait for the next run: nothing inside has its variable. */
  async refresh(): Promise<void> {
    if (this.known.length === 0) return;
    const now = new Map((await this.resolve()).map((secret) => [secret.id, secret]));
    this.known = this.known.map((secret) => {
      const { value = null, bindings = secret.bindings } = now.get(secret.id) ?? {};
      return { ...secret, value, bindings };
    });
    for (const changed of this.listeners) changed(this.known);
  }

  /** What has come since the last time. */
  take(): UseRow[] {
    const uses = [...this.uses.values()];
    this.uses = new Map();
    return uses;
  }

  private async read(): Promise<SandboxSecrets | null> {
    const usable = await this.resolve();
    this.known = usable.map((secret) => {
      const approved = this.approved === 'all' || this.approved.includes(secret.name);
      return { ...secret, approved, placeholder: placeholderOf(this.taskId, secret.id) };
    });
    if (this.known.length === 0) return null;
    return {
      all: this.known,
      onUse: (use) => this.count(use),
      listen: (changed) => {
        this.listeners.add(changed);
        return () => this.listeners.delete(changed);
      },
    };
  }

  private count({ secret: name, host, what }: SecretUse): void {
    const id = this.known.find((one) => one.name === name)?.id;
    if (id === undefined) return;
    const at = new Date();
    const key = `${id} ${host}`;
    const use = this.uses.get(key) ?? { secretId: id, name, host, requests: 0, refused: 0, masked: 0, firstAt: at, lastAt: at }; // prettier-ignore
    const field = { used: 'requests', refused: 'refused', masked: 'masked' } as const;
    use[field[what]] += 1;
    use.lastAt = at;
    this.uses.set(key, use);
  }
}
