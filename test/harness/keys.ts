// The own keys of a person, over the API.
import type { Scope } from '../../src/platform/http/endpoint.js';
import type { Client, ErrorBody } from './client.js';

export interface KeyBody {
  id: string;
  name: string;
  prefix: string;
  scopes: Scope[];
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  current: boolean;
}
type Made = { key: KeyBody; secret: string } & ErrorBody;

/** A body that is accepted of any key that may read tasks. */
export const READER = { name: 'K', scopes: ['tasks:read'] };

export const postKey = (client: Client, body: object = READER) => client.post<Made>('/v1/keys', body);
export const rotateKey = (client: Client, id: string, body: object = {}) =>
  client.post<Made>(`/v1/keys/${id}/rotate`, body);
export const removeKey = (client: Client, id: string) => client.delete<ErrorBody>(`/v1/keys/${id}`);
export const listKeys = async (client: Client) => (await client.get<{ keys: KeyBody[] }>('/v1/keys')).body.keys;
/** The status of a request that every key may make. */
export const works = async (client: Client) => (await client.get('/v1/auth/context')).status;

/** A new key, with a client that uses it. */
export async function makeKey(client: Client, body: object = {}) {
  const { status, body: made } = await postKey(client, { ...READER, ...body });
  expect([status, made]).toEqual([201, expect.objectContaining({ key: expect.anything() as unknown })]);
  return { ...made, client: client.as(made.secret) };
}
