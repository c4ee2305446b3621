// Certificate authorities that programs in sandboxes trust (reference §15).
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';

/** Where distributions have the bundle of all authorities, as Go's crypto/x509 looks for it: Debian, Fedora, openSUSE, RHEL, Alpine. */
const USUAL = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of authorities, and where they are from, for the report at boot. */
export interface Authorities {
  certificates: X509Certificate[];
  from: string;
}

/**
 * Those of `caFile` (PEM) alone when it is given, else those of this host, else those that Node was built with.
 * Throws an Error that says what is wrong with `caFile`.
 */
export function findAuthorities(caFile: string | undefined): Authorities {
  if (caFile !== undefined) {
    const blocks = readFileSync(caFile, 'utf8').match(CERTIFICATE) ?? [];
    if (blocks.length === 0) throw new Error('it has no certificate');
    return { certificates: blocks.map((block) => new X509Certificate(block)), from: caFile };
  }
  for (const path of USUAL.filter((one) => existsSync(one))) {
    const certificates = (readFileSync(path, 'utf8').match(CERTIFICATE) ?? []).flatMap(readable);
    if (certificates.length > 0) return { certificates, from: path };
  }
  return { certificates: rootCertificates.flatMap(readable), from: 'Node.js, because this host has none' };
}

/** A host may have one that is none; its others count. */
function readable(block: string): X509Certificate[] {
  try {
    return [new X509Certificate(block)];
  } catch {
    return [];
  }
}
