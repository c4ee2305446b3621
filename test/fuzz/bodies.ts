import type { Operation } from './operations.js';
import { HOST_TOKEN, NEW_VALUE } from './values.js';

/**
 * A body for what a generated one seldom makes: of an automation's triggers exactly one is given, with what belongs to it, and of 300
 * generated changes some 3 fit the trigger or the task that is there; a key has scopes of the calling one.
 */
export const BODIES: Record<string, object> = {
  'POST /v1/automations': { name: 'Yearly', content: 'A task.', cron: '0 0 1 1 *', secrets: ['TOKEN'] },
  'PATCH /v1/tasks/{taskId}': { title: 'Called so' },
  'POST /v1/tasks/{taskId}/fork': { content: 'Another way.' },
  'PATCH /v1/automations/{automationId}': { name: 'Twice a year', cron: '0 0 1 1,7 *', secrets: null },
  'POST /v1/keys': { name: 'One more', scopes: ['tasks:read'] },
  'POST /v1/integrations/{integrationSlug}/connections': { scope: 'user' },
  'POST /v1/integrations/{integrationSlug}/connections/{connectionId}/rotate': { overlapSeconds: 0 },
  'POST /v1/repository-connections': { host: 'github.com', token: HOST_TOKEN },
  'PATCH /v1/repository-connections/{repositoryConnectionId}': { push: [] },
  'PATCH /v1/secrets/{secretId}': NEW_VALUE,
  'PATCH /v1/agents/{slug}': { version: 1, instructions: 'Look twice.' },
  'POST /v1/agents/{slug}/evaluate': { versions: [1], cases: [{ content: 'Nothing to do.' }] },
  'PATCH /v1/environments/{slug}': { setup: ['true'], allowHosts: ['github.com'] },
  'PATCH /v1/skills/{skillId}': { default: false },
  'POST /v1/environments/{slug}/test': { command: 'true' },
  'POST /v1/tasks/{taskId}/pause': {},
  'POST /v1/environments/{slug}/build': {},
  'POST /v1/webhooks/{webhookId}/secret': { overlapSeconds: 0 },
  'POST /v1/webhooks/{webhookId}/recover': { since: '2026-01-01' },
  'PATCH /v1/webhooks/{webhookId}': { types: ['task.completed'] },
};

/** The body of an operation that has one here. */
export const given = ({ name }: Operation): { body?: object } => (BODIES[name] === undefined ? {} : { body: BODIES[name] }); // prettier-ignore
