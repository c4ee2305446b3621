import { newId } from '../../platform/database/ids.js';
import type { NetworkRefusal } from '../sandbox/network/refusals.js';
import type { Finished } from './turn-outcomes.js';

/** The name of the `data` part (reference §6). */
export const NETWORK_PART = 'network';

/**
 * What a call has made, with what the network refused its command: the model reads the sentences with the result, and people have them as a
 * part behind it. `curl` says no more of a refused tunnel than its status.
 */
export function withRefusals(
  { result, parts }: Pick<Finished, 'result' | 'parts'>,
  refused: readonly NetworkRefusal[],
): Pick<Finished, 'result' | 'parts'> {
  if (refused.length === 0) return { result, parts };
  const data = { refused: refused.map(({ host, port, code, reason }) => ({ host, port, code, reason })) };
  const all = [...parts, { type: 'data' as const, name: NETWORK_PART, id: newId(), data }];
  if (result.status === 'denied') return { result, parts: all };
  return {
    result: { ...result, forModel: { ...result.forModel, refused: refused.map(({ reason }) => reason) } },
    parts: all,
  };
}
