// The verbs of the operator command (reference §16), thin: each is a service call.
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { Role } from '../../access/auth/auth-context.js';
import { type KeyRecord, KeysService } from '../../access/auth/keys.service.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import { doctor } from './doctor.js';
import { addExtensionVerbs } from './extension-verbs.js';
import { automations } from './automations.js';
import { integrations } from './integrations.js';
import {
  inWords,
  lifetime,
  listOf,
  ofWorkspace,
  type Options,
  Program,
  scopesOf,
  type Services,
  type Verb,
  verb,
} from './verb.js';
import { EXPOSABLE, transparencyOf } from '../../platform/config/config-file.js';
import { Env } from '../../platform/config/env.js';
import { PLANS } from '../../platform/config/rate-limits.js';
import type { Scope } from '../../platform/http/endpoint.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { MembershipsService, ROLES } from '../../access/workspaces/memberships.service.js';
import type { MembershipRow } from '../../access/workspaces/memberships.sql.js';
import type { Workspace } from '../../access/workspaces/workspace.entity.js';
import { ServiceAccountsService } from '../../access/workspaces/service-accounts.service.js';
import { UsersService } from '../../access/workspaces/users.service.js';
import { WorkspaceRemover } from '../../access/workspaces/workspace-remover.js';
import { StorageQuota } from '../../resources/files/storage-quota.js';
import type { StorageUsed } from '../../resources/files/storage-quota.sql.js';
import { WorkspacesService } from '../../access/workspaces/workspaces.service.js';

const workspaceOf = (services: Services, { workspace }: Options) => services.get(WorkspacesService).get(workspace);
const userOf = (services: Services, { user = '' }: Options) => services.get(UsersService).get(user);

const createKey: Verb<{ key: NewKey }> = async (services, options) => {
  const { user, service } = options;
  if ((user === undefined) === (service === undefined)) throw new OperatorError('Give either --user or --service.');
  const workspace = await workspaceOf(services, options);
  const owner =
    service === undefined
      ? await userOf(services, options)
      : await services.get(ServiceAccountsService).get(workspace.id, service);
  const key = await services.get(KeysService).create({
    workspaceId: workspace.id,
    userId: owner.id,
    service: service !== undefined,
    name: options.name,
    scopes: options.scopes,
    lifetimeSeconds: options.expires ?? null,
  });
  return { key };
};

type NewKey = KeyRecord & { secret: string };

// Scripts take the first line.
const secretFirst = ({ key: { secret, ...rest } }: { key: NewKey }): string =>
  `${secret}\nThis secret is shown once: what is stored cannot be turned back into it.\n\n${inWords({ key: rest })}`;

interface Policy {
  workspace: Workspace;
  /** What is exposed, by the workspace's own policy or by the deployment's. */
  exposed: string[];
}

/** Without a flag it shows the policy. */
const policy: Verb<Policy> = async (services, options) => {
  const { expose, default: back } = options;
  if (expose !== undefined && back !== undefined) throw new OperatorError('Give either --expose or --default.');
  const found = await workspaceOf(services, options);
  const changed = expose !== undefined || back !== undefined;
  const workspace = changed ? await services.get(WorkspacesService).expose(found.id, expose ?? null) : found;
  const deployment = transparencyOf(services.get(Env).file);
  return { workspace, exposed: workspace.transparency ?? EXPOSABLE.filter((kind) => deployment[kind]) };
};

const policyInWords = ({ workspace: { slug, transparency }, exposed }: Policy): string => {
  const whose = transparency === null ? 'as the deployment has it' : 'by a policy of its own';
  return `The workspace '${slug}' exposes, ${whose}: ${exposed.join(', ') || 'nothing'}.`;
};

interface Workspaces {
  workspaces: (Workspace & { storage: StorageUsed | null })[];
}

const listWorkspaces: Verb<Workspaces> = async (services) => {
  const [found, used] = [await services.get(WorkspacesService).list(), await services.get(StorageQuota).list()];
  return { workspaces: found.map((one) => ({ ...one, storage: used.get(one.id) ?? null })) };
};

