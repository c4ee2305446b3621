// The verbs of the operator command (reference §16), thin: each is a service call.
import { type Command, Option } from 'commander';
import { KeysService } from '../../access/auth/keys.service.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import { addExtensionVerbs } from './extension-verbs.js';
import {
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
import { EXPOSABLE } from '../../platform/config/config-file.js';
import { PLANS } from '../../platform/config/rate-limits.js';
import type { Scope } from '../../platform/http/endpoint.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { MembershipsService, ROLES } from '../../access/workspaces/memberships.service.js';
import { ServiceAccountsService } from '../../access/workspaces/service-accounts.service.js';
import { UsersService } from '../../access/workspaces/users.service.js';
import { WorkspaceRemover } from '../../access/workspaces/workspace-remover.js';
import { WorkspacesService } from '../../access/workspaces/workspaces.service.js';

const workspaceOf = (services: Services, { workspace }: Options) => services.get(WorkspacesService).get(workspace);
const userOf = (services: Services, { user = '' }: Options) => services.get(UsersService).get(user);

const createKey: Verb = async (services, options) => {
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

const setPolicy: Verb = async (services, options) => {
  const { expose, default: back } = options;
  if ((expose === undefined) === (back === undefined)) throw new OperatorError('Give either --expose or --default.');
  const { id } = await workspaceOf(services, options);
  return { workspace: await services.get(WorkspacesService).expose(id, expose ?? null) };
};

const addMember: Verb = async (services, options) => {
  const [workspace, user] = [await workspaceOf(services, options), await userOf(services, options)];
  return { member: await services.get(MembershipsService).add(workspace.id, user.id, options.role) };
};

const removeMember: Verb = async (services, options) => {
  const { transferTo } = options;
  const [workspace, user] = [await workspaceOf(services, options), await userOf(services, options)];
  const heir = transferTo === undefined ? null : await services.get(UsersService).get(transferTo);
  await services.get(MembershipsService).remove(workspace.id, user.id, heir?.id);
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
  await services.get(UsersService).delete(id);
  return { deleted: true, id };
};

/** Parses a command line, carries it out and prints the answer. Throws a `CommanderError` for a wrong line. */
export function program(extensions: ExtensionSet): Command {
  const root = new Program(extensions).description('Operates a Millwright service.').exitOverride();
  const group = (name: string, description: string) => root.command(name).description(description);
  workspaces(group('workspace', 'the tenants'));
  users(group('user', 'the people'));
  members(group('member', 'who belongs to a workspace'));
  serviceAccounts(group('service-account', 'programs that belong to a workspace'));
  keys(group('key', 'keys of people and service accounts'), extensions.scopes);
  for (const extension of extensions.list) addExtensionVerbs(root, extension);
  return root;
}

function workspaces(workspace: Command): void {
  verb(workspace, 'create', async (services, options) => ({
    workspace: await services.get(WorkspacesService).create(options),
  }))
    .requiredOption('--name <name>')
    .option('--slug <slug>', 'small letters, digits and hyphens; made from the name when not given')
    .addOption(new Option('--plan <plan>', 'DEFAULT_PLAN when not given').choices(PLANS));
  verb(workspace, 'list', async (services) => ({ workspaces: await services.get(WorkspacesService).list() }));
  ofWorkspace(verb(workspace, 'delete', deleteWorkspace)).option('--yes', 'really: it cannot be undone');
  ofWorkspace(verb(workspace, 'policy', setPolicy))
    .addOption(new Option('--expose <a,b>', `the whole list: ${EXPOSABLE.join(', ')}`).argParser(listOf(EXPOSABLE)))
    .option('--default', 'what the deployment exposes');
}

function users(user: Command): void {
  verb(user, 'create', async (services, options) => ({
    user: await services.get(UsersService).create(options),
  }))
    .requiredOption('--email <address>')
    .requiredOption('--name <name>');
  verb(user, 'list', async (services) => ({ users: await services.get(UsersService).list() }));
  verb(user, 'delete', deleteUser).requiredOption('--user <address>');
}

function members(member: Command): void {
  ofWorkspace(verb(member, 'add', addMember), '--user <address>').addOption(
    new Option('--role <role>').choices(ROLES).makeOptionMandatory(),
  );
  ofWorkspace(verb(member, 'remove', removeMember), '--user <address>').option(
    '--transfer-to <address>',
    'the member who gets its projects, tasks and files; else they stay, seen by owners and admins',
  );
  ofWorkspace(
    verb(member, 'list', async (services, options) => {
      const { id } = await workspaceOf(services, options);
      return { members: await services.get(MembershipsService).list(id) };
    }),
  );
}

function serviceAccounts(account: Command): void {
  const verbs: Record<string, Verb> = {
    create: async (services, options) => {
      const { id } = await workspaceOf(services, options);
      const { name, role } = options;
      return { serviceAccount: await services.get(ServiceAccountsService).create({ workspaceId: id, name, role }) };
    },
    list: async (services, options) => {
      const { id } = await workspaceOf(services, options);
      return { serviceAccounts: await services.get(ServiceAccountsService).list(id) };
    },
    delete: async (services, options) => {
      const { id } = await workspaceOf(services, options);
      const { id: deleted } = await services.get(ServiceAccountsService).delete(id, options.name);
      return { deleted: true, id: deleted };
    },
  };
  for (const [usage, act] of Object.entries(verbs)) {
    const command = ofWorkspace(verb(account, usage, act), ...(usage === 'list' ? [] : ['--name <name>']));
    if (usage === 'create') command.addOption(new Option('--role <role>').choices(ROLES).default('member'));
  }
}

function keys(key: Command, scopes: readonly Scope[]): void {
  ofWorkspace(verb(key, 'create', createKey))
    .option('--user <address>', 'whose key it is')
    .option('--service <name>', 'the service account whose key it is')
    .option('--name <name>', 'for the list of keys', 'key')
    .addOption(new Option('--scopes <all|a,b>').argParser(scopesOf(scopes)).default(scopes, 'all'))
    .addOption(new Option('--expires <90d>', 'how long it is valid').argParser(lifetime));
  ofWorkspace(
    verb(key, 'list', async (services, options) => {
      const { id } = await workspaceOf(services, options);
      return { keys: await services.get(KeysService).list(id) };
    }),
  );
  verb(key, 'revoke <id>', async (services, _options, id) => ({ key: await services.get(KeysService).revoke(id) }));
}
