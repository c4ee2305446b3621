import type { Answer, Client } from './client.js';

export interface SecretBody {
  id: string;
  name: string;
  description: string | null;
  scope: string;
  projectId: string | null;
  env: string;
  bindings: object[];
  version: number;
  usedAt: string | null;
  createdBy: { id: string; name: string };
  createdAt: string;
  updatedAt: string;
}

export const SECRETS = '/v1/secrets';
/** Of a secret that is bound to `api.github.com`, which the service of the test allows. */
export const BINDING = { host: 'api.github.com', place: { header: 'Authorization' } };
export const VALUE = 'canary-value-4711';

export function postSecret<T = { secret: SecretBody }>(client: Client, more: object = {}): Promise<Answer<T>> {
  return client.post<T>(SECRETS, { name: 'TOKEN', value: VALUE, bindings: [BINDING], ...more });
}

/** Makes one; fails unless that is answered with 201. */
export async function createSecret(client: Client, more: object = {}): Promise<SecretBody> {
  const { status, body, text } = await postSecret(client, more);
  if (status !== 201) throw new Error(`${status}: ${text}`);
  return body.secret;
}

export async function namesOf(client: Client): Promise<string[]> {
  const { body } = await client.get<{ secrets: SecretBody[] }>(SECRETS);
  return body.secrets.map(({ name }) => name).sort();
}
