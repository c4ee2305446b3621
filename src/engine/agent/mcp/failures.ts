// Why a server cannot be used, or a call of it has no result. What a server says of that is for the log: a model and a client are told in words of ours.
import { withCauses } from '../../../platform/logging/causes.js';

/** The server cannot be used, and nothing was sent. The message is a clause for the model, in words of ours. */
export class McpUnavailableError extends Error {
  override readonly name = 'McpUnavailableError';
}

/** The call reached the server, or may have, and has no answer. */
export class McpUnansweredError extends Error {
  override readonly name = 'McpUnansweredError';
}

/** The server answered that it does not carry out the call. The message is what it says, as data. */
export class McpRefusedError extends Error {
  override readonly name = 'McpRefusedError';
}

/** A program that has ended. */
export class EndedError extends Error {
  /** @param byItself nobody ended it. */
  constructor(
    message: string,
    readonly byItself: boolean,
  ) {
    super(message);
  }
}

const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];

/** Whether there was no connection to send by. */
export const notSent = (error: unknown): boolean => NOT_SENT.includes(codeOf(error) ?? '');

/** A clause of ours about a failure. @param seconds how long was waited. */
export async function wordsFor(error: unknown, seconds: number): Promise<string> {
  const { ProtocolError, SdkError, SdkErrorCode } = await import('@modelcontextprotocol/client');
  if (error instanceof EndedError) return error.message;
  const late = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
  if (late || (error instanceof Error && error.name === 'TimeoutError'))
    return `nothing came within ${Math.ceil(seconds)} s`;
  if (error instanceof ProtocolError) return `it answered with the error ${Number(error.code)}`;
  return codeOf(error) ?? 'the service’s log says why';
}

/** The code of what has caused an error at first, or of the error. */
function codeOf(error: unknown): string | null {
  let found: string | null = null;
  for (const one of withCauses(error)) {
    const { code, status } = one as { code?: unknown; status?: unknown };
    if (typeof status === 'number') found = `status ${status}`;
    else if (typeof code === 'string' && /^[A-Z_0-9]{3,40}$/.test(code)) found = code;
  }
  return found;
}
