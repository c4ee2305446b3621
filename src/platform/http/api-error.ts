/** The closed list of errors (reference §10): code → HTTP status and `error.type`. */
export const ERRORS = {
  invalid_body: [400, 'invalid_request'],
  invalid_field: [400, 'invalid_request'],
  unknown_field: [400, 'invalid_request'],
  invalid_query: [400, 'invalid_request'],
  invalid_cursor: [400, 'invalid_request'],
  invalid_upload: [400, 'invalid_request'],
  invalid_idempotency_key: [400, 'invalid_request'],
  missing_idempotency_key: [400, 'invalid_request'],
  invalid_cron: [400, 'invalid_request'],
  invalid_timezone: [400, 'invalid_request'],
  schedule_in_past: [400, 'invalid_request'],
  integration_not_connected: [400, 'invalid_request'],
  unknown_trigger_event: [400, 'invalid_request'],
  invalid_filter: [400, 'invalid_request'],
  model_not_available: [400, 'invalid_request'],
  repository_not_allowed: [400, 'invalid_request'],
  host_not_allowed: [400, 'invalid_request'],
  invalid_skill: [400, 'invalid_request'],
  missing_credential: [401, 'unauthorized'],
  invalid_credential: [401, 'unauthorized'],
  expired_credential: [401, 'unauthorized'],
  subscription_required: [402, 'payment_required'],
  usage_exhausted: [402, 'payment_required'],
  storage_exhausted: [402, 'payment_required'],
  missing_scope: [403, 'forbidden'],
  role_not_allowed: [403, 'forbidden'],
  not_owner: [403, 'forbidden'],
  origin_not_allowed: [403, 'forbidden'],
  cross_site: [403, 'forbidden'],
  not_found: [404, 'not_found'],
  method_not_allowed: [405, 'invalid_request'],
  precondition_failed: [412, 'invalid_request'],
  too_large: [413, 'invalid_request'],
  unsupported_media_type: [415, 'invalid_request'],
  range_not_satisfiable: [416, 'invalid_request'],
  idempotency_key_reused: [409, 'conflict'],
  idempotency_in_progress: [409, 'conflict'],
  interaction_not_pending: [409, 'conflict'],
  task_not_cancellable: [409, 'conflict'],
  task_not_pausable: [409, 'conflict'],
  task_not_final: [409, 'conflict'],
  no_checks: [409, 'conflict'],
  command_not_running: [409, 'conflict'],
  snapshot_gone: [409, 'conflict'],
  too_much_unread: [409, 'conflict'],
  message_already_read: [409, 'conflict'],
  file_in_use: [409, 'conflict'],
  automation_completed: [409, 'conflict'],
  too_many_keys: [409, 'conflict'],
  member_exists: [409, 'conflict'],
  member_has_keys: [409, 'conflict'],
  console_not_available: [409, 'conflict'],
  last_owner: [409, 'conflict'],
  service_account_exists: [409, 'conflict'],
  connection_exists: [409, 'conflict'],
  test_not_available: [409, 'conflict'],
  webhook_exists: [409, 'conflict'],
  too_many_webhooks: [409, 'conflict'],
  too_many_connections: [409, 'conflict'],
  secret_exists: [409, 'conflict'],
  too_many_secrets: [409, 'conflict'],
  environment_exists: [409, 'conflict'],
  environment_in_use: [409, 'conflict'],
  too_many_environments: [409, 'conflict'],
  environment_not_built: [409, 'conflict'],
  agent_exists: [409, 'conflict'],
  agent_in_use: [409, 'conflict'],
  too_many_agents: [409, 'conflict'],
  too_many_versions: [409, 'conflict'],
  version_conflict: [409, 'conflict'],
  skill_in_use: [409, 'conflict'],
  too_many_skills: [409, 'conflict'],
  no_payment_provider: [409, 'conflict'],
  cursor_expired: [410, 'invalid_request'],
  header_too_large: [431, 'invalid_request'],
  rate_limit_exceeded: [429, 'rate_limited'],
  too_many_streams: [429, 'rate_limited'],
  internal_error: [500, 'internal_error'],
  unavailable: [503, 'internal_error'],
  storage_full: [503, 'internal_error'],
} as const satisfies Record<string, readonly [number, string]>;

/** When to try again, in seconds, where the code that throws gives no header. */
const RETRY_AFTER: Partial<Record<string, string>> = { unavailable: '1', storage_full: '30', too_many_streams: '5' };
/** Conflicts that pass by themselves. */
const PASSING: ReadonlySet<string> = new Set([
  'idempotency_in_progress',
  'too_much_unread',
] satisfies (keyof typeof ERRORS)[]);

export type ErrorCode = keyof typeof ERRORS;
export type ErrorType = (typeof ERRORS)[ErrorCode][1];
/** The statuses of errors in the document; 405 is of paths and no route. */
export type ErrorStatus = Exclude<(typeof ERRORS)[ErrorCode][0], 405>;

/** The statuses that the document has for every route with a credential, and that say what the request is. */
export const EXTENSION_STATUSES = [400, 402, 403, 404, 409] as const;

/** An error code of an extension. */
export interface ExtensionError {
  readonly code: string;
  readonly status: (typeof EXTENSION_STATUSES)[number];
  readonly type: ErrorType;
}

/**
 * Makes an error code for `defineExtension({ errors })` and `new ApiError(…)`. In snake_case: `review_closed`.
 * @param type as other codes of this status have it, if there are any: `conflict` for 409.
 */
export function errorCode(code: string, status: ExtensionError['status'], type: ErrorType): ExtensionError {
  return { code, status, type };
}

interface ErrorDetails {
  /** The one field at fault, as a path: `attachments[0].uploadId`. */
  param?: string;
  /** Further response headers, for example `Allow`. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/** The only error that services throw on purpose. The filter writes it as an answer; anything else is a 500. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly headers: Record<string, string>;

  /**
   * @param code one of the service, or one that {@link errorCode} has made for an extension.
   * @param message one sentence that says what is wrong and what is accepted.
   */
  constructor(code: ErrorCode | ExtensionError, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    if (typeof code === 'string') {
      this.code = code;
      [this.status, this.type] = ERRORS[code];
    } else ({ code: this.code, status: this.status, type: this.type } = code);
    this.param = details.param ?? null;
    const seconds = RETRY_AFTER[this.code];
    this.headers = details.headers ?? (seconds === undefined ? {} : { 'Retry-After': seconds });
  }

  /** Whether the same request may succeed later without change. */
  get retryable(): boolean {
    return this.status >= 500 || this.status === 429 || PASSING.has(this.code);
  }

  /** The body of the answer (reference §10). */
  body(requestId: string) {
    const { type, message, code, param, retryable } = this;
    return { error: { type, message, requestId, code, param, retryable } };
  }
}

/** The one answer for what does not exist, lies in another workspace or may not be seen. */
export function notFound(what: string, param?: string): ApiError {
  return new ApiError('not_found', `There is no such ${what}.`, param === undefined ? {} : { param });
}
