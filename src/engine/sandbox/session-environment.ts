// What of an environment holds in a session (reference §25). It widens nothing: what is more than the operator allows is not in force.
import { hostsWithin, isAmong, ruleOf, withoutAny } from '../../platform/config/network.js';
import { leadsTo, type VaultBinding, type VaultSecret } from './network/vault.mjs';

/** Limits that an environment may lower. */
type Lowered = Record<'wallClockSeconds' | 'memoryBytes' | 'diskBytes', number>;

export interface SessionEnvironment {
  /** That each command has. What the sandbox sets by itself goes before them. */
  variables: Readonly<Record<string, string>>;
  /** What commands with a network reach in place of the operator's hosts, in the same form; empty: nothing. */
  hosts: readonly string[];
  /** Lower ones than the operator's. */
  limits: Partial<Lowered>;
  /** By name the version, of those that the operator has: each is found before other programs. */
  tools: Readonly<Record<string, string>>;
}

/** The environment that a task works in. */
export interface TaskEnvironment extends SessionEnvironment {
  slug: string;
  version: number;
  /** Names of the secrets that it asks for; the task has no others. */
  secrets: readonly string[];
}

/** What commands with a network reach. @param allowed by the operator. */
export function hostsOf(
  allowed: readonly string[],
  environment: Pick<SessionEnvironment, 'hosts'> | undefined,
): readonly string[] {
  return environment === undefined ? withoutAny(allowed) : hostsWithin(allowed, environment.hosts);
}

/** Of hosts that may be reached those that secrets are bound to, each with its port. A secret without a value is bound to none. */
export function boundAmong(
  allowed: readonly string[],
  secrets: readonly Pick<VaultSecret, 'value' | 'bindings'>[],
): string[] {
  const bindings = secrets.flatMap(({ value, bindings }) => (value === null ? [] : bindings));
  return [...new Set(bindings.flatMap((binding) => reachedBy(binding, allowed)))];
}

/** A binding may stand for more names than are allowed, which then are named one by one. */
function reachedBy(binding: VaultBinding, allowed: readonly string[]): string[] {
  const { host, port } = binding;
  if (isAmong(allowed, host, port)) return [`${host}:${port}`];
  return allowed.map(ruleOf).flatMap(({ name, below, ports }) => {
    const fits = !below && (ports?.includes(port) ?? true) && leadsTo(binding, name, port);
    return fits ? [`${name}:${port}`] : [];
  });
}

/** Of each limit the lower one. */
export function limitsWithin<L extends Lowered>(allowed: L, own: Partial<Lowered> = {}): L {
  const lower = (name: keyof Lowered) => Math.min(allowed[name], own[name] ?? allowed[name]);
  return {
    ...allowed,
    wallClockSeconds: lower('wallClockSeconds'),
    memoryBytes: lower('memoryBytes'),
    diskBytes: lower('diskBytes'),
  };
}
