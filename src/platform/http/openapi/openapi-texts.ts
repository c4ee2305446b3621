// What the document says in words, and its examples.
import { readFileSync } from 'node:fs';
import type { JsonSchema } from '../documented.js';

export const INFO: JsonSchema = {
  title: 'Millwright',
  version: 'v1 (beta)',
  summary: 'A self-hosted engineering task service.',
  description: `People and programs hand work to an AI engineer and follow it.

The service is in **beta**: endpoints, schemas, behaviour and availability may change without notice, including breaking changes.

Every request carries \`Authorization: Bearer <key>\`. A key acts as its owner in one workspace, within the scopes that were chosen
when it was made. Work is asynchronous: create a task, then read it until its status is \`completed\`, \`failed\` or \`cancelled\`; in
\`awaiting_input\` its \`pendingInteraction\` holds a question. A key does not belong into browsers, mobile apps or source control.`,
};

/**
 * By the name of the component: one task of the model `runbook`, as it was sent and as it was answered. A test sends the bodies to
 * a service, and holds every answer against its schema.
 */
export const EXAMPLES = JSON.parse(readFileSync(new URL('./examples.json', import.meta.url), 'utf8')) as Record<
  string,
  object | string
>;

export const SECURITY_SCHEMES: JsonSchema = {
  personalApiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A personal API key: one user, one workspace, the scopes chosen when it was made.',
  },
  serviceId: {
    type: 'http',
    scheme: 'bearer',
    description: 'A key of a service account of one workspace, with its scopes.',
  },
};

/** Path parameters that are more than a string. */
export const PATH_PARAMETERS: Record<string, JsonSchema> = {
  automationId: { description: 'Which automation.', schema: { type: 'string', format: 'uuid' } },
  integrationSlug: { description: 'The slug of the integration.', schema: { type: 'string', minLength: 1 } },
};

/** In the order of the page: what people come for is first. Those of foreign modules stand before the last. */
const TAGS: Record<string, string> = {
  tasks: 'Work for the engineer: tasks, their messages, questions and files.',
  uploads: 'Temporary uploads, to be attached to a task or message within 24 hours.',
  files: 'Files of tasks and projects.',
  projects: 'Groups of tasks and durable files.',
  automations: 'Scheduled and event-triggered tasks.',
  agents: 'Ways of working under a name, with versions, which tasks and automations take.',
  evaluations: 'Versions of an agent on the same work, side by side.',
  integrations: 'Services outside that can trigger automations.',
  repositories: 'What the workspace may use of repositories, and their branches.',
  'repository-connections': 'What the workspace reaches hosts of repositories with.',
  secrets: 'Values that tasks use and never see.',
  skills: 'Know-how of the workspace that agents read when a task is of its kind.',
  webhooks: 'Addresses of your own that are told of events, and what became of each delivery.',
  models: 'The models that tasks can use.',
  web: 'What agents may read of the web.',
  auth: 'The credential in use.',
  keys: 'Your own keys in the workspace.',
  members: 'Who belongs to the workspace.',
  'service-accounts': 'Accounts for programs in the workspace, and their keys.',
  notices: 'What you are told of your tasks, and where.',
  billing: 'Plan, usage and payment.',
  audit: 'Who did what in the workspace, or was refused.',
  hooks: 'Deliveries of providers.',
  service: 'The service itself.',
};

/** The tags of paths: the resource below `/v1`, else `service`. */
export function tagsOf(paths: readonly string[]): { name: string; description: string }[] {
  const names = paths.map((path) => {
    const [, first = '', second = ''] = path.split('/');
    return first === 'v1' ? second : first in TAGS ? first : 'service';
  });
  const known = Object.keys(TAGS);
  const rank = (name: string) => (name in TAGS ? known.indexOf(name) : known.length - 1.5);
  const sorted = [...new Set(names)].sort((a, b) => rank(a) - rank(b));
  return sorted.map((name) => ({ name, description: TAGS[name] ?? `What concerns ${name}.` }));
}
