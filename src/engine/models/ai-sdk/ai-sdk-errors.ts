// What can go wrong with a provider, in words for clients: no address, no key, nothing of a response body.
import { APICallError, InvalidPromptError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { overflowOf } from '../context-overflow.js';
import { ContextOverflowError, ModelError, type ModelFailureCode } from '../model-provider.js';

const REASONS: Record<number, string> = {
  400: 'the request was refused',
  402: 'payment is required',
  403: 'the request was forbidden',
  404: 'the model is not known there',
  410: 'the model is not offered there any more',
  408: 'timed out',
  429: 'rate limited',
  503: 'not available',
  529: 'overloaded',
};

const CODES: Record<number, ModelFailureCode> = {
  404: 'model_gone',
  410: 'model_gone',
  429: 'model_overloaded',
  502: 'model_overloaded',
  503: 'model_overloaded',
  504: 'model_overloaded',
  529: 'model_overloaded',
};

const UNREACHABLE = "The model's provider could not be reached.";

/** Any failure of a provider's package as a {@link ModelError}. */
export function toModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  if (isUnreachable(error)) return unreachable(error);
  const overflow = overflowOf(statusOf(error), wordsOf(error));
  if (overflow !== undefined) return new ContextOverflowError(overflow, { cause: error });
  if (UnsupportedFunctionalityError.isInstance(error) || InvalidPromptError.isInstance(error)) {
    // Nothing was sent, and the same would be refused again.
    return new ModelError("The model's provider takes no request like this one.", false, null, { cause: error });
  }
  if (!APICallError.isInstance(error)) {
    // Broken JSON, an error inside the stream, a connection that broke: the next try may go well.
    return new ModelError("The model's provider broke off its answer.", true, null, { cause: error });
  }
  const { statusCode: status, responseHeaders: headers } = error;
  if (status === undefined) return unreachable(error);
  if (status < 300)
    return new ModelError("The model's provider sent an answer that cannot be read.", true, null, { cause: error });
  if (isOutOfQuota(error)) {
    const code = 'model_quota';
    return new ModelError("The quota at the model's provider is used up.", false, null, { cause: error, code });
  }
  if (isRefusedKey(error)) {
    const message = `The model's provider answered ${status} (the service's credentials were refused).`;
    return new ModelError(message, false, null, { cause: error, code: 'model_credentials' });
  }
  const code = isUnknownModel(error) ? 'model_gone' : (CODES[status] ?? 'model_error');
  const reason = REASONS[status] ?? reasonOf(status);
  const retryable = status === 408 || status === 409 || status === 429 || status >= 500;
  return new ModelError(`The model's provider answered ${status} (${reason}).`, retryable, retryAfter(headers), {
    cause: error,
    code,
  });
}

function unreachable(cause: unknown): ModelError {
  return new ModelError(UNREACHABLE, true, null, { cause, code: 'model_overloaded' });
}

/** Whether OpenAI refused a request for the summaries that it asked for: another one without them may go well. */
export function refusesSummaries(error: unknown): boolean {
  if (!APICallError.isInstance(error) || error.statusCode !== 400) return false;
  return /reasoning.?summar(y|ies)/i.test(error.responseBody ?? '');
}

function reasonOf(status: number): string {
  if (status < 400) return 'it redirects elsewhere, which the service does not follow';
  return status >= 500 ? 'an error of its own' : 'the request was refused';
}

/** What `fetch` throws when there is no connection. */
function isUnreachable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'message' in error && error.message === 'fetch failed';
}

function statusOf(error: unknown): number | undefined {
  return APICallError.isInstance(error) ? error.statusCode : undefined;
}

/** An error that comes within a stream is whatever the provider sends there. */
function wordsOf(error: unknown): string {
  if (APICallError.isInstance(error)) return `${error.message}\n${error.responseBody ?? ''}`;
  return error instanceof Error ? error.message : (JSON.stringify(error) ?? '');
}

/** The words of OpenAI, Anthropic, Moonshot, DeepSeek and OpenRouter for an account without money, by codes that a conversation does not bring about. */
const OUT_OF_QUOTA =
  /insufficient_quota|billing_hard_limit_reached|exceeded_current_quota|credit balance is too low|insufficient (balance|credits)/i;

function isOutOfQuota({ statusCode, responseBody }: APICallError): boolean {
  if (statusCode === 402) return true;
  return [400, 403, 429].includes(statusCode ?? 0) && OUT_OF_QUOTA.test(responseBody ?? '');
}

/** What a provider says of a key, and so of every conversation. A 403 may also be about the conversation. */
const REFUSED_KEY = /api.?key|security token|signature we calculated|AccessDenied|PERMISSION_DENIED|not authorized/i;

function isRefusedKey({ statusCode, responseBody }: APICallError): boolean {
  if (statusCode === 401) return true;
  if (statusCode === 400) return /API_KEY_INVALID/.test(responseBody ?? '');
  return statusCode === 403 && REFUSED_KEY.test(responseBody ?? '');
}

/** Amazon Bedrock and some gateways say it with 400. */
function isUnknownModel({ statusCode, responseBody }: APICallError): boolean {
  return statusCode === 400 && /model_not_found|model identifier is invalid/i.test(responseBody ?? '');
}

/** `Retry-After` in milliseconds: seconds or a date (RFC 9110 §10.2.3), or the milliseconds that some gateways send. */
function retryAfter(headers: Record<string, string> | undefined): number | null {
  const exact = Number(headers?.['retry-after-ms'] ?? NaN);
  if (exact >= 0) return exact;
  const value = headers?.['retry-after'];
  if (value === undefined || value.trim() === '') return null;
  const milliseconds = /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(milliseconds) ? null : Math.max(0, milliseconds);
}
