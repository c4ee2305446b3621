import { z } from 'zod';
import { named } from '../../platform/http/schema.js';
import type { ModelInfo } from './model-provider.js';

export const effortSchema = named('Effort', z.enum(['low', 'medium', 'high']));

export const modelSchema = named(
  'Model',
  z.strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    default: z.boolean().describe('Whether a task that names no model gets this one.'),
    efforts: z.array(effortSchema),
    defaultEffort: effortSchema.nullable(),
    input: z.array(z.enum(['text', 'image', 'file'])),
    contextWindow: z.int().nullable().describe('Tokens; null when unknown.'),
    status: z.enum(['available', 'unavailable']),
  }),
);

/** A model as clients see it (reference §15): nothing of its provider, route or tier. */
export function modelView(model: ModelInfo, defaultId: string): z.output<typeof modelSchema> {
  const { id, name, description, efforts, defaultEffort, input, contextWindow, status } = model;
  return { id, name, description, default: id === defaultId, efforts, defaultEffort, input, contextWindow, status };
}
