// The verbs `integration …`: connections to providers (reference §13, §16).
import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsersService } from '../../access/workspaces/users.service.js';
import { type Connected, ConnectionsService } from '../../resources/integrations/connections.service.js';
import { inWords, lifetime, ofWorkspace, type Services, type Verb, verb, workspaceOf } from './verb.js';

const DAY = 86_400;

interface Made {
  connection: Connected;
}

const connections = (services: Services) => services.get(ConnectionsService, { strict: false });

const connect: Verb<Made> = async (services, { workspace, user, secret }, slug) => {
  const { id: workspaceId } = await workspaceOf(services, { workspace });
  const userId = user === undefined ? null : (await services.get(UsersService).get(user)).id;
  return { connection: await connections(services).connect({ workspaceId, userId, slug, secret }) };
};

const list: Verb = async (services, options) => {
  const { id } = await workspaceOf(services, options);
  return { connections: await connections(services).list(id) };
};

const rotate: Verb<Made> = async (services, { overlap = DAY, secret }, id) => ({
  connection: await connections(services).rotate(id, overlap, secret),
});

const disconnect: Verb = async (services, _options, id) => {
  await connections(services).disconnect(id);
  return { disconnected: true, id: id.toLowerCase() };
};

const deliveries: Verb = async (services, _options, id) => ({
  deliveries: await connections(services).deliveries(id),
});

// Scripts take the first line.
const secretFirst = ({ connection: { secret, ...rest } }: Made): string =>
  `${secret}\nThe provider signs with this secret: enter it there, unless it comes from there. It is shown once. Deliveries go to the path below, at the address of this service.\n\n${inWords({ connection: rest })}`;

/** Seconds. */
function overlapOf(text: string): number {
  if (text === '0') return 0;
  const seconds = lifetime(text);
  if (seconds > 30 * DAY) throw new InvalidArgumentError('At most 30d are expected.');
  return seconds;
}

/** Adds the verbs to their group. */
export function integrations(group: Command): void {
  const secret = ['--secret <secret>', 'what the provider signs with, where it makes that itself'] as const;
  ofWorkspace(verb(group, 'connect <slug>', connect, { words: secretFirst }))
    .description('connects a provider and shows the secret and where to deliver to')
    .option('--user <address>', "makes it this member's own; else it is the workspace's")
    .option(...secret);
  ofWorkspace(verb(group, 'list', list)).description(
    'shows the connections of a workspace and of its members, with their state',
  );
  verb(group, 'rotate <id>', rotate, { words: secretFirst })
    .description('gives a connection a new secret; the old one stays valid for a while')
    .option(...secret)
    .addOption(
      new Option('--overlap <duration>', 'how long both secrets are taken, at most 30d; 0 for not at all')
        .argParser(overlapOf)
        .default(DAY, '24h'),
    );
  verb(group, 'disconnect <id>', disconnect).description(
    'ends a connection and pauses the automations that are bound to it',
  );
  verb(group, 'deliveries <id>', deliveries).description(
    'shows the last 100 deliveries to a connection and what became of them',
  );
}
