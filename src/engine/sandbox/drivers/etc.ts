// What a sandbox has of /etc beside its own few files: what programs of /usr have there, and the authorities that they trust.
import { createHash, type X509Certificate } from 'node:crypto';
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AUTHORITIES, JAVA_AUTHORITIES } from '../network/inside.js';

/** Links of Debian's alternatives (awk is one), the loader's list of libraries, and what these languages do not start without. */
const FROM_ETC = /^(alternatives|ld\.so\.cache|java|java-.*|dotnet)$/;
const BELOW_ETC = ['ssl/openssl.cnf', 'pki/tls/openssl.cnf', 'maven/m2.conf', 'maven/logging'];
/** Where programs of other distributions look for the same two files. */
const LINKS: Record<string, string> = {
  '/etc/ssl/cert.pem': AUTHORITIES,
  '/etc/ssl/ca-bundle.pem': AUTHORITIES,
  '/etc/pki/tls/cert.pem': AUTHORITIES,
  '/etc/pki/tls/certs/ca-bundle.crt': AUTHORITIES,
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem': AUTHORITIES,
  '/etc/pki/ca-trust/extracted/java/cacerts': JAVA_AUTHORITIES,
  '/etc/pki/java/cacerts': JAVA_AUTHORITIES,
};

/** Names below the host's `/etc` that are there inside too. */
export function namesFromEtc(): string[] {
  return [
    ...readdirSync('/etc').filter((name) => FROM_ETC.test(name)),
    ...BELOW_ETC.filter((name) => existsSync(`/etc/${name}`)),
  ];
}

/** Changes with every file of these names. */
export function versionOfEtc(names: readonly string[]): unknown[] {
  return names.map((name) => {
    const path = `/etc/${name}`;
    const below = lstatSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : [];
    return [name, ...['', ...below.sort()].map((one) => [one, lstatSync(join(path, one)).mtimeMs])];
  });
}

/** @param root the folder that becomes `/`. */
export function writeEtc(root: string, names: readonly string[], authorities: readonly X509Certificate[]): void {
  for (const name of names) {
    const target = join(root, 'etc', name);
    mkdirSync(dirname(target), { recursive: true });
    // What others may not read is not for a sandbox, and an ordinary user's service could not copy it.
    cpSync(`/etc/${name}`, target, { recursive: true, verbatimSymlinks: true, filter: isOpen });
  }
  write(root, AUTHORITIES, trustBundle(authorities));
  write(root, JAVA_AUTHORITIES, javaTrustStore(authorities));
  for (const [path, to] of Object.entries(LINKS)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    symlinkSync(to, join(root, path));
  }
}

function write(root: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content, { mode: 0o644 });
}

function isOpen(path: string): boolean {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return true;
  return stat.isDirectory() ? (stat.mode & 0o005) === 0o005 : stat.isFile() && (stat.mode & 0o004) !== 0;
}

/** What OpenSSL, and most programs with it, trust: PEM, one behind the other. */
export function trustBundle(certificates: readonly X509Certificate[]): string {
  return certificates.map(String).join('');
}

/** The keystore that every Java reads (JKS, sun.security.provider.JavaKeyStore), with the password that they all have. */
export function javaTrustStore(certificates: readonly X509Certificate[]): Buffer {
  const u32 = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const text = (value: string) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(value.length);
    return Buffer.concat([length, Buffer.from(value, 'latin1')]);
  };
  // Of an entry: its kind, 2 for a trusted certificate; its name; when it was made, in milliseconds; the certificate.
  const entries = certificates.map(({ raw }, index) =>
    Buffer.concat([u32(2), text(`authority-${index}`), Buffer.alloc(8), text('X.509'), u32(raw.length), raw]),
  );
  const store = Buffer.concat([u32(0xfeedfeed), u32(2), u32(certificates.length), ...entries]);
  const password = Buffer.from('changeit', 'utf16le').swap16();
  return Buffer.concat([store, createHash('sha1').update(password).update('Mighty Aphrodite').update(store).digest()]);
}
