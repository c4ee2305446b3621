// Requests of programs for models, as small as they can be.
import type { Forwarding, WireName } from '../../../src/engine/engines/wires/wire.js';
import { WIRES } from '../../../src/engine/engines/wires/wires.js';

const ABOUT: Forwarding = { model: 'real', effort: null, hide: [], providerTools: [] };

/** The request's own field for what is said, empty. */
export const EMPTY: Record<WireName, object> = {
  'openai-chat': { messages: [] },
  'openai-responses': { input: [] },
  'anthropic-messages': { messages: [] },
};

/** A function by the name. */
export const FUNCTION: Record<WireName, (name: string) => Record<string, unknown>> = {
  'openai-chat': (name) => ({ type: 'function', function: { name, parameters: {} } }),
  'openai-responses': (name) => ({ type: 'function', name, parameters: {} }),
  'anthropic-messages': (name) => ({ name, input_schema: {} }),
};

export function forward(name: WireName, body: object, about: Partial<Forwarding> = {}) {
  const wire = WIRES[name];
  return wire.forward(wire.read({ ...EMPTY[name], ...body }), { ...ABOUT, ...about });
}
