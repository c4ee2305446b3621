// The verbs `service-account …` (reference §3, §16).
import { type Command, Option } from 'commander';
import { ROLES } from '../../access/workspaces/memberships.service.js';
import { ServiceAccountsService } from '../../access/workspaces/service-accounts.service.js';
import { EVEN_LAST_OWNER, ofWorkspace, ownerChange, type Verb, verb, workspaceOf } from './verb.js';

/** Adds the verbs to their group. */
export function serviceAccounts(account: Command): void {
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
