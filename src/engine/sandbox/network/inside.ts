// What a command sees of the network: a proxy at an address of its own loopback, and variables that name it.

/** The socket that leads out, where there is one; else an empty file. */
export const WAY_OUT = '/opt/millwright/network';
/** The program that takes connections to the loopback over to it. */
export const FORWARDER = '/opt/millwright/forwarder.mjs';
/** What makes older versions of Node find the proxy. */
export const NODE_PROXY = '/opt/millwright/proxy.cjs';
/** The authorities that programs trust, as one file, and as Java reads them. */
export const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
export const JAVA_AUTHORITIES = '/etc/ssl/certs/java/cacerts';
/** Above the ports that the system gives out itself (32768 to 60999). */
export const PROXY_PORT = 61_080;

const PROXY = `http://127.0.0.1:${PROXY_PORT}`;
const LOCAL = 'localhost,127.0.0.1,::1';

/** By which programs find it: curl, git, pip, npm, cargo, go. Some read the small names alone, others the large ones. */
export const NETWORK_VARIABLES: Record<string, string> = {
  http_proxy: PROXY,
  https_proxy: PROXY,
  all_proxy: PROXY,
  no_proxy: LOCAL,
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  ALL_PROXY: PROXY,
  NO_PROXY: LOCAL,
  npm_config_proxy: PROXY,
  npm_config_https_proxy: PROXY,
  npm_config_noproxy: LOCAL,
  // Of Node from 22.21 and 24.5 on; the file is for those before.
  NODE_USE_ENV_PROXY: '1',
  NODE_OPTIONS: `--require ${NODE_PROXY}`,
  // Java knows no variable of the proxy. It says on standard error that it has read this one.
  JAVA_TOOL_OPTIONS: [
    ...['http', 'https'].flatMap((name) => [`-D${name}.proxyHost=127.0.0.1`, `-D${name}.proxyPort=${PROXY_PORT}`]),
    `-Djavax.net.ssl.trustStore=${JAVA_AUTHORITIES}`,
  ].join(' '),
  // For programs that bring authorities of their own: one list for all. Without them the others find it by its path.
  SSL_CERT_FILE: AUTHORITIES,
  CURL_CA_BUNDLE: AUTHORITIES,
  GIT_SSL_CAINFO: AUTHORITIES,
  REQUESTS_CA_BUNDLE: AUTHORITIES,
  PIP_CERT: AUTHORITIES,
  NODE_EXTRA_CA_CERTS: AUTHORITIES,
  DENO_CERT: AUTHORITIES,
  CARGO_HTTP_CAINFO: AUTHORITIES,
};

/** Files of the host that lead out. */
export interface WayFiles {
  /** The socket. */
  path: string;
  /** What is trusted in place of what all sandboxes share; null: that. */
  trusted: { authorities: string; javaAuthorities: string } | null;
}

/** Where they are mounted, read-only: what on the host, and where inside. */
export function mountsOf(files: WayFiles | null): [string, string][] {
  if (files === null) return [];
  const { path, trusted } = files;
  const own: [string, string][] =
    trusted === null
      ? []
      : [
          [trusted.authorities, AUTHORITIES],
          [trusted.javaAuthorities, JAVA_AUTHORITIES],
        ];
  return [[path, WAY_OUT], ...own];
}

/** How the forwarder is started: by which node, what, its port, its socket. */
export function forwarderOf(node: string): string[] {
  return [node, FORWARDER, String(PROXY_PORT), WAY_OUT];
}

/** What the report of a driver says of the network. `answers`: what the trial at boot found; `trusted`: which authorities. */
export function networkReport(
  hosts: readonly string[],
  answers: boolean,
  trusted: string,
): { active: string[]; missing: string[] } {
  if (hosts.length === 0) return { active: [], missing: [] };
  if (answers)
    return {
      active: [`Of hosts they reach ${hosts.join(', ')}, through a proxy; they trust ${trusted}.`],
      missing: [],
    };
  return { active: [], missing: ['Commands reach none of allowHosts: the proxy does not answer inside.'] };
}
