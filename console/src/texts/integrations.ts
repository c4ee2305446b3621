import type { Integration, IntegrationDelivery } from '../api/client.ts';

export const integrations = {
  title: 'Integrations',
  about: 'Where events come from that start automations.',
  state: {
    connected: 'Connected',
    not_connected: 'Not connected',
    error: 'Last delivery refused',
  } satisfies Record<Integration['connections']['user'], string>,
  categories: {
    source_control: 'Source control',
    issue_tracking: 'Issue tracking',
    messaging: 'Messaging',
    monitoring: 'Monitoring',
    incident_management: 'Incident management',
    other: 'Other',
  } as Record<string, string>,
  events: (n: number) => `${n} ${n === 1 ? 'event' : 'events'}`,
  connections: 'Connections',
  connectionsAbout: 'An automation takes its owner’s own connection, if there is one, else that of the workspace.',
  workspace: 'Of the workspace',
  own: 'Your own',
  errorText:
    'The last delivery could not be used: its signature or its form was wrong. The log below says which. Often the secret differs from the one that the provider has.',
  operator: 'Connecting is the operator’s work',
  operatorText:
    'On the machine of the service. The command prints the secret and the address that the provider needs, once.',
  connectWorkspace: 'For the whole workspace:',
  connectOwn: 'For yourself alone:',
  listText: 'Which connections there are, with their ids:',
  rotateText: 'A new secret for one of them; both are good for a day:',
  connectLine: (slug: string, workspace: string) =>
    `npm run --silent cli -- integration connect ${slug} --workspace ${workspace}`,
  connectOwnLine: (slug: string, workspace: string, email: string) =>
    `npm run --silent cli -- integration connect ${slug} --workspace ${workspace} --user ${email}`,
  listLine: (workspace: string) => `npm run --silent cli -- integration list --workspace ${workspace}`,
  rotateLine: 'npm run --silent cli -- integration rotate <id>',

  deliveries: 'Deliveries',
  deliveriesAbout: 'The last 100 that arrived, newest first.',
  deliveriesEmpty: 'Nothing has arrived yet.',
  refresh: 'Read again',
  verdict: {
    accepted: 'Accepted',
    no_automation: 'No automation',
    duplicate: 'Came twice',
    handshake: 'Handshake',
    bad_signature: 'Bad signature',
    malformed: 'Not readable',
    unreadable_secret: 'Secret not readable',
  } satisfies Record<IntegrationDelivery['verdict'], string>,
  verdictAbout: {
    accepted: 'It was taken, and handed to the automations that wait for such an event.',
    no_automation: 'It was taken; no active automation waits for such an event.',
    duplicate: 'The same delivery came before, so it had no effect.',
    handshake: 'The provider asked whether somebody is there, and was answered.',
    bad_signature: 'It is not signed with the secret of the connection.',
    malformed: 'Its body is not what this provider sends.',
    unreadable_secret: 'The service cannot read the secret of the connection; an operator gives it a new one.',
  } satisfies Record<IntegrationDelivery['verdict'], string>,
  unknownEvent: 'unknown event',
  runs: (n: number) => `${n} ${n === 1 ? 'run' : 'runs'}`,
  runsSearch: 'Looking for its runs …',
  runElsewhere: 'A run that is too old to be listed here.',
  openTask: 'open its task',

  eventList: 'Events',
  eventListAbout: 'What can start an automation.',
  use: 'Automate',
  useEvent: (event: string) => `Automate ${event}`,
  find: 'Find an event',
  noneFound: 'No event has these words.',
};
