// What servers say, as far as it can be read (reference §28). The client's package refuses a whole answer for one odd entry, so it is handed the frame
// of each answer, and the rest beside it.
import type { Transport } from '@modelcontextprotocol/client';
import { isJsonObject } from '../../models/conversation.js';

type Values = Record<string, unknown>;

/** Where an answer has what the server said. */
const RAW = 'millwright/raw';
/** What a server may ask of a client, and is not given. */
const ASKS = ['elicitation/create', 'sampling/createMessage', 'roots/list'];

/** A text, or nothing. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The answer as the server gave it. */
export function rawOf(answer: unknown): Values {
  const meta = isJsonObject(answer) ? answer['_meta'] : null;
  return isJsonObject(meta) && isJsonObject(meta[RAW]) ? meta[RAW] : {};
}

/**
 * Makes a transport lenient, before a client is connected by it. Null in an answer counts as absent.
 * @param asked told when the server asks for what a client may give.
 */
export function lenient<T extends Transport>(transport: T, asked: (method: string) => void): T {
  const methods = new Map<unknown, string>();
  const send = transport.send.bind(transport);
  let given: Transport['onmessage'];
  transport.send = (message, options) => {
    const one = message as { id?: unknown; method?: unknown };
    if (one.id !== undefined && typeof one.method === 'string') methods.set(one.id, one.method);
    return send(message, options);
  };
  const take: Transport['onmessage'] = (sent, extra) => {
    const message = withoutNulls(sent);
    const { id, method, result } = message as { id?: unknown; method?: unknown; result?: unknown };
    if (typeof method === 'string') {
      if (id !== undefined && ASKS.includes(method)) asked(method);
      return given?.(message, extra);
    }
    const of = methods.get(id);
    methods.delete(id);
    if (of === undefined || !isJsonObject(result)) return given?.(message, extra);
    given?.({ ...message, result: framed(of, result) }, extra);
  };
  Object.defineProperty(transport, 'onmessage', {
    get: () => (given === undefined ? undefined : take),
    set: (to: Transport['onmessage']) => (given = to),
    configurable: true,
  });
  return transport;
}

function framed(method: string, result: Values): Values {
  const type = textOf(result['resultType']);
  const complete = type === undefined ? {} : { resultType: 'complete' };
  const meta = { _meta: { ...(isJsonObject(result['_meta']) ? result['_meta'] : {}), [RAW]: result } };
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: result['protocolVersion'],
        capabilities: capabilitiesOf(result),
        serverInfo: identityOf(result['serverInfo']),
      };
    case 'server/discover':
      return {
        ...complete,
        supportedVersions: texts(result['supportedVersions']),
        capabilities: capabilitiesOf(result),
        ttlMs: 0,
        cacheScope: 'private',
        ...(isJsonObject(result['_meta']) ? { _meta: withoutNulls(result['_meta']) } : {}),
      };
    case 'tools/list':
      return { ...complete, tools: [], ttlMs: 0, cacheScope: 'private', ...meta };
    case 'tools/call':
      return { ...complete, content: [], ...meta };
    default:
      return result;
  }
}

/** We use tools alone. */
function capabilitiesOf({ capabilities }: Values): Values {
  const tools = isJsonObject(capabilities) ? capabilities['tools'] : null;
  if (tools == null) return { tools: {} };
  return { tools: isJsonObject(tools) && tools['listChanged'] === true ? { listChanged: true } : {} };
}

function identityOf(given: unknown): Values {
  const { name, version } = isJsonObject(given) ? given : {};
  return { name: textOf(name) ?? 'unknown', version: textOf(version) ?? '0' };
}

const texts = (given: unknown) => (Array.isArray(given) ? given.filter((one) => typeof one === 'string') : []);

function withoutNulls<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as T;
}

/** The text of messages without what is null in their frame, for a reader that takes such a message for none. */
export function withoutNullsIn(text: string): string {
  if (!NULL.test(text)) return text;
  try {
    const given: unknown = JSON.parse(text);
    const clean = (one: unknown) => (isJsonObject(one) ? withoutNulls(one) : one);
    return JSON.stringify(Array.isArray(given) ? given.map(clean) : clean(given));
  } catch {
    // It is no JSON, or nested too deeply to be written again.
    return text;
  }
}
const NULL = /"(?:error|result|method|params)"\s*:\s*null/;
