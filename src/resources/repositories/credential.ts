// What a connection of a workspace has in its secret, and how it is checked.
import { createPrivateKey } from 'node:crypto';
import type { AppCredential } from '../../engine/repositories/hosting/credentials.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { CreateRepositoryConnectionDto } from './repository-connection.dto.js';
import type { ConnectionKind } from './repository-connection.entity.js';

export type Credential = { token: string } | AppCredential;
type Given = Pick<CreateRepositoryConnectionDto, 'token' | 'appId' | 'privateKey' | 'installationId'>;

export function isApp(credential: Credential): credential is AppCredential {
  return 'privateKey' in credential;
}

/** Of a new connection. Throws 400 `invalid_field`. */
export function newCredential(given: Given): Credential {
  const { token, appId, privateKey, installationId } = given;
  if (token !== undefined) {
    refuseApp(given, 'is not taken beside token');
    return { token };
  }
  if (appId === undefined && privateKey === undefined && installationId === undefined) {
    throw invalid('token', 'is needed, or appId, privateKey and installationId of a GitHub App');
  }
  return {
    appId: appId ?? needed('appId'),
    privateKey: pkcs8(privateKey ?? needed('privateKey')),
    installationId: installationId ?? needed('installationId'),
  };
}

/** Of a connection that has one: what is given takes the place of what was. Null when nothing is given. Throws 400 `invalid_field`. */
export function changedCredential(kind: ConnectionKind, given: Given, before: () => Credential): Credential | null {
  const { token, appId, privateKey, installationId } = given;
  if (kind === 'token') {
    refuseApp(given, 'is not taken: the connection has a token');
    return token === undefined ? null : { token };
  }
  if (token !== undefined) throw invalid('token', 'is not taken: the connection has a GitHub App');
  if (appId === undefined && privateKey === undefined && installationId === undefined) return null;
  const former = before();
  if (!isApp(former)) throw new Error('The connection has no App.');
  return {
    appId: appId ?? former.appId,
    privateKey: privateKey === undefined ? former.privateKey : pkcs8(privateKey),
    installationId: installationId ?? former.installationId,
  };
}

function refuseApp(given: Given, why: string): void {
  for (const name of ['appId', 'privateKey', 'installationId'] as const) {
    if (given[name] !== undefined) throw invalid(name, why);
  }
}

/** As it is signed with; PEM of PKCS#1 is taken too: GitHub makes such keys. */
function pkcs8(pem: string): string {
  try {
    const key = createPrivateKey(pem.replace(/\\n/g, '\n'));
    if (key.asymmetricKeyType !== 'rsa') throw new TypeError('no RSA key');
    return key.export({ type: 'pkcs8', format: 'pem' }).toString();
  } catch {
    throw invalid('privateKey', 'must be the private RSA key of a GitHub App as PEM, without a passphrase');
  }
}

function needed(name: keyof Given): never {
  throw invalid(name, 'is needed for a GitHub App, as appId, privateKey and installationId are');
}

export function invalid(param: string, what: string): ApiError {
  return new ApiError('invalid_field', `${param} ${what}.`, { param });
}
