// A push service (RFC 8030) with browsers of its own: what is sent to one is decrypted with the browser's key, and the signature of the
// sender is checked, both by hand (RFC 8188, 8291, 8292).
import {
  createDecipheriv,
  createECDH,
  createHmac,
  createPublicKey,
  type ECDH,
  hkdfSync,
  randomBytes,
  verify,
} from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until.js';

export interface Pushed {
  headers: IncomingHttpHeaders;
  notice: { kind: string; taskId: string | null; title: string; link: string; text: string };
}

export interface TestBrowser {
  path: string;
  /** As `PushSubscription.toJSON()` gives it. */
  subscription: { endpoint: string; expirationTime: null; keys: { p256dh: string; auth: string } };
  received: Pushed[];
  /** Statuses that are answered instead of 201, one after the other; nothing is received then. */
  statuses: number[];
}

export class PushService {
  private readonly browsers = new Map<string, TestBrowser & { keys: ECDH; secret: Buffer }>();

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<PushService> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        response.statusCode = service.take(request.url ?? '', request.headers, Buffer.concat(chunks));
        response.end();
      });
    });
    const service = new PushService(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return service;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** @param publicKey of the sender, as the browser is given it when it subscribes. */
  browser(publicKey: string): TestBrowser {
    const [path, secret, keys] = [`/${randomBytes(12).toString('hex')}`, randomBytes(16), createECDH('prime256v1')];
    const p256dh = keys.generateKeys('base64url');
    const subscription = {
      endpoint: this.origin + path,
      expirationTime: null,
      keys: { p256dh, auth: secret.toString('base64url') },
    };
    const browser = { path, subscription, received: [], statuses: [], keys, secret, publicKey };
    this.browsers.set(path, browser);
    return browser;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private take(path: string, headers: IncomingHttpHeaders, body: Buffer): number {
    const browser = this.browsers.get(path);
    if (browser === undefined) return 410;
    const status = browser.statuses.shift();
    if (status !== undefined) return status;
    if (!this.isSigned(headers.authorization ?? '', (browser as unknown as { publicKey: string }).publicKey)) return 403;
    if (headers['content-encoding'] !== 'aes128gcm' || body.length > 4096) return 400;
    const text = decrypted(body, browser.keys, browser.secret);
    browser.received.push({ headers, notice: JSON.parse(text) as Pushed['notice'] });
    return 201;
  }

  /** `vapid t=…, k=…`: a JWT of the key that the browser has subscribed with, for this service, for a day at most. */
  private isSigned(authorization: string, publicKey: string): boolean {
    const [, token = '', key] = /^vapid t=([^,]+), k=(.+)$/.exec(authorization) ?? [];
    const [head = '', claims = '', signature = ''] = token.split('.');
    const point = Buffer.from(publicKey, 'base64url');
    const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')];
    const made = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
    const { aud, exp, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, string>;
    const ahead = Number(exp) - Date.now() / 1000;
    return (
      key === publicKey &&
      aud === this.origin &&
      ahead > 0 &&
      ahead <= 86_400 &&
      /^(mailto:|https:)/.test(sub ?? '') &&
      verify('sha256', Buffer.from(`${head}.${claims}`), { key: made, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))
    );
  }
} // prettier-ignore

export const receives = (browser: TestBrowser, count = 1): Promise<Pushed[]> =>
  until(`${count} notices at a browser`, () => browser.received.length >= count && browser.received);

/** One record (RFC 8188) with the key of the sender in its head (RFC 8291, section 3.4). */
function decrypted(body: Buffer, keys: ECDH, secret: Buffer): string {
  const salt = body.subarray(0, 16);
  const length = body[20] ?? 0;
  const sender = body.subarray(21, 21 + length);
  const shared = keys.computeSecret(sender);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), keys.getPublicKey(), sender]);
  const key = Buffer.from(hkdfSync('sha256', shared, secret, info, 32));
  const prk = createHmac('sha256', salt).update(key).digest();
  const derived = (label: string, bytes: number) =>
    createHmac('sha256', prk).update(`Content-Encoding: ${label}\0\x01`).digest().subarray(0, bytes);
  const sealed = body.subarray(21 + length);
  const decipher = createDecipheriv('aes-128-gcm', derived('aes128gcm', 16), derived('nonce', 12));
  decipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  // The last record ends with a 2, and zeros.
  return plain.subarray(0, plain.lastIndexOf(2)).toString('utf8');
}
