// What proves to a host who one is. It lies in the form alone while it is written: in no draft, and in nothing that the browser keeps.
import type { ChangeRepositoryConnection, RepositoryConnection } from '../../../api/client.ts';

export interface Credential {
  kind: RepositoryConnection['kind'];
  token: string;
  appId: string;
  installationId: string;
  privateKey: string;
}

export const NO_CREDENTIAL: Credential = { kind: 'token', token: '', appId: '', installationId: '', privateKey: '' };

const NEEDED = { token: ['token'], github_app: ['appId', 'installationId', 'privateKey'] } as const;

/** The fields in which nothing stands. */
export const missingIn = (credential: Credential): string[] =>
  NEEDED[credential.kind].filter((name) => credential[name].trim() === '');

/** As it is sent. */
export function sentOf({ kind, token, appId, installationId, privateKey }: Credential): ChangeRepositoryConnection {
  if (kind === 'token') return { token: token.trim() };
  return { appId: appId.trim(), installationId: installationId.trim(), privateKey: pemOf(privateKey) };
}

/** A field of one line takes the line breaks out of what is pasted. */
function pemOf(text: string): string {
  const [, begin, body, end] = /(-----BEGIN [\w ]+-----)([^-]*)(-----END [\w ]+-----)/.exec(text) ?? [];
  if (begin === undefined || body === undefined || end === undefined) return text;
  const lines = body.replace(/\s|\\n/g, '').match(/.{1,64}/g) ?? [];
  return `${[begin, ...lines, end].join('\n')}\n`;
}
