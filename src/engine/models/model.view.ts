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
    engine: z
      .string()
      .nullable()
      .describe(
        'The agent program that drives its tasks, by the name that the operator gave it; null: the built-in loop.',
      ),
    status: z.enum(['available', 'unavailable']),
  }),
);

/** A model as clients see it (reference §15): nothing of its provider, route or tier. @param engine by name; null: none. */
export function modelView(model: ModelInfo, defaultId: string, engine: string | null): z.output<typeof modelSchema> {
  const { id, name, description, efforts, defaultEffort, input, contextWindow, status } = model;
  const isDefault = id === defaultId;
  return { id, name, description, default: isDefault, efforts, defaultEffort, input, contextWindow, engine, status };
}
