// The endpoint table of the reference (§2) as data. Code and document are compared with it, and cases are made of it.
import type { RateLimitPolicy, Scope } from '../../src/platform/http/endpoint.js';

export interface Row {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/v1/tasks/{taskId}` */
  path: string;
  scopes: readonly Scope[] | 'any' | 'personal' | 'administration' | 'public';
  policy: RateLimitPolicy | null;
  key: 'required' | 'optional' | null;
  status: number;
  /** The keys of a success; null for what is no JSON object of ours. */
  answer: readonly string[] | null;
  /** With attachments in the body. */
  conditional?: Scope;
  /** A body that is accepted; `form` for an upload, `skill` for one of a zip. None: the operation takes none. */
  body?: Record<string, unknown> | 'form' | 'skill';
  /** A collection: its largest `limit`. */
  pages?: 50 | 100;
  /** It takes `limit`, at most so much, and is no collection. */
  limit?: 100;
  /** The success needs more than a request: a suite of its own shows it. */
  elsewhere?: string;
  /** Not in every build yet: ignored until the route is in the code. */
  builtBy?: 'projects' | 'limits' | 'automations' | 'integrations' | 'payment';
}

type Rest = Partial<Row> & Pick<Row, 'scopes' | 'policy'>;
type Bucket = RateLimitPolicy;

function row(method: Row['method'], path: string, rest: Rest): Row {
  return { method, path, key: null, status: 200, answer: null, ...rest };
}

const read = (path: string, scopes: Row['scopes'], answer: string[], policy: Bucket = 'resource_read'): Row =>
  row('GET', path, { scopes, policy, answer });
const list = (path: string, scopes: Row['scopes'], plural: string, pages: 50 | 100 = 100): Row =>
  row('GET', path, { scopes, policy: 'resource_read', answer: ['nextCursor', plural], pages });
const open = (path: string): Row => row('GET', path, { scopes: 'public', policy: null });

const DELETED = ['deleted', 'id'];
const AUTOMATION = { name: 'A', content: 'x', cron: '0 9 * * *' };

const CONNECTIONS: Row[] = [
  read('/v1/integrations/{integrationSlug}/connections', ['integrations:read'], ['connections']),
  row('POST', '/v1/integrations/{integrationSlug}/connections', { scopes: 'personal', policy: 'resource_write', status: 201, answer: ['connection', 'secret'], body: { scope: 'user' } }),
  row('POST', '/v1/integrations/{integrationSlug}/connections/{connectionId}/rotate', { scopes: 'personal', policy: 'resource_write', answer: ['connection', 'secret'], body: {} }),
  row('POST', '/v1/integrations/{integrationSlug}/connections/{connectionId}/test', { scopes: 'personal', policy: 'resource_write', answer: ['delivery'] }),
  row('DELETE', '/v1/integrations/{integrationSlug}/connections/{connectionId}', { scopes: 'personal', policy: 'resource_write', answer: DELETED }),
]; // prettier-ignore

const PROJECTS: Row[] = [
  list('/v1/projects', ['projects:read'], 'projects', 50),
  row('POST', '/v1/projects', { scopes: ['projects:write'], policy: 'resource_write', key: 'optional', status: 201, answer: ['project'], body: { name: 'P' } }),
  read('/v1/projects/{projectId}', ['projects:read'], ['project']),
  row('PATCH', '/v1/projects/{projectId}', { scopes: ['projects:write'], policy: 'resource_write', answer: ['project'], body: { name: 'Q' } }),
  row('DELETE', '/v1/projects/{projectId}', { scopes: ['projects:write'], policy: 'resource_write', answer: DELETED }),
  list('/v1/projects/{projectId}/files', ['projects:read', 'files:read'], 'files'),
  row('POST', '/v1/projects/{projectId}/files', { scopes: ['projects:write', 'files:write'], policy: 'file_upload', status: 201, answer: ['file'], body: 'form' }),
  row('DELETE', '/v1/projects/{projectId}/files/{fileId}', { scopes: ['projects:write', 'files:write'], policy: 'resource_write', answer: DELETED, elsewhere: 'projects' }),
  row('PATCH', '/v1/tasks/{taskId}', { scopes: ['tasks:write'], policy: 'resource_write', answer: ['task'], body: { title: 'Another' } }),
  row('DELETE', '/v1/tasks/{taskId}', { scopes: ['tasks:write'], policy: 'resource_write', answer: DELETED }),
]; // prettier-ignore

const AUTOMATIONS: Row[] = [
  { ...list('/v1/automations', ['automations:read'], 'automations') },
  row('POST', '/v1/automations', { scopes: ['automations:write'], policy: 'resource_write', key: 'optional', status: 201, answer: ['automation'], body: AUTOMATION }),
  read('/v1/automations/{automationId}', ['automations:read'], ['automation']),
  row('PATCH', '/v1/automations/{automationId}', { scopes: ['automations:write'], policy: 'resource_write', answer: ['automation'], body: { name: 'B' } }),
  row('DELETE', '/v1/automations/{automationId}', { scopes: ['automations:write'], policy: 'resource_write', answer: DELETED }),
  row('POST', '/v1/automations/{automationId}/pause', { scopes: ['automations:write'], policy: 'resource_write', answer: ['automation'] }),
  row('POST', '/v1/automations/{automationId}/resume', { scopes: ['automations:write'], policy: 'resource_write', answer: ['automation'] }),
  list('/v1/automations/{automationId}/runs', ['automations:read'], 'runs'),
  row('POST', '/v1/automations/{automationId}/run', { scopes: ['automations:write'], policy: 'task_execution', key: 'optional', status: 202, answer: ['run'] }),
]; // prettier-ignore

const KEYS: Row[] = [
  read('/v1/keys', 'personal', ['keys']),
  row('POST', '/v1/keys', { scopes: 'personal', policy: 'resource_write', status: 201, answer: ['key', 'secret'], body: { name: 'K', scopes: ['tasks:read'] } }),
  row('DELETE', '/v1/keys/{keyId}', { scopes: 'personal', policy: 'resource_write', answer: DELETED }),
  row('POST', '/v1/keys/{keyId}/rotate', { scopes: 'personal', policy: 'resource_write', status: 201, answer: ['key', 'secret'], body: {} }),
]; // prettier-ignore

const MEMBERS: Row[] = [
  read('/v1/members', 'any', ['members'], 'metadata_read'),
  row('POST', '/v1/members', { scopes: 'administration', policy: 'resource_write', key: 'optional', status: 201, answer: ['member'], body: { email: 'new@acme.example', role: 'member' } }),
  row('PATCH', '/v1/members/{memberId}', { scopes: 'administration', policy: 'resource_write', answer: ['member'], body: { role: 'viewer' } }),
  row('DELETE', '/v1/members/{memberId}', { scopes: 'administration', policy: 'resource_write', answer: DELETED }),
  row('POST', '/v1/members/{memberId}/invitation', { scopes: 'administration', policy: 'resource_write', status: 201, answer: ['invitation'] }),
  read('/v1/service-accounts', 'administration', ['serviceAccounts']),
  row('POST', '/v1/service-accounts', { scopes: 'administration', policy: 'resource_write', key: 'optional', status: 201, answer: ['serviceAccount'], body: { name: 'Robot' } }),
  row('DELETE', '/v1/service-accounts/{serviceAccountId}', { scopes: 'administration', policy: 'resource_write', answer: DELETED }),
  read('/v1/service-accounts/{serviceAccountId}/keys', 'administration', ['keys']),
  row('POST', '/v1/service-accounts/{serviceAccountId}/keys', { scopes: 'administration', policy: 'resource_write', status: 201, answer: ['key', 'secret'], body: { name: 'K', scopes: ['tasks:read'] } }),
  row('DELETE', '/v1/service-accounts/{serviceAccountId}/keys/{keyId}', { scopes: 'administration', policy: 'resource_write', answer: DELETED }),
]; // prettier-ignore

const CONNECTION = { host: 'github.com', token: 'a-token-of-a-test' };
const REPOSITORIES: Row[] = [
  list('/v1/repository-connections', ['projects:read'], 'connections'),
  row('POST', '/v1/repository-connections', { scopes: 'personal', policy: 'resource_write', status: 201, answer: ['connection'], body: CONNECTION }),
  read('/v1/repository-connections/{repositoryConnectionId}', ['projects:read'], ['connection']),
  row('PATCH', '/v1/repository-connections/{repositoryConnectionId}', { scopes: 'personal', policy: 'resource_write', answer: ['connection'], body: { push: [] } }),
  row('DELETE', '/v1/repository-connections/{repositoryConnectionId}', { scopes: 'personal', policy: 'resource_write', answer: DELETED }),
  row('POST', '/v1/repository-connections/{repositoryConnectionId}/test', { scopes: 'personal', policy: 'resource_write', answer: ['connection'] }),
]; // prettier-ignore

const BINDINGS = [{ host: 'api.github.com', place: { header: 'Authorization' } }];
const SECRETS: Row[] = [
  read('/v1/tasks/{taskId}/secrets', ['tasks:read'], ['uses']),
  list('/v1/tasks/{taskId}/network', ['tasks:read'], 'hosts'),
  list('/v1/tasks/{taskId}/checks', ['tasks:read'], 'checks'),
  list('/v1/tasks/{taskId}/commands', ['tasks:read'], 'commands'),
  read('/v1/tasks/{taskId}/proof', ['tasks:read'], ['payloadType', 'payload', 'signatures']),
  list('/v1/secrets', ['automations:read'], 'secrets'),
  row('POST', '/v1/secrets', { scopes: ['automations:write'], policy: 'resource_write', status: 201, answer: ['secret'], body: { name: 'TOKEN', value: 'a-value-of-a-test', bindings: BINDINGS } }),
  read('/v1/secrets/{secretId}', ['automations:read'], ['secret']),
  row('PATCH', '/v1/secrets/{secretId}', { scopes: ['automations:write'], policy: 'resource_write', answer: ['secret'], body: { description: 'For tests.' } }),
  row('DELETE', '/v1/secrets/{secretId}', { scopes: ['automations:write'], policy: 'resource_write', answer: DELETED }),
]; // prettier-ignore

const ENVIRONMENTS: Row[] = [
  list('/v1/agents', ['projects:read'], 'agents'),
  row('POST', '/v1/agents', { scopes: ['projects:write'], policy: 'resource_write', key: 'optional', status: 201, answer: ['agent'], body: { slug: 'reviewer' } }),
  read('/v1/agents/{slug}', ['projects:read'], ['agent']),
  row('PATCH', '/v1/agents/{slug}', { scopes: ['projects:write'], policy: 'resource_write', key: 'optional', answer: ['agent'], body: { version: 1, name: 'Another' } }),
  row('POST', '/v1/agents/{slug}/evaluate', { scopes: ['projects:read', 'tasks:write'], policy: 'task_execution', key: 'required', status: 202, answer: ['evaluation'], body: { versions: [1], cases: [{ content: 'x' }] } }),
  read('/v1/evaluations/{evaluationId}', ['tasks:read'], ['evaluation']),
  read('/v1/agents/{slug}/stats', ['projects:read'], ['from', 'to', 'versions']),
  list('/v1/agents/{slug}/versions', ['projects:read'], 'versions'),
  read('/v1/agents/{slug}/versions/{version}', ['projects:read'], ['version']),
  list('/v1/environments', ['projects:read'], 'environments'),
  row('POST', '/v1/environments', { scopes: ['projects:write'], policy: 'resource_write', key: 'optional', status: 201, answer: ['environment'], body: { slug: 'node' } }),
  read('/v1/environments/{slug}', ['projects:read'], ['environment']),
  row('PATCH', '/v1/environments/{slug}', { scopes: ['projects:write'], policy: 'resource_write', answer: ['environment'], body: { setup: ['true'] } }),
  row('DELETE', '/v1/environments/{slug}', { scopes: ['projects:write'], policy: 'resource_write', answer: DELETED }),
  list('/v1/environments/{slug}/versions', ['projects:read'], 'versions'),
  read('/v1/environments/{slug}/versions/{version}', ['projects:read'], ['version']),
  list('/v1/environments/{slug}/builds', ['projects:read'], 'builds'),
  row('POST', '/v1/environments/{slug}/build', { scopes: ['projects:write'], policy: 'task_execution', status: 202, answer: ['build'] }),
  row('POST', '/v1/environments/{slug}/test', { scopes: ['projects:write'], policy: 'task_execution', answer: ['exitCode', 'stdout', 'stderr'], body: { command: 'true' }, elsewhere: 'environment-builds' }),
]; // prettier-ignore

const SKILLS: Row[] = [
  list('/v1/skills', ['projects:read'], 'skills'),
  row('POST', '/v1/skills', { scopes: ['projects:write'], policy: 'file_upload', status: 201, answer: ['skill'], body: 'skill' }),
  read('/v1/skills/{skillId}', ['projects:read'], ['skill']),
  row('PATCH', '/v1/skills/{skillId}', { scopes: ['projects:write'], policy: 'resource_write', answer: ['skill'], body: { default: false } }),
  row('DELETE', '/v1/skills/{skillId}', { scopes: ['projects:write'], policy: 'resource_write', answer: DELETED }),
  list('/v1/skills/{skillId}/versions', ['projects:read'], 'versions'),
  { ...read('/v1/skills/{skillId}/content', ['projects:read'], []), answer: null },
]; // prettier-ignore

const WEBHOOK = { url: 'https://hooks.example/millwright', types: ['task.*'] };
const WEBHOOKS: Row[] = [
  list('/v1/webhooks', ['automations:read'], 'webhooks'),
  row('POST', '/v1/webhooks', { scopes: ['automations:write'], policy: 'resource_write', status: 201, answer: ['secret', 'webhook'], body: WEBHOOK }),
  read('/v1/webhooks/{webhookId}', ['automations:read'], ['webhook']),
  row('PATCH', '/v1/webhooks/{webhookId}', { scopes: ['automations:write'], policy: 'resource_write', answer: ['webhook'], body: { types: ['*'] } }),
  row('DELETE', '/v1/webhooks/{webhookId}', { scopes: ['automations:write'], policy: 'resource_write', answer: DELETED }),
  row('POST', '/v1/webhooks/{webhookId}/secret', { scopes: ['automations:write'], policy: 'resource_write', answer: ['secret', 'webhook'], body: {} }),
  row('POST', '/v1/webhooks/{webhookId}/test', { scopes: ['automations:write'], policy: 'resource_write', status: 202, answer: ['delivery'] }),
  row('POST', '/v1/webhooks/{webhookId}/recover', { scopes: ['automations:write'], policy: 'resource_write', status: 202, answer: ['count'], body: { since: '2026-01-01' } }),
  list('/v1/webhooks/{webhookId}/deliveries', ['automations:read'], 'deliveries'),
  read('/v1/webhooks/{webhookId}/deliveries/{deliveryId}', ['automations:read'], ['delivery']),
  row('POST', '/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver', { scopes: ['automations:write'], policy: 'resource_write', status: 202, answer: ['delivery'] }),
]; // prettier-ignore

/** A point of P-256, the one that its group is made of. */
const P256DH = 'BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU';
const BROWSER = { endpoint: 'https://push.example/x', keys: { p256dh: P256DH, auth: 'AAAAAAAAAAAAAAAAAAAAAA' } };
const NOTICES_OF = ['detail', 'email', 'failed', 'finished', 'hookUrl', 'needsYou', 'push', 'quiet'];
const NOTICES: Row[] = [
  read('/v1/notices', 'personal', NOTICES_OF),
  row('PUT', '/v1/notices', { scopes: 'personal', policy: 'resource_write', answer: NOTICES_OF, body: { failed: ['push'] } }),
  row('POST', '/v1/notices/push', { scopes: 'personal', policy: 'resource_write', answer: ['push'], body: BROWSER }),
  row('DELETE', '/v1/notices/push', { scopes: 'personal', policy: 'resource_write', answer: ['push'], elsewhere: 'notice-settings' }),
  row('POST', '/v1/notices/test', { scopes: 'personal', policy: 'resource_write', status: 202, answer: ['queued'], body: { channel: 'push' }, elsewhere: 'notice-settings' }),
]; // prettier-ignore

const ATTACHES = {
  scopes: ['tasks:write'],
  policy: 'task_execution',
  key: 'required',
  conditional: 'files:write',
} as const;
const BILLING = ['plan', 'renewal', 'storage', 'subscription', 'topUp', 'usage'];
const CONTEXT = ['credential', 'credentialType', 'scopes', 'user', 'workspace'];

export const ENDPOINTS: readonly Row[] = [
  read('/v1/auth/context', 'any', CONTEXT, 'metadata_read'),
  read('/v1/models', 'any', ['models'], 'metadata_read'),
  read('/v1/web', 'any', ['web'], 'metadata_read'),
  read('/v1/mcp-servers', 'any', ['mcpServers'], 'metadata_read'),
  read('/v1/billing/summary', ['billing:read'], BILLING, 'metadata_read'),
  read('/v1/billing/usage', ['billing:read'], ['usage'], 'metadata_read'),
  row('POST', '/v1/billing/checkout', { scopes: 'personal', policy: 'resource_write', answer: ['url'], body: { plan: 'paid' }, elsewhere: 'billing-payments' }),
  row('POST', '/v1/billing/portal', { scopes: 'personal', policy: 'resource_write', answer: ['url'], body: {}, elsewhere: 'billing-payments' }),
  ...MEMBERS,
  ...KEYS,
  ...REPOSITORIES,
  { ...read('/v1/integrations', ['integrations:read'], ['integrations'], 'metadata_read'), builtBy: 'integrations' },
  { ...read('/v1/integrations/{integrationSlug}', ['integrations:read'], ['integration'], 'metadata_read'), builtBy: 'integrations' },
  { ...read('/v1/integrations/{integrationSlug}/deliveries', ['integrations:read'], ['deliveries']), builtBy: 'integrations' },
  ...CONNECTIONS.map((one) => ({ ...one, builtBy: 'integrations' as const })),
  ...PROJECTS.map((one) => ({ ...one, builtBy: 'projects' as const })),
  list('/v1/tasks', ['tasks:read'], 'tasks'),
  row('POST', '/v1/tasks', { ...ATTACHES, status: 201, answer: ['task'], body: { content: 'x' } }),
  read('/v1/tasks/{taskId}', ['tasks:read'], ['task']),
  row('POST', '/v1/tasks/{taskId}/cancel', { scopes: ['tasks:write'], policy: 'resource_write', answer: ['task'] }),
  row('POST', '/v1/tasks/{taskId}/fork', { scopes: ['tasks:write', 'files:read'], policy: 'task_execution', key: 'required', answer: ['task'], status: 201, body: {} }),
  row('POST', '/v1/tasks/{taskId}/checks', { scopes: ['tasks:write'], policy: 'task_execution', key: 'optional', answer: ['task'], status: 202 }),
  row('POST', '/v1/tasks/{taskId}/commands/{commandId}/stop', { scopes: ['tasks:write'], policy: 'resource_write', answer: ['command'], status: 202 }),
  row('POST', '/v1/tasks/{taskId}/pause', { scopes: ['tasks:write'], policy: 'resource_write', answer: ['task'], body: {} }),
  row('POST', '/v1/tasks/{taskId}/resume', { scopes: ['tasks:write'], policy: 'resource_write', answer: ['task'] }),
  row('POST', '/v1/tasks/{taskId}/interaction', { ...ATTACHES, status: 202, answer: ['task'], body: { interactionId: 'x', content: 'x' }, elsewhere: 'interactions' }),
  { ...read('/v1/tasks/{taskId}/events', ['tasks:read'], ['caughtUp', 'events', 'position']), limit: 100 },
  { ...read('/v1/events', ['tasks:read'], ['caughtUp', 'events', 'position']), limit: 100 },
  list('/v1/tasks/{taskId}/messages', ['tasks:read'], 'messages'),
  row('POST', '/v1/tasks/{taskId}/messages', { ...ATTACHES, status: 202, answer: ['message', 'task'], body: { content: 'x' } }),
  row('DELETE', '/v1/tasks/{taskId}/messages/{messageId}', { scopes: ['tasks:write'], policy: 'resource_write', answer: DELETED }),
  list('/v1/tasks/{taskId}/files', ['tasks:read', 'files:read'], 'files'),
  { ...read('/v1/tasks/{taskId}/files/archive', ['tasks:read', 'files:read'], []), answer: null },
  list('/v1/tasks/{taskId}/snapshots', ['tasks:read'], 'snapshots'),
  { ...list('/v1/tasks/{taskId}/workdir', ['tasks:read', 'files:read'], 'entries'), answer: ['entries', 'nextCursor', 'snapshot'] },
  { ...read('/v1/tasks/{taskId}/workdir/content', ['tasks:read', 'files:read'], []), answer: null, elsewhere: 'workdir' },
  row('POST', '/v1/uploads', { scopes: ['files:write'], policy: 'file_upload', status: 201, answer: ['upload'], body: 'form' }),
  list('/v1/files', ['files:read'], 'files'),
  read('/v1/files/{fileId}', ['files:read'], ['file']),
  row('DELETE', '/v1/files/{fileId}', { scopes: ['files:write'], policy: 'resource_write', answer: DELETED, elsewhere: 'projects' }),
  { ...read('/v1/files/{fileId}/content', ['files:read'], []), answer: null },
  ...AUTOMATIONS.map((one) => ({ ...one, builtBy: 'automations' as const })),
  { ...list('/v1/repositories', ['projects:read'], 'repositories'), answer: ['nextCursor', 'partial', 'repositories'] },
  { ...read('/v1/repositories/branches', ['projects:read'], ['branches', 'nextCursor', 'partial']), pages: 100, elsewhere: 'repositories-list' },
  ...SECRETS,
  ...ENVIRONMENTS,
  ...SKILLS,
  ...WEBHOOKS,
  list('/v1/audit', 'administration', 'entries'),
  ...NOTICES,
  row('POST', '/mcp', { scopes: 'any', policy: 'metadata_read', answer: ['id', 'jsonrpc', 'result'], body: { jsonrpc: '2.0', id: 1, method: 'ping' } }),
  { ...open('/developer-api/rate-limits'), answer: ['free', 'paid'] },
  row('POST', '/hooks/billing/stripe', { scopes: 'public', policy: null, elsewhere: 'hooks', builtBy: 'payment' }),
  row('POST', '/hooks/{connectionId}', { scopes: 'public', policy: null, elsewhere: 'hooks', builtBy: 'integrations' }),
  open('/health/live'),
  open('/health/ready'),
  open('/metrics'),
  { ...open('/.well-known/millwright.jwks.json'), answer: ['keys'] },
  open('/openapi.json'),
  open('/docs'),
  { ...open('/docs/{asset}'), elsewhere: 'documents' },
]; // prettier-ignore
