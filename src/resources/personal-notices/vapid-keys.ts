import { createECDH } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LastingKeys } from '../../platform/installation/lasting-keys.js';

/**
 * The key pair by which push services know this installation (VAPID, RFC 8292), in base64url. It is made of a lasting key, so every process
 * has the same, and no browser has to subscribe anew after a restart or a change of `SECRET_KEY`.
 */
@Injectable()
export class VapidKeys {
  readonly publicKey: string;
  readonly privateKey: string;

  constructor(keys: LastingKeys) {
    const curve = createECDH('prime256v1');
    const privateKey = scalarOf(keys.mac('push'), (candidate) => curve.setPrivateKey(candidate));
    this.privateKey = privateKey.toString('base64url');
    this.publicKey = curve.getPublicKey('base64url');
  }
}

/** A private key of the curve: the first of these numbers that is one. The first one is, but for one secret in 2^32. */
function scalarOf(mac: (text: string) => Buffer, set: (candidate: Buffer) => void): Buffer {
  for (let n = 1; ; n += 1) {
    const candidate = mac(String(n));
    try {
      set(candidate);
      return candidate;
    } catch {
      // It is not below the order of the curve.
    }
  }
}
