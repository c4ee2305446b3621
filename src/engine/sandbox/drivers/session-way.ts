import type { NetworkReport } from '../network/network-use.js';
import type { NetworkProxy, WayOptions, WayOut } from '../network/network-proxy.js';
import type { NetworkRefusal } from '../network/refusals.js';
import { SandboxError, type SandboxOpenOptions, type TaskSecret } from '../sandbox.js';
import type { SessionParts } from './session-parts.js';

/** Throws {@link SandboxError} when a session wants a door that has none. */
export function needNoDoor({ door }: SandboxOpenOptions): void {
  if (door === undefined) return;
  throw new SandboxError(
    'Engines work in a sandbox alone: without one a task has no loopback of its own. Set SANDBOX to bubblewrap or namespaces.',
  );
}

/** How a session gets its way out: to hosts, where it `leads` to any, and to its door; null: it has none. */
export function wayOutOf(
  proxy: NetworkProxy,
  options: SandboxOpenOptions & Pick<WayOptions, 'user' | 'hosts' | 'authorities'> & { leads: boolean; base: string },
): SessionParts['wayOut'] {
  const { taskId, network = false, onNetwork: onUse = () => undefined, door } = options;
  const { user, hosts, authorities, leads, base } = options;
  if (!leads && door === undefined) return null;
  const about = { taskId, user, hosts: leads ? hosts : [], bound: !network, onUse, authorities, door };
  return (given, onRefusal) => proxy.open(base, { ...about, secrets: leads ? given : undefined, onRefusal });
}

/** The way out of one session, which all its commands have in common. */
export class SessionWay {
  private way: Promise<WayOut> | undefined;
  /** Whether a command had a network. */
  private reached = false;
  private readonly refused: NetworkRefusal[] = [];

  constructor(private readonly parts: Pick<SessionParts, 'wayOut' | 'leads' | 'hosts'>) {}

  /** Made when the first command wants it, and again when it was lost. Null: nothing leads out. */
  async open(secrets: Parameters<NonNullable<SessionParts['wayOut']>>[0]): Promise<WayOut | null> {
    const { wayOut: open, leads } = this.parts;
    if (open === null) return null;
    const made = (this.way ??= open(secrets, (refusal) => void this.refused.push(refusal)));
    const forget = () => {
      if (this.way === made) this.way = undefined;
    };
    made.then(async ({ lost }) => (await lost) && forget(), forget);
    const way = await made;
    this.reached = leads;
    return way;
  }

  /** Values of the next requests. */
  change(all: readonly TaskSecret[]): void {
    this.way?.then((way) => way.change(all)).catch(() => undefined);
  }

  /** What commands reach, once one of them could reach anything; null until then. */
  get network(): NetworkReport | null {
    return this.reached ? { hosts: this.parts.hosts, refused: [...this.refused] } : null;
  }

  async close(): Promise<void> {
    await (await this.way?.catch(() => undefined))?.close();
  }
}
