// The call of a model's provider for a program (reference §30): the operator's address and key, the program's own request.
import { APICallError } from '@ai-sdk/provider';
import { toModelError } from '../../models/ai-sdk/ai-sdk-errors.js';
import { carefully } from '../../models/ai-sdk/careful-fetch.js';
import type { SdkModel } from '../../models/model-config.js';
import type { ModelError } from '../../models/model-provider.js';
import type { Fields } from './fields.js';
import type { Wire, WireAnswer } from './wire.js';

type Provider = Pick<SdkModel, 'provider' | 'baseUrl' | 'apiKey'>;

/** Where a provider stands whose address the operator did not give; the paths of the wires come behind. */
const ADDRESSES: Partial<Record<SdkModel['provider'], string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
};
/** Sent when the program names none. */
const ANTHROPIC_VERSION = '2023-06-01';

export interface Upstream {
  contentType: string;
  body: AsyncIterable<Uint8Array>;
}

/**
 * One call, never repeated here. `headers`: those of the program's request, of which go on what the wire lets pass. Throws `ModelError` when
 * the provider cannot be reached or answers with an error; when `signal` is aborted, its reason.
 */
export async function callUpstream(
  model: Provider,
  wire: Wire,
  { body, headers = {} }: { body: Fields; headers?: Readonly<Record<string, string | string[] | undefined>> },
  signal: AbortSignal,
): Promise<Upstream> {
  const base = model.baseUrl ?? ADDRESSES[model.provider];
  if (base === undefined) throw new Error(`A model of ${model.provider} has no address.`);
  const url = base.replace(/\/+$/, '') + wire.path.replace(/^\/v1/, '');
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...passed(wire, headers), ...credentials(model) },
    body: JSON.stringify(body),
    signal,
  };
  try {
    const response = await carefully(url, init);
    if (!response.ok) throw await refused(response);
    return {
      contentType: response.headers.get('content-type') ?? '',
      body: reading(response.body, signal),
    };
  } catch (error) {
    signal.throwIfAborted();
    throw toModelError(error);
  }
}

/** Why an answer that has been read is none; null when it is one. Whatever it says of itself, another try may go well. */
export function failureOf({ failed, complete }: WireAnswer): ModelError | null {
  if (failed !== null) return toModelError(failed);
  return complete ? null : toModelError(new Error('The answer has no end.'));
}

function credentials({ provider, apiKey }: Provider): Record<string, string> {
  if (apiKey === undefined) return {};
  return provider === 'anthropic' ? { 'x-api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
}

function passed({ name, headers: allowed }: Wire, given: Readonly<Record<string, unknown>>): Record<string, string> {
  const found = allowed.flatMap((header) => {
    const value = given[header];
    return typeof value === 'string' && value !== '' ? [[header, value] as const] : [];
  });
  const version = name === 'anthropic-messages' ? { 'anthropic-version': ANTHROPIC_VERSION } : {};
  return { ...version, ...Object.fromEntries(found) };
}

/** A connection that breaks is the provider's failure. */
async function* reading(body: ReadableStream<Uint8Array> | null, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body ?? []) yield chunk;
  } catch (error) {
    signal.throwIfAborted();
    throw toModelError(error);
  }
}

async function refused(response: Response): Promise<APICallError> {
  return new APICallError({
    message: 'The provider answered with an error.',
    url: '',
    requestBodyValues: {},
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody: await response.text(),
  });
}
