// The verbs `user …` (reference §3, §16).
import type { Command } from 'commander';
import { type IdentityRow, SignInIdentities } from '../../access/sign-in/identities.service.js';
import { UsersService } from '../../access/workspaces/users.service.js';
import { EVEN_LAST_OWNER, ownerChange, userOf, type Verb, verb } from './verb.js';

const deleteUser: Verb = async (services, options) => {
  const { id } = await userOf(services, options);
  await services.get(UsersService).delete(id, ownerChange(options));
  return { deleted: true, id };
};

const unlinkUser: Verb<{ unlinked: IdentityRow[] }> = async (services, options) => {
  const user = await userOf(services, options);
  return { unlinked: await services.get(SignInIdentities).unlink(user, options.issuer) };
};

/** Adds the verbs to their group. */
export function users(user: Command): void {
  verb(user, 'create', async (services, options) => ({ user: await services.get(UsersService).create(options) }))
    .description('makes an account for a person')
    .example("--email ann@acme.example --name 'Ann Miller'")
    .requiredOption('--email <address>', 'by which the person is named in other commands')
    .requiredOption('--name <name>', 'what people call the person');
  verb(user, 'list', async (services) => ({ users: await services.get(UsersService).list() }))
    .description('shows all people, the oldest account first')
    .example('');
  verb(user, 'delete', deleteUser)
    .description('removes a person from every workspace and forgets who it was')
    .example('--user ann@acme.example')
    .requiredOption('--user <address>', 'the person')
    .option(...EVEN_LAST_OWNER);
  verb(user, 'unlink', unlinkUser)
    .description(
      "takes from a person the account at a provider of sign-in; another one with the person's address may take its place",
    )
    .example('--user ann@acme.example')
    .requiredOption('--user <address>', 'the person')
    .option('--issuer <url>', 'of which provider; else of every one');
}
