import { Param } from '../../../platform/database/sql.js';

/** How an interaction has ended (reference §17). */
export interface Settlement {
  interactionId: string;
  outcome: 'answered' | 'approved' | 'denied' | 'expired' | 'cancelled';
  /** The user who ended it; null for nobody. */
  by: string | null;
}

type Given = { settled: Settlement | null };
const value = (key: string, cast: string, read: (settled: Settlement) => string) =>
  new Param<Given>(`settled.${key}`, cast, (given) => {
    const { settled } = given as Given;
    return settled === null ? null : read(settled);
  });

/** The event of an interaction that a statement's `settled` names; both NULL without one. */
export const SETTLED = {
  id: value('id', 'uuid', ({ interactionId }) => interactionId),
  data: value('data', 'jsonb', ({ outcome, by }) => JSON.stringify({ outcome, by })),
};
