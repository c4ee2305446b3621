import type { Env } from '../config/env.js';

/** Where the service of this configuration listens: `http://HOST:PORT`. A wildcard address is reached by the loopback one. */
export function listeningOrigin({ variables: { HOST, PORT } }: Env): string {
  return `http://${hostOf(HOST)}:${PORT}`;
}

/** As it stands in a URL. */
export function hostOf(given: string): string {
  const host = given === '0.0.0.0' ? '127.0.0.1' : given === '::' ? '::1' : given;
  return host.includes(':') ? `[${host}]` : host;
}
