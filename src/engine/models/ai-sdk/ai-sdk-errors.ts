// What can go wrong with a provider, in words that may be shown: no address, no key, nothing of a response body.
import { APICallError } from '@ai-sdk/provider';
import { ModelError } from '../model-provider.js';

const REASONS: Record<number, string> = {
  400: 'the request was refused',
  401: "the service's credentials were refused",
  402: 'payment is required',
  403: "the service's credentials were refused",
  404: 'the model is not known there',
  408: 'timed out',
  413: 'the conversation is too long',
  429: 'rate limited',
  529: 'overloaded',
};

const UNREACHABLE = "The model's provider could not be reached.";

/** Any failure of a provider's package as a {@link ModelError}. */
export function toModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  if (isUnreachable(error)) return new ModelError(UNREACHABLE, true, null, { cause: error });
  if (!APICallError.isInstance(error)) {
    // Broken JSON, an error inside the stream, a connection that was cut: the next try may go well.
    return new ModelError("The model's provider broke off its answer.", true, null, { cause: error });
  }
  const { statusCode: status, responseHeaders: headers } = error;
  if (status === undefined) return new ModelError(UNREACHABLE, true, null, { cause: error });
  if (status < 300)
    return new ModelError("The model's provider sent an answer that cannot be read.", true, null, { cause: error });
  if (isTooLong(error))
    return new ModelError('The conversation is longer than the model can read.', false, null, { cause: error });
  if (isOutOfQuota(error)) {
    return new ModelError("The quota at the model's provider is used up.", false, null, { cause: error });
  }
  const reason = REASONS[status] ?? reasonOf(status);
  const retryable = status === 408 || status === 409 || status === 429 || status >= 500;
  return new ModelError(`The model's provider answered ${status} (${reason}).`, retryable, retryAfter(headers), {
    cause: error,
  });
}

function reasonOf(status: number): string {
  if (status < 400) return 'it redirects elsewhere, which the service does not follow';
  return status >= 500 ? 'an error of its own' : 'the request was refused';
}

/** What `fetch` throws when there is no connection. */
function isUnreachable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'message' in error && error.message === 'fetch failed';
}

function isTooLong(error: APICallError): boolean {
  return error.statusCode === 400 && /context.?(length|window)|too long|maximum.{0,200}tokens/i.test(error.message);
}

function isOutOfQuota(error: APICallError): boolean {
  return error.statusCode === 429 && /insufficient_quota/.test(error.responseBody ?? '');
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
