// Which hosts commands may reach (reference §16): `network`, `allowHosts`, `allowNetworks`, `secretHosts` and `caFile` of `sandbox`.
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { networksSchema } from './repositories.js';

/** All public hosts. Of those of commands environments of workspaces choose among them (reference §25). */
export const ANY = '*';
/** A name, `*.` and a name, or an address; with a port or without. */
const HOST = /^((\*\.)?[a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[1-9]\d{0,4})?$/;

/** A list of hosts. */
export const hostsSchema = z.array(
  z
    .string()
    .refine(
      (text) => text === ANY || HOST.test(text),
      'a host name in small letters is expected, such as registry.npmjs.org or *.npmjs.org',
    )
    .refine(
      (text) => text === ANY || isAsAsked(text),
      'a host as URLs have it is expected, such as [fd00::1]:8080 or 10.0.0.1',
    ),
);

/** The part of `sandbox` that is about the network. */
export const networkShape = {
  network: z.enum(['none', 'allow']).optional(),
  allowHosts: hostsSchema.optional(),
  /** Of them, those that secrets may be bound to; all without it. */
  secretHosts: hostsSchema.optional(),
  /** Networks that allowed hosts may lie in although they are not public. */
  allowNetworks: networksSchema.optional(),
  /** A file of certificates (PEM): the authorities that commands trust in place of the host's. */
  caFile: z.string().refine(isAbsolute, 'an absolute path of a file is expected').optional(),
};

interface Network {
  network?: 'none' | 'allow' | undefined;
  allowHosts?: string[] | undefined;
  secretHosts?: string[] | undefined;
  allowNetworks?: string[] | undefined;
}

/** Refuses hosts without a network, a network without hosts, and secrets for hosts that are out of reach. */
export function hostsFitNetwork(
  { network, allowHosts = [], secretHosts = [] }: Network,
  context: z.RefinementCtx,
): void {
  const message =
    network === 'allow'
      ? allowHosts.length === 0 && 'at least one host is expected with "network": "allow", such as registry.npmjs.org'
      : allowHosts.length > 0 && 'an empty list is expected, because there is no network';
  if (message !== false) context.addIssue({ code: 'custom', path: ['allowHosts'], message });
  const outside = secretHosts.findIndex((host) => {
    const { name, below, ports } = ruleOf(host);
    return !(ports?.some((port) => isAmong(allowHosts, below ? `*${name}` : name, port)) ?? allowHosts.includes(ANY));
  });
  if (outside < 0) return;
  const expected = 'a host that allowHosts has too is expected: commands reach no other';
  context.addIssue({ code: 'custom', path: ['secretHosts', outside], message: expected });
}

/** Hosts that secrets may be bound to (reference §24). */
export function secretHostsOf({ allowHosts = [], secretHosts = allowHosts }: Network = {}): readonly string[] {
  return secretHosts;
}

/** Ports of a host that is listed without one. */
const PORTS = [80, 443];

/** What commands reach that work in no environment: which of all hosts those are only an environment says. */
export function withoutAny(listed: readonly string[]): readonly string[] {
  return listed.filter((host) => host !== ANY);
}

/** `ports` null: all. */
export interface HostRule {
  name: string;
  below: boolean;
  ports: number[] | null;
}

/** Which hosts and ports an entry of a list stands for. `below`: `name` begins with a dot, or is empty, and stands for all names that end with it. */
export function ruleOf(listed: string): HostRule {
  if (listed === ANY) return { name: '', below: true, ports: null };
  const port = /:(\d+)$/.exec(listed.replace(/^\[.*\]/, ''))?.[1];
  const host = port === undefined ? listed : listed.slice(0, -port.length - 1);
  const below = host.startsWith('*.');
  return { name: below ? host.slice(1) : host, below, ports: port === undefined ? PORTS : [Number(port)] };
}

/** Whether a list of hosts has this one with this port. @param host a name, an address, or `*.` and a name for all that lies below it. */
export function isAmong(listed: readonly string[], host: string, port: number): boolean {
  const name = host.replace(/^\*/, '');
  return listed.map(ruleOf).some((rule) => {
    return (rule.ports?.includes(port) ?? true) && (rule.below ? name.endsWith(rule.name) : host === rule.name);
  });
}

/** Those of the asked hosts that a list has with all their ports. */
export function hostsWithin(listed: readonly string[], asked: readonly string[]): string[] {
  return asked.filter((host) => {
    const { name, below, ports } = ruleOf(host);
    return ports?.every((port) => isAmong(listed, below ? `*${name}` : name, port)) ?? listed.includes(ANY);
  });
}

/** Whether a list of hosts may have it. */
export const isHost = (text: string): boolean => HOST.test(text) && isAsAsked(text);

/** A proxy is asked in the spelling of URLs: another one of the same address, and a port that is none, would never match. */
function isAsAsked(host: string): boolean {
  const name = host.replace(/^\*\./, '');
  const url = `https://${name}`;
  return URL.canParse(url) && new URL(url).hostname === name.replace(/:\d+$/, '');
}
