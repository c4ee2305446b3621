// The verbs `key …` (reference §3, §16).
import { type Command, Option } from 'commander';
import { type KeyRecord, KeysService } from '../../access/auth/keys.service.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import { ServiceAccountsService } from '../../access/workspaces/service-accounts.service.js';
import type { Scope } from '../../platform/http/endpoint.js';
import { inWords, lifetime, ofWorkspace, scopesOf, userOf, type Verb, verb, workspaceOf } from './verb.js';

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

/** Adds the verbs to their group. */
export function keys(key: Command, scopes: readonly Scope[]): void {
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
