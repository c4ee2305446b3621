// The verbs `user …` (reference §3, §16).
import type { Command } from 'commander';
import { UsersService } from '../../access/workspaces/users.service.js';
import { EVEN_LAST_OWNER, ownerChange, userOf, type Verb, verb } from './verb.js';

const deleteUser: Verb = async (services, options) => {
  const { id } = await userOf(services, options);
  await services.get(UsersService).delete(id, ownerChange(options));
  return { deleted: true, id };
};

/** Adds the verbs to their group. */
export function users(user: Command): void {
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
