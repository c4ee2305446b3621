// What must hold of every answer.
import type { Contract } from '../harness/contract.js';
import type { Expectation, Sent } from './request.js';
import type { Got } from './transport.js';

const LIMITS = ['Policy', 'Limit', 'Remaining', 'Reset', 'Global-Limit', 'Global-Remaining', 'Global-Reset'];
/** Codes that find fault with the form of a request. */
const FORM = ['invalid_body', 'invalid_field', 'unknown_field', 'invalid_query', 'missing_idempotency_key', 'invalid_idempotency_key', 'method_not_allowed', 'too_large', 'unsupported_media_type']; // prettier-ignore
/** What belongs to one trigger of an automation. Of a missing trigger no field is named. */
const TRIGGER = /^(kind|cron|runAt|triggerEvent|timezone|filter|samplePayload|budget\.maxCost|repository(\..*)?)?$/;
const CHECKS = /^checks(\[\d+\]\.protect)?$/;
const CREDENTIAL = /^(host|hosting|api|token|appId|privateKey|installationId|paths|push)?$/;
const AGENT =
  /^(instructions|channels(\..*)?|budget\.maxCost|repository\..*|outputSchema|version|tools\.deny|default)$/;
const ENVIRONMENT = /^(setup|variables(\..*)?|refresh|repository(\..*)?)$/;
/** What a request must fit beside the document: the kind of the question, the messages of the task, the model's prices, the calling key, what the operator allows of repositories, an address that is public. */
const BESIDE: Record<string, RegExp> = {
  'POST /v1/tasks': /^(budget\.maxCost$|repository\.|outputSchema$)/,
  'PATCH /v1/tasks/{taskId}': /^budget\.maxCost$/,
  'POST /v1/automations': TRIGGER,
  'PATCH /v1/automations/{automationId}': TRIGGER,
  'POST /v1/tasks/{taskId}/interaction': /^(content|optionIds|attachments|decision|reason|remember)$/,
  'GET /v1/tasks/{taskId}/messages': /^after$/,
  'POST /v1/tasks/{taskId}/messages': /^review\[\d+\]\.(path|endLine|text)$/,
  // One that has ended; the model's prices.
  'POST /v1/tasks/{taskId}/fork': /^(turn|budget\.maxCost)$/,
  // Not in the past, and at most so far away.
  'POST /v1/tasks/{taskId}/pause': /^resumeAt$/,
  // Each is for one form alone, of two.
  'GET /v1/tasks/{taskId}/events': /^(after|types|until|deltas|format)$/,
  'GET /v1/events': /^(after|types)$/,
  'POST /v1/webhooks': /^url$/,
  'PATCH /v1/webhooks/{webhookId}': /^url$/,
  'POST /v1/webhooks/{webhookId}/recover': /^since$/,
  // Either of two fields, and addresses of pages.
  'POST /v1/billing/checkout': /^(plan|topUp|successUrl|cancelUrl)$/,
  'POST /v1/billing/portal': /^returnUrl$/,
  'POST /v1/keys': /^(scopes(\[\d+\])?|expiresAt)$/,
  'POST /v1/service-accounts/{serviceAccountId}/keys': /^(scopes(\[\d+\])?|expiresAt)$/,
  // A document has no form of an address.
  'POST /v1/members': /^email$/,
  'DELETE /v1/members/{memberId}': /^transferTo$/,
  // Form of the provider.
  'POST /v1/integrations/{integrationSlug}/connections': /^secret$/,
  'POST /v1/integrations/{integrationSlug}/connections/{connectionId}/rotate': /^secret$/,
  // A token, or what a GitHub App has.
  'POST /v1/repository-connections': CREDENTIAL,
  'PATCH /v1/repository-connections/{repositoryConnectionId}': CREDENTIAL,
  // A project goes with its scope alone; what fits what in a place; variables of the sandbox.
  'POST /v1/secrets': /^(projectId|env|value|bindings.*)$/,
  'PATCH /v1/secrets/{secretId}': /^(env|value|bindings.*)$/,
  // Bytes, not characters; variables of the sandbox; lockfiles go with a repository alone.
  // Bytes, not characters; versions that there are; names of tools; an agent of another one.
  'POST /v1/agents': AGENT,
  'PATCH /v1/agents/{slug}': AGENT,
  'POST /v1/agents/{slug}/evaluate': /^(cases.*|versions.*)$/,
  'POST /v1/environments': ENVIRONMENT,
  'PATCH /v1/environments/{slug}': ENVIRONMENT,
  'GET /v1/repositories/branches': /^url$/,
  'DELETE /v1/notices/push': /^endpoint$/,
  'PUT /v1/notices': /^(needsYou|finished|failed|hookUrl|quiet(\..*)?)$/,
  'POST /v1/notices/push': /^(endpoint|keys.*)$/,
  'POST /v1/notices/test': /^channel$/,
};

/** What is wrong with an answer, or null. */
export function problemOf(sent: Sent, got: Got, contract: Contract): string | null {
  const { method, path, expected } = sent;
  if (got.status >= 500) return `${got.status}: the fault is the service's.`;
  if (got.status === 400 && isAboutHost(sent, got)) return null;
  const against = contract.problemOf({ method, path, status: got.status, headers: got.headers, text: got.text });
  if (against !== null) return `Against the document: ${against}`;
  // There a signature decides, which no generated request has.
  const known = expected.known && !path.startsWith('/hooks/');
  return limitProblem({ ...expected, known }, got) ?? formProblem(sent, got);
}

/** A wrong host is refused before it is known whose request it is, as bytes that are no request are. A HEAD has no words. */
function isAboutHost({ method, headers }: Sent, { text }: Got): boolean {
  return text.includes('"The header Host must be ') || (method === 'HEAD' && headers.some(([name]) => name === 'Host'));
}

function limitProblem({ known }: Expectation, { status, headers }: Got): string | null {
  if (status < 300 && headers.has('Retry-After')) return 'A success has Retry-After.';
  const limited = headers.has('X-RateLimit-Limit');
  if (status === 401 && known) return '401 for a good key.';
  if (!limited) return null;
  const missing = LIMITS.filter((name) => !headers.has(`X-RateLimit-${name}`));
  return missing.length === 0 ? null : `Without X-RateLimit-${missing.join(', ')}.`;
}

function formProblem({ operation, expected }: Sent, { status, text }: Got): string | null {
  if (expected.allowed === false && status < 400) return 'It is accepted, and the document does not allow it.';
  if (expected.allowed !== true || status < 400) return null;
  const { error } = JSON.parse(text) as { error: { code: string; param: string | null; message: string } };
  if (!FORM.includes(error.code)) return null;
  if (BESIDE[operation]?.test(error.param ?? '') === true) return null;
  // Their names differ, and what a pattern opens it closes (reference §26).
  if (CHECKS.test(error.param ?? '')) return null;
  // The one id whose form is checked (reference §12).
  if (error.param === 'automationId') return null;
  return `It is refused for its form (${error.code}), and the document allows it.`;
}
