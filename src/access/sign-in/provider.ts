// What is asked of an OpenID Connect provider (reference §31). The package is loaded when somebody asks, and only where `signIn` is configured.
import type { Configuration } from 'openid-client';
import { isSafeAddress, type SignInConfig } from '../../platform/config/sign-in.js';

/** For one answer of the provider. */
const SECONDS = 10;

/** A provider whose description was read and is safe to use. */
export interface Provider {
  client: typeof import('openid-client');
  configuration: Configuration;
}

/** The provider's description says something that nobody may rely on. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
}

/**
 * Reads the description of a provider and its public keys. Rejects when it does not answer, says that it is another one, or names an address
 * that is not safe.
 * @param secret that of the client.
 */
export async function discover({ issuer, clientId }: SignInConfig, secret: string): Promise<Provider> {
  const client = await import('openid-client');
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  // The first of them is what a provider takes that says nothing (OpenID Connect Discovery 1.0 §3).
  const auth: typeof basic = (server, ...more) =>
    (server.token_endpoint_auth_methods_supported?.includes('client_secret_basic') === false ? post : basic)(
      server,
      ...more,
    );
  const configuration = await client.discovery(new URL(issuer), clientId, undefined, auth, {
    timeout: SECONDS,
    execute: [
      // Signatures are checked, also of what comes from the provider itself by TLS.
      client.enableNonRepudiationChecks,
      // Of this machine alone: the schema of CONFIG_FILE takes no other.
      ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
    ],
  });
  const server = configuration.serverMetadata();
  const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint, end_session_endpoint } = server;
  const needed = { authorization_endpoint, token_endpoint, jwks_uri };
  const missing = Object.entries(needed).find(([, address]) => address === undefined);
  if (missing !== undefined) throw new ProviderError(`its description has no ${missing[0]}`);
  const unsafe = Object.entries({ ...needed, userinfo_endpoint, end_session_endpoint }).find(
    ([, address]) => address !== undefined && !isSafeAddress(address),
  );
  if (unsafe !== undefined) throw new ProviderError(`its ${unsafe[0]} is not below https://`);
  await readKeys(jwks_uri ?? '');
  return { client, configuration };
}

async function readKeys(address: string): Promise<void> {
  const answer = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(SECONDS * 1000) });
  const body: unknown = answer.ok ? await answer.json() : null;
  const { keys } = (body ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys) || keys.length === 0) throw new ProviderError('its jwks_uri has no keys');
}

/** Why a provider was not read, for people: without what it was sent. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  return [message ?? String(error), cause?.code ?? cause?.message]
    .filter((one) => one !== undefined && one !== '')
    .join(': ');
}
