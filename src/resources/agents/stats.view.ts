import { z } from 'zod';
import { named, timestampSchema } from '../../platform/http/schema.js';
import type { Figures } from './figures.sql.js';
import { figuresSchema, figuresView } from './figures.view.js';

/** `{from, to, versions}` */
export const statsAnswer = named(
  'AgentStats',
  z.strictObject({ from: timestampSchema, to: timestampSchema, versions: z.array(figuresSchema) }),
);

/** The stats of an agent as clients see them (reference §27.5). */
export function statsView({ from, to, versions }: { from: Date; to: Date; versions: Figures[] }) {
  return { from: from.toISOString(), to: to.toISOString(), versions: versions.map(figuresView) };
}
