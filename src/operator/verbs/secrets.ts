// The verbs `secret …`: values that the tasks of a workspace use and never see (reference §16, §24).
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { OperatorError } from '../../access/auth/operator-error.js';
import { OperatorSecrets } from '../../resources/secrets/operator-secrets.js';
import type { SecretRow } from '../../resources/secrets/secrets.sql.js';
import { inWords, type Options, ofWorkspace, type Services, type Verb, verb, workspaceOf } from './verb.js';

/** One of each host, all with the same place, methods and paths. */
interface SecretOptions extends Options {
  host?: string[];
  header?: string;
  form?: string;
  query?: string;
  method?: string[];
  path?: string[];
  env?: string;
  description?: string;
}

const secretsOf = (services: Services) => services.get(OperatorSecrets, { strict: false });

/** What an operator needs to know of a secret. */
function brief({ id, name, scope, projectId, env, bindings, version, usedAt, createdByName }: SecretRow) {
  const hosts = [...new Set(bindings.map(({ host, port }) => (port === 443 ? host : `${host}:${port}`)))];
  return { id, name, scope, projectId, env, hosts, version, usedAt, createdBy: createdByName };
}
type Brief = ReturnType<typeof brief>;

const list: Verb<{ secrets: Brief[] }> = async (services, options) => {
  const { id } = await workspaceOf(services, options);
  return { secrets: (await secretsOf(services).list(id)).map(brief) };
};

const set: Verb<{ secret: Brief }> = async (services, options: SecretOptions, name) => {
  const { id } = await workspaceOf(services, options);
  const { env, description } = options;
  const given = { ...(env !== undefined && { env }), ...(description !== undefined && { description }) };
  const value = await valueIn();
  return { secret: brief(await secretsOf(services).set(id, { name, value, bindings: bindingsOf(options), ...given })) };
};

const remove: Verb = async (services, options, name) => {
  const { id: workspaceId } = await workspaceOf(services, options);
  return { deleted: true, id: await secretsOf(services).remove(workspaceId, name) };
};

/** Never an argument: those of a process are seen by others, and the history of a shell keeps them. */
async function valueIn(): Promise<string> {
  if (process.stdin.isTTY) throw new OperatorError('The value comes by standard input: secret set NAME … < file.');
  return (await text(process.stdin)).replace(/\r?\n$/, '');
}

function bindingsOf({ host = [], header = 'Authorization', form, user, query, method, path }: SecretOptions): object[] {
  const inHeader = { header, ...(form !== undefined && { form }), ...(user !== undefined && { user }) };
  const narrow = { ...(method && { methods: method }), ...(path && { paths: path }) };
  return host.map((given) => {
    const [, name = given, port] = /^(.*?)(?::(\d+))?$/.exec(given) ?? [];
    const place = query === undefined ? inHeader : { query };
    return { host: name, ...(port !== undefined && { port: Number(port) }), ...narrow, place };
  });
}

// With two parameters: what may come several times (VerbCommand).
const several = (given: string, before: string[] | undefined): string[] => [...(before ?? []), given];

/** Adds the verbs to their group. */
export function secrets(group: Command): void {
  ofWorkspace(verb(group, 'set <name>', set))
    .description('stores a value from standard input, or gives one that is there a new one')
    .example('GITHUB_TOKEN --workspace acme --host api.github.com')
    .option('--host <host>', 'where the value goes, with a port or without; may come several times', several)
    .option('--header <name>', 'the header that it stands in; Authorization without it')
    .option('--form <form>', 'how it stands there: bearer, basic, token or raw')
    .option('--user <name>', 'with basic: the user name')
    .option('--query <name>', 'the parameter of the address that it stands in, in place of a header')
    .option('--method <method>', 'for these methods alone; may come several times', several)
    .option('--path <pattern>', 'for these paths alone, such as /repos/acme/**; may come several times', several)
    .option('--env <name>', 'the variable that has the placeholder; the name without it')
    .option('--description <text>', 'for people');
  ofWorkspace(
    verb(group, 'list', list, {
      words: ({ secrets }) => inWords({ secrets: secrets.map(({ projectId: _project, ...rest }) => rest) }),
    }),
  )
    .description('shows the secrets of a workspace, of its projects and its users, without their values')
    .example('--workspace acme');
  ofWorkspace(verb(group, 'delete <name>', remove))
    .description('deletes a secret of the workspace; the next request of a task goes without it')
    .example('GITHUB_TOKEN --workspace acme');
}
