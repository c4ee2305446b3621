// What is tried from inside of a sandbox: one attempt is bytes for one connection, or a command.
import type { numbers } from '../harness/numbers.js';

/** A connection through the proxy, or a command; the bytes that come back are kept. */
export type Attempt = Sent | { shell: string };
export interface Sent {
  /** What CONNECT is asked for, `host:port`; null: the bytes go to the proxy itself. */
  to: string | null;
  /** In place of the head of CONNECT that belongs to `to`. */
  head?: string;
  /** What is said in the handshake; null: no TLS. Default: the name in `to`, and HTTP/1.1. */
  tls?: { name?: string; alpn?: string[] } | null;
  /** Latin-1, one write each. */
  send: string[];
  /** Whether each waits for the answer to the one before. */
  turns?: boolean;
}

/** The hosts and placeholders that attempts are made of. */
export interface Scene {
  /** TOKEN is bound to it as a bearer, KEY as `key`, SCOPED as `X-Scoped` for GET below `/repos/acme/`. */
  bound: string;
  /** TOKEN is bound to it in Basic. */
  basic: string;
  /** The same server by another name, which nothing is bound to. */
  other: string;
  /** A server of somebody else, that may be reached. */
  thief: string;
  /** The port for plain HTTP of the bound host. */
  plain: string;
  /** TOKEN is bound to them. They lead to the thief, or to where nothing may go. */
  rebound: string[];
  token: string;
  key: string;
  scoped: string;
  /** Bound as a bearer and as `wait`, and not approved. */
  waiting: string;
  /** Of the task of another tenant, whose names are the same. */
  strange: { token: string; socket: string; folder: string };
}

export interface Kind {
  name: string;
  /** The attempt of a number: each number is another one, as far as there are so many. */
  make: (scene: Scene, n: number, random: ReturnType<typeof numbers>) => Attempt;
  /** What an answer has when the attempt has come as far as it is meant to. */
  shows?: RegExp;
  /** It takes seconds: a third of the attempts that others have. */
  slow?: boolean;
}

interface Asked {
  method?: string;
  target?: string;
  version?: string;
  host?: string | null;
  /** Lines, without line breaks. */
  lines?: string[];
  body?: string;
}

/** Of an attempt that the proxy may end without a word, for it cannot read it. */
export const ANYTHING = /(?:)/;

/** A request, whose connection ends with its answer. */
export function http(
  host: string,
  { method = 'GET', target = '/a', version = 'HTTP/1.1', lines = [], body = '', ...more }: Asked,
): string {
  // prettier-ignore
  const named = more.host === undefined ? host : more.host;
  const framed = lines.some((line) => /^(content-length|transfer-encoding)/i.test(line));
  const head = [`${method} ${target} ${version}`, ...(named === null ? [] : [`Host: ${named}`]), 'Connection: close', ...lines]; // prettier-ignore
  if (body !== '' && !framed) head.push(`Content-Length: ${body.length}`);
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** To a host, by HTTPS. */
export const ask = (to: string, asked: Asked, more: Partial<Sent> = {}): Sent => ({ to, send: [http(to, asked)], ...more }); // prettier-ignore
export const bearer = (placeholder: string) => `Authorization: Bearer ${placeholder}`;
export const base64 = (value: string) => Buffer.from(value).toString('base64');
export const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
export const nameOf = (host: string) => host.slice(0, host.lastIndexOf(':'));
export const portOf = (host: string) => host.slice(host.lastIndexOf(':') + 1);
/** Somewhere in the middle of a text. */
export const cut = (value: string, random: () => number): [string, string] => {
  const at = 1 + Math.floor(random() * (value.length - 1));
  return [value.slice(0, at), value.slice(at)];
};
