import { isIP } from 'node:net';

const plainOf = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** An address as people write it; null for what is none (a proxy may forward anything). */
export function addressOf(address: string): string | null {
  const plain = plainOf(address);
  return isIP(plain) === 0 ? null : plain;
}

/**
 * Whom an address stands for: itself, or the /64 of an IPv6 address, in which one host has as many as it likes. All that is
 * no address (a proxy may forward anything) is one.
 */
export function networkOf(address: string): string {
  const plain = plainOf(address);
  const version = isIP(plain);
  if (version !== 6) return version === 4 ? plain : 'unknown';
  const [before = [], after = []] = plain.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = new Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, 4).map((group) => parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}

/** As {@link isLoopback}, of a URL, which has IPv6 in brackets. */
export function leadsToLoopback({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

/** Whether only this machine can reach an address. A name other than localhost may lead anywhere. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 0) return host === 'localhost';
  return host === '::1' || host.startsWith('127.') || host.startsWith('::ffff:127.');
}
