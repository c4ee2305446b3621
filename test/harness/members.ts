// What people and tests of it do with the members of a workspace over the API.
import type { TestApp } from './app.js';
import { type Answer, type Client, type ErrorBody, makeMember, type Member } from './client.js';

export interface MemberBody {
  id: string;
  name: string;
  role: string;
  kind: string;
  email: string | null;
  access: string | null;
  origin: string | null;
  provider: string | null;
  createdAt: string;
}
export type Made = { member: MemberBody } & ErrorBody;
type Role = 'owner' | 'admin' | 'member' | 'viewer';

/** Of a workspace of its own. */
export const makeOwner = (service: TestApp) => makeMember(service, { role: 'owner' });

/** A further member of the workspace of another. */
export const join = (service: TestApp, { workspace }: Member, role: Role) => makeMember(service, { workspace, role });

export const refused = ({ status, body: { error } }: Answer<ErrorBody>) => [status, error.code, error.param];

export const add = (client: Client, body: object) => client.post<Made>('/v1/members', body);

export const change = (client: Client, { user }: Member, role: string) =>
  client.patch<Made>(`/v1/members/${user.id}`, { role });

export const remove = (client: Client, { user }: Member, query = '') =>
  client.delete<ErrorBody>(`/v1/members/${user.id}${query}`);

export const listMembers = async (client: Client) =>
  (await client.get<{ members: MemberBody[] }>('/v1/members')).body.members;
