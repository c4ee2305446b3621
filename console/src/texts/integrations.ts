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
  connect: 'Connect',
  connectTitle: (name: string) => `Connect ${name}`,
  connectScope: {
    workspace: 'For the whole workspace. Its members need none of their own.',
    user: 'For your own automations alone. It comes before that of the workspace.',
  },
  connectAction: 'Connect',
  connected: (name: string) => `${name} is connected.`,
  // Who may not.
  workspaceAdmins: 'Owners and admins connect the workspace.',
  noViewer: 'You are a viewer of this workspace: you may look at its connections.',
  noService: 'Only a person connects: this session was begun with a service key.',
  address: 'Address',
  addressHere:
    'That is how this browser reaches the service. The operator has set no PUBLIC_URL: a provider on the internet needs an address that it reaches.',
  secretOf: 'Secret',
  secretMade: 'Left empty it is made here, and shown once.',
  secretTheirs: (name: string, secret: string) =>
    `${name} makes it: ${secret}. Where it is shown only once ${name} has the address, leave it empty and enter it later.`,
  secretLater: (name: string, secret: string) =>
    `Now enter the address at ${name}, and then what it made here: ${secret}.`,
  secretNeeded: (name: string) => `Enter the one that ${name} has made.`,
  secretTitle: (name: string) => `The secret for ${name}`,
  secretOnce: 'Copy it now: it is shown this once. Who loses it makes a new one.',
  secretDone: 'I have entered it',
  secretUntil: (when: string) => `The former secret is taken too until ${when}.`,
  lastDelivery: 'last delivery',
  noDelivery: 'no delivery yet',
  rotate: 'New secret',
  rotateName: { workspace: 'New secret of the workspace’s connection', user: 'New secret of your own connection' },
  rotateTitle: 'Give it a new secret',
  rotateAction: 'Give it',
  rotated: 'The connection has the new secret.',
  overlap: 'The former secret is taken too',
  overlaps: { '86400': 'for a day', '3600': 'for an hour', '604800': 'for a week', '0': 'not at all: it has leaked' },
  test: 'Test',
  testName: { workspace: 'Test the workspace’s connection', user: 'Test your own connection' },
  tested: (verdict: string) => `Tested: ${verdict.toLowerCase()}. It stands among the deliveries.`,
  disconnect: 'Disconnect',
  disconnectName: { workspace: 'Disconnect the workspace', user: 'Disconnect your own' },
  disconnectTitle: (name: string) => `Disconnect ${name}?`,
  disconnectText:
    'Its address and its secret are good no more, and the list of its deliveries goes. Active automations that are bound to it pause.',
  disconnectBound: (names: string) => `These wait for its events: ${names}.`,
  disconnected: (name: string) => `${name} is disconnected.`,
  /** Where the address and the secret go, in the words of the provider. */
  steps: {
    github:
      'In GitHub: the repository or organization, Settings → Webhooks → Add webhook. Payload URL is the address, Content type application/json, Secret the secret. A ping comes at once; “Redeliver” under Recent Deliveries tries it again.',
    gitlab:
      'In GitLab: the project or group, Settings → Webhooks → Add new webhook. URL is the address, Signing token the secret. An older GitLab has a Secret token in its place: any text without whsec_. “Test” sends a delivery.',
    jira: 'In Jira, as an administrator: Settings → System → WebHooks → Create a WebHook. URL is the address, Secret the secret.',
    linear: 'In Linear: Settings → API → New webhook. URL is the address. The signing secret is shown once it is made.',
    slack:
      'In Slack: your app at api.slack.com/apps. Signing Secret stands under Basic Information: enter it here first. Under Event Subscriptions, Request URL is the address; Slack tries it at once.',
    sentry:
      'In Sentry: Settings → Custom Integrations, your internal integration. Webhook URL is the address. Client Secret is shown once it is saved.',
    pagerduty:
      'In PagerDuty: Integrations → Generic Webhooks (v3) → New Webhook. Webhook URL is the address. The secret is shown once it is made; “Send Test Event” tries it.',
    webhook:
      'The sender posts JSON to the address, and signs it with the secret by Standard Webhooks (standardwebhooks.com), for which there are libraries.',
  } as Record<string, string>,
  stepsOther: 'At the provider: a webhook to the address, signed with the secret.',
  /** What the secret is called at those who make it themselves. */
  theirs: {
    linear: 'the signing secret (lin_wh_…)',
    slack: 'the Signing Secret of the app',
    sentry: 'the Client Secret',
    pagerduty: 'the secret of the webhook',
  } as Record<string, string>,

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
    unreadable_secret: 'The service cannot read the secret of the connection: give it a new one.',
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
