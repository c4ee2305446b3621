import { basicCredential } from '../../platform/config/repositories.js';
import type { RepositoryRules } from './repository-rules.js';

/** Settings of git(1) that lead it to a host: the addresses that were checked, the credential of the workspace if there is one. */
export async function connection(
  url: URL,
  workspaceSlug: string,
  rules: RepositoryRules,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const addresses = await rules.egress.addresses(url, workspaceSlug, signal);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // The addresses that were checked; curl asks nobody else for those of this name.
  const literals = addresses.map((address) => (address.includes(':') ? `[${address}]` : address));
  const token = rules.token(url, workspaceSlug);
  const caFile = rules.caFile(url);
  return {
    ...(addresses.includes(host)
      ? {}
      : { 'http.curloptResolve': `${host}:${url.port || '443'}:${literals.join(',')}` }),
    ...(caFile === null ? {} : { [`http.${url.origin}/.sslCAInfo`]: caFile }),
    ...(token === null
      ? {}
      : { [`http.${url.origin}/.extraHeader`]: `Authorization: Basic ${basicCredential(token)}` }),
  };
}
