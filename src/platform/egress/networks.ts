import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

// What IANA's registries of special-purpose addresses give to anything but public unicast:
// https://www.iana.org/assignments/iana-ipv4-special-registry and https://www.iana.org/assignments/iana-ipv6-special-registry.
const NOT_PUBLIC = networks(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
);
/** All global unicast of IPv6 that is given out lies in it (RFC 4291, section 2.4). What lies outside is not public. */
const GLOBAL_IPV6 = networks('2000::/3');

/** Prefixes of IPv6 addresses that stand for an IPv4 address, and the first of the two 16-bit words that hold it. */
const HOLDING_IPV4: readonly [prefix: number[], at: number][] = [
  // Mapped (RFC 4291, section 2.5.5.2), NAT64 (RFC 6052, section 2.1), 6to4 (RFC 3056, section 2).
  [[0, 0, 0, 0, 0, 0xffff], 6],
  [[0x64, 0xff9b, 0, 0, 0, 0], 6],
  [[0x2002], 1],
];

/**
 * Which addresses the service may connect to for a tenant (reference §18): public unicast, and what lies in the networks that
 * the operator lists. An IPv6 address that stands for an IPv4 address is judged as that, however it is spelled.
 */
export class AllowedNetworks {
  private readonly listed: BlockList;

  /** @param cidrs such as `10.0.0.0/8` and `fd00::/8`; see {@link isCidr}. */
  constructor(cidrs: readonly string[]) {
    this.listed = networks(...cidrs);
  }

  /** @param address an IP address; anything else is not allowed. */
  allows(address: string): boolean {
    const plain = plainAddress(address);
    return plain !== null && (isPublic(plain) || within(this.listed, plain));
  }

  /** Whether the operator has named it, public or not. */
  lists(address: string): boolean {
    const plain = plainAddress(address);
    return plain !== null && within(this.listed, plain);
  }
}

/** Whether the text is an address, a slash and the length of the prefix. */
export function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  const family = isIP(address);
  return more.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function isPublic(address: string): boolean {
  if (within(NOT_PUBLIC, address)) return false;

  return isIPv4(address) || within(GLOBAL_IPV6, address);
}

function within(list: BlockList, address: string): boolean {
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

function networks(...cidrs: string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** The IPv4 address that an IPv6 address stands for, else the address itself; null for what is none, or has a zone. */
function plainAddress(address: string): string | null {
  if (isIPv4(address)) return address;
  // An address with a zone is of one link of this host.
  if (!isIPv6(address) || address.includes('%')) return null;
  const words = wordsOf(address);
  const holding = HOLDING_IPV4.find(([prefix]) => prefix.every((word, index) => words[index] === word));
  if (holding === undefined) return address;
  const [, at] = holding;
  return words
    .slice(at, at + 2)
    .flatMap((word) => [word >> 8, word & 0xff])
    .join('.');
}

/** The eight 16-bit words of an IPv6 address. */
function wordsOf(address: string): number[] {
  // The URL parser writes an address in one way: in hexadecimal, without a dotted end.
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const read = (text: string) => (text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16)));
  const [first, last] = [read(left), read(right ?? '')];
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}
