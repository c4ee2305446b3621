import { createECDH } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Secrets } from '../../platform/config/secrets.js';

/**
 * The key pair by which push services know this installation (VAPID, RFC 8292), in base64url. It is made of `SECRET_KEY`, so every process
 * has the same, and no browser has to subscribe anew after a restart.
 */
@Injectable()
export class VapidKeys {
  readonly publicKey: string;
  readonly privateKey: string;

  constructor(secrets: Secrets) {
    const curve = createECDH('prime256v1');
    const privateKey = scalarOf(secrets, (candidate) => curve.setPrivateKey(candidate));
    this.privateKey = privateKey.toString('base64url');
    this.publicKey = curve.getPublicKey('base64url');
  }
}

/** A private key of the curve: the first of these numbers that is one. The first one is, but for one secret in 2^32. */
function scalarOf(secrets: Secrets, set: (candidate: Buffer) => void): Buffer {
  const key = secrets.key('push');
  for (let n = 1; ; n += 1) {
    const candidate = secrets.mac(key, String(n));
    try {
      set(candidate);
      return candidate;
    } catch {
      // It is not below the order of the curve.
    }
  }
}