const workspacesInWords = ({ workspaces }: Workspaces): string =>
  inWords({
    workspaces: workspaces.map(({ storage, ...one }) => {
      const limit = storage?.limitBytes == null ? 'no limit' : `of ${storage.limitBytes}`;
      return { ...one, storage: `${storage?.usedBytes ?? 0} bytes, ${limit}` };
    }),
  });

const EVEN_LAST_OWNER = ['--yes', 'even when it leaves a workspace without a person as owner'] as const;
const ownerChange = ({ yes }: Options) => ({ evenLastOwner: yes === true });

interface Added {
  member: MembershipRow & { previousRole: Role | null };
}

const addMember: Verb<Added> = async (services, options) => {
  const [workspace, user] = [await workspaceOf(services, options), await userOf(services, options)];
  const change = ownerChange(options);
  return { member: await services.get(MembershipsService).add(workspace.id, user.id, options.role, change) };
};

const addedInWords = ({ member: { previousRole, ...member } }: Added): string => {
  const { email, role } = member;
  if (previousRole === null) return inWords({ member });
  const said =
    previousRole === role
      ? `${email} is ${role} of this workspace already.`
      : `${email} is a member already: the role is changed from ${previousRole} to ${role}.`;
  return `${said}\n\n${inWords({ member })}`;
};

const removeMember: Verb = async (services, options) => {
  const { transferTo } = options;
  const [workspace, user] = [await workspaceOf(services, options), await userOf(services, options)];
  const heir = transferTo === undefined ? null : await services.get(UsersService).get(transferTo);
  await services.get(MembershipsService).remove(workspace.id, user.id, heir?.id, ownerChange(options));
  return { removed: true, workspaceId: workspace.id, userId: user.id, transferredTo: heir?.id ?? null };
};

const deleteWorkspace: Verb = async (services, options) => {
  const { id, slug } = await workspaceOf(services, options);
  if (options.yes !== true) {
    throw new OperatorError(
      `This would end all keys of '${slug}' and delete its projects, tasks, messages and files for good; add --yes to do it.`,
    );
  }
  await services.get(WorkspaceRemover).remove(id);
  return { deleted: true, id };
};

const deleteUser: Verb = async (services, options) => {
  const { id } = await userOf(services, options);
  await services.get(UsersService).delete(id, ownerChange(options));
  return { deleted: true, id };
};

/** Parses a command line, carries it out and prints the answer. Throws a `CommanderError` for a wrong line. */
export function program(extensions: ExtensionSet): Command {
  const root = new Program(extensions)
    .description('Operates a Millwright service.')
    .version(version(), '--version', 'print the version')
    // Of the root, so that it may stand before and after the verb.
    .option('--json', 'print one JSON object')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  const group = (name: string, description: string) => root.command(name).description(description);
  workspaces(group('workspace', 'the tenants'));
  users(group('user', 'the people'));
  members(group('member', 'who belongs to a workspace'));
  serviceAccounts(group('service-account', 'programs that belong to a workspace'));
  keys(group('key', 'keys of people and service accounts'), extensions.scopes);
  integrations(group('integration', 'connections to providers whose events start automations'));
  automations(group('automation', 'tasks that are made by a schedule or an event'));
  doctor(root, extensions);
  for (const extension of extensions.list) addExtensionVerbs(root, extension);
  return root;
}

