// An authority of one session: certificates (RFC 5280) for the hosts whose connections the proxy opens, in DER by hand. Of the libraries that make
// some, those that know elliptic curves take 10 ms and 21 packages for what takes 1 ms here (docs/decisions/0096).
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

const DAY_MS = 86_400_000;
/** A session is a run; the longest one ends before. */
const DAYS = 7;
/** Clocks inside are those of the host; another hour for what was made from a time that was put back. */
const EARLIER_MS = 3_600_000;

/** Universal tags of ASN.1 (X.690, section 8). */
const [BOOLEAN, INTEGER, BITS, OCTETS, OBJECT, UTF8, TIME, SEQUENCE, SET] = [1, 2, 3, 4, 6, 0x0c, 0x18, 0x30, 0x31];

function element(tag, ...parts) {
  const body = Buffer.concat(parts);
  const { length } = body;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : long)]), body]);
}
const sequence = (...parts) => element(SEQUENCE, ...parts);
const bytes = (...values) => Buffer.from(values);
const bits = (content, unused = 0) => element(BITS, bytes(unused), content);

function object(text) {
  const [first, second, ...others] = text.split('.').map(Number);
  const groups = others.flatMap((number) => {
    const septets = [number & 127];
    for (let rest = number >>> 7; rest > 0; rest >>>= 7) septets.unshift((rest & 127) | 128);
    return septets;
  });
  return element(OBJECT, bytes(first * 40 + second, ...groups));
}

const ECDSA_WITH_SHA256 = sequence(object('1.2.840.10045.4.3.2'));
const COMMON_NAME = object('2.5.4.3');
const SERVER_AUTHENTICATION = object('1.3.6.1.5.5.7.3.1');
const [SUBJECT_KEY, KEY_USAGE, ALTERNATIVE_NAME, BASIC_CONSTRAINTS, AUTHORITY_KEY, EXTENDED_USAGE] = [
  '2.5.29.14',
  '2.5.29.15',
  '2.5.29.17',
  '2.5.29.19',
  '2.5.29.35',
  '2.5.29.37',
].map(object);

const name = (text) => sequence(element(SET, sequence(COMMON_NAME, element(UTF8, Buffer.from(text)))));
const time = (at) => element(TIME, Buffer.from(new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '')));
const extension = (id, content) => sequence(id, element(OCTETS, content));
const critical = (id, content) => sequence(id, element(BOOLEAN, bytes(255)), element(OCTETS, content));
/** The SHA-1 of the point, as RFC 5280, section 4.2.1.2, has it. */
const keyId = (spki) => createHash('sha1').update(spki.subarray(-65)).digest();

function addressBytes(address) {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [left, right] = address.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const groups = right === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill('0'), ...right];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/** The key never leaves this object, and goes with the session. */
export class Authority {
  #name;
  #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  /** One for all hosts. */
  #hostKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  #spki = this.#keys.publicKey.export({ type: 'spki', format: 'der' });
  #from = Date.now() - EARLIER_MS;
  /** Its own certificate, PEM. */
  certificate;

  /** @param {string} name as people read it in a certificate. */
  constructor(name) {
    this.#name = name;
    this.certificate = this.#issue(name, this.#spki, [
      // It signs certificates of hosts alone, and no further authorities.
      critical(BASIC_CONSTRAINTS, sequence(element(BOOLEAN, bytes(255)), element(INTEGER, bytes(0)))),
      critical(KEY_USAGE, bits(bytes(0x06), 1)),
    ]);
  }

  /** What a server needs to be this host: its certificate with that of the authority behind it, and the key. PEM. */
  host(host) {
    const address = host.replace(/^\[|\]$/g, '');
    const named =
      isIP(address) === 0 ? element(0x82, Buffer.from(address, 'latin1')) : element(0x87, addressBytes(address));
    const { publicKey, privateKey } = this.#hostKeys;
    const own = this.#issue(address.slice(0, 64), publicKey.export({ type: 'spki', format: 'der' }), [
      extension(ALTERNATIVE_NAME, sequence(named)),
      extension(BASIC_CONSTRAINTS, sequence()),
      critical(KEY_USAGE, bits(bytes(0x80), 7)),
      extension(EXTENDED_USAGE, sequence(SERVER_AUTHENTICATION)),
    ]);
    return { cert: own + this.certificate, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) };
  }

  #issue(subject, spki, extensions) {
    const serial = Buffer.concat([bytes(0x40), randomBytes(15)]);
    const signed = sequence(
      element(0xa0, element(INTEGER, bytes(2))),
      element(INTEGER, serial),
      ECDSA_WITH_SHA256,
      name(this.#name),
      sequence(time(this.#from), time(this.#from + DAYS * DAY_MS)),
      name(subject),
      spki,
      element(
        0xa3,
        sequence(
          ...extensions,
          extension(SUBJECT_KEY, element(OCTETS, keyId(spki))),
          extension(AUTHORITY_KEY, sequence(element(0x80, keyId(this.#spki)))),
        ),
      ),
    );
    const der = sequence(signed, ECDSA_WITH_SHA256, bits(sign('sha256', signed, this.#keys.privateKey)));
    const lines = der
      .toString('base64')
      .match(/.{1,64}/g)
      .join('\n');
    return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  }
}
