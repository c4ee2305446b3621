// Callers of every kind: each role, as a person and as a service account.
import { randomUUID } from 'node:crypto';
import { KeysService } from '../../src/access/auth/keys.service.js';
import { MembershipsService, ROLES } from '../../src/access/workspaces/memberships.service.js';
import { ServiceAccountsService } from '../../src/access/workspaces/service-accounts.service.js';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';
import type { TestApp } from './app.js';
import { Client, makeMember, type Member } from './client.js';

export const CALLERS = ROLES.flatMap((role) => (['person', 'service'] as const).map((kind) => ({ role, kind })));
export type CallerKind = (typeof CALLERS)[number];

/** A new member of a workspace, with a key of all scopes. A service account has no address. */
export async function makeCaller(
  service: TestApp,
  workspace: Member['workspace'],
  { role, kind }: CallerKind,
): Promise<Member> {
  if (kind === 'person') return makeMember(service, { workspace, role });
  const accounts = service.app.get(ServiceAccountsService);
  const { id } = await accounts.create({ workspaceId: workspace.id, name: `Account ${role} ${randomUUID()}`, role });
  return withKey(service, workspace, { id, email: '' }, true);
}

/** A person of another workspace becomes a member of this one too, with a key for it. */
export async function join(service: TestApp, { user }: Member, workspace: Member['workspace']): Promise<Member> {
  await service.app.get(MembershipsService).add(workspace.id, user.id, 'member');
  return withKey(service, workspace, user, false);
}

async function withKey(
  { app, url }: TestApp,
  workspace: Member['workspace'],
  user: Member['user'],
  service: boolean,
): Promise<Member> {
  const { scopes } = app.get(ExtensionSet);
  const about = { workspaceId: workspace.id, userId: user.id, service, name: 'test', scopes, lifetimeSeconds: null };
  const key = await app.get(KeysService, { strict: false }).create(about);
  return { workspace, user, key, client: new Client(url, key.secret) };
}