function version(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

function workspaces(workspace: Command): void {
  const create: Verb = async (services, options) => ({
    workspace: await services.get(WorkspacesService).create(options),
  });
  verb(workspace, 'create', create, { installs: true })
    .description('makes a workspace')
    .requiredOption('--name <name>', 'what people call it')
    .option('--slug <slug>', 'small letters, digits and hyphens; made from the name when not given')
    .addOption(new Option('--plan <plan>', 'DEFAULT_PLAN when not given').choices(PLANS));
  verb(workspace, 'list', listWorkspaces, { words: workspacesInWords }).description(
    'shows all workspaces, the oldest first, and what they store',
  );
  ofWorkspace(verb(workspace, 'delete', deleteWorkspace))
    .description('deletes a workspace with all that is in it, for good')
    .option('--yes', 'really: it cannot be undone');
  ofWorkspace(verb(workspace, 'policy', policy, { words: policyInWords }))
    .description('shows or sets what clients see of the work on a task')
    .addOption(new Option('--expose <a,b>', `the whole list: ${EXPOSABLE.join(', ')}`).argParser(listOf(EXPOSABLE)))
    .option('--default', 'what the deployment exposes');
}

function users(user: Command): void {
  verb(user, 'create', async (services, options) => ({ user: await services.get(UsersService).create(options) }))
    .description('makes an account for a person')
    .requiredOption('--email <address>', 'by which the person is named in other commands')
    .requiredOption('--name <name>', 'what people call the person');
  verb(user, 'list', async (services) => ({ users: await services.get(UsersService).list() })).description(
    'shows all people, the oldest account first',
  );
  verb(user, 'delete', deleteUser)
    .description('removes a person from every workspace and forgets who it was')
    .requiredOption('--user <address>', 'the person')
    .option(...EVEN_LAST_OWNER);
}

function members(member: Command): void {
  ofWorkspace(verb(member, 'add', addMember, { words: addedInWords }), { '--user <address>': 'the person' })
    .description('adds a person to a workspace, or changes the role of a member')
    .addOption(new Option('--role <role>', 'what the member may do').choices(ROLES).makeOptionMandatory())
    .option(...EVEN_LAST_OWNER);
  ofWorkspace(verb(member, 'remove', removeMember), { '--user <address>': 'the member' })
    .description('removes a member, and ends its keys in the workspace')
    .option(
      '--transfer-to <address>',
      'the member who gets its projects, tasks, files and automations; else they stay, seen by owners and admins',
    )
    .option(...EVEN_LAST_OWNER);
  const list: Verb = async (services, options) => {
    const { id } = await workspaceOf(services, options);
    return { members: await services.get(MembershipsService).list(id) };
  };
  ofWorkspace(verb(member, 'list', list)).description('shows the people of a workspace and their roles');
}

function serviceAccounts(account: Command): void {
  const create: Verb = async (services, options) => {
    const { id } = await workspaceOf(services, options);
    const { name, role } = options;
    return { serviceAccount: await services.get(ServiceAccountsService).create({ workspaceId: id, name, role }) };
  };
  const list: Verb = async (services, options) => {
    const { id } = await workspaceOf(services, options);
    return { serviceAccounts: await services.get(ServiceAccountsService).list(id) };
  };
  const remove: Verb = async (services, options) => {
    const { id } = await workspaceOf(services, options);
    const { id: deleted } = await services.get(ServiceAccountsService).delete(id, options.name, ownerChange(options));
    return { deleted: true, id: deleted };
  };
  const name = { '--name <name>': 'the service account' };
  ofWorkspace(verb(account, 'create', create), name)
    .description('makes an account for a program in a workspace')
    .addOption(new Option('--role <role>', 'what the account may do').choices(ROLES).default('member'));
  ofWorkspace(verb(account, 'list', list)).description('shows the service accounts of a workspace');
  ofWorkspace(verb(account, 'delete', remove), name)
    .description('ends a service account and its keys, for good')
    .option(...EVEN_LAST_OWNER);
}

function keys(key: Command, scopes: readonly Scope[]): void {
  ofWorkspace(verb(key, 'create', createKey, { words: secretFirst }))
    .description('makes a key for a person or a service account and shows its secret, once')
    .option('--user <address>', 'whose key it is')
    .option('--service <name>', 'the service account whose key it is')
    .option('--name <name>', 'for the list of keys', 'key')
    .addOption(new Option('--scopes <all|a,b>', 'what it may do').argParser(scopesOf(scopes)).default(scopes, 'all'))
    .addOption(new Option('--expires <90d>', 'how long it is valid; for ever when not given').argParser(lifetime));
  const list: Verb = async (services, options) => {
    const { id } = await workspaceOf(services, options);
    return { keys: await services.get(KeysService).list(id) };
  };
  ofWorkspace(verb(key, 'list', list)).description(
    'shows the keys of a workspace, whose they are and when they were used',
  );
  verb(key, 'revoke <id>', async (services, _options, id) => ({
    key: await services.get(KeysService).revoke(id),
  })).description('ends a key from the next request on');
}
