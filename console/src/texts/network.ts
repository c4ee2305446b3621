import { count } from '../ui/format.ts';

/** What a task was refused by the network, and what can be done. */
export const network = {
  hosts: 'Hosts',
  none: 'It has reached none.',
  connections: (n: number) => `${count(n)} ${n === 1 ? 'connection' : 'connections'}`,
  failed: (n: number) => `${count(n)} failed`,
  refused: (n: number) => `${count(n)} refused`,
  bytes: (out: string, into: string) => `${out} sent, ${into} received`,
  others: 'others',
  allow: 'Allow this host',
  allowName: (host: string, environment: string) => `Allow this host: ${host} in ${environment}`,
  allowing: 'Allowing …',
  allowed: (host: string, slug: string, version: number) =>
    `${slug} allows ${host} from version ${version} on: in tasks that begin now, not in this one.`,
  already: (host: string, slug: string) => `${slug} allows ${host} by now: in tasks that begin now.`,
  isAllowed: (slug: string) => `${slug} allows it by now`,
  operator: 'The operator decides which hosts commands may reach.',
};
