// Callers of every kind: each role, as a person and as a service account.
import { KeysService } from '../../src/access/auth/keys.service.js';
import { ROLES } from '../../src/access/workspaces/memberships.service.js';
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
  const { app, url } = service;
  const name = `Account ${role}`;
  const account = await app.get(ServiceAccountsService).create({ workspaceId: workspace.id, name, role });
  const scopes = app.get(ExtensionSet).scopes;
  const about = { workspaceId: workspace.id, userId: account.id, service: true, name: 'test', scopes };
  const key = await app.get(KeysService, { strict: false }).create({ ...about, lifetimeSeconds: null });
  return { workspace, user: { id: account.id, email: '' }, key, client: new Client(url, key.secret) };
}
