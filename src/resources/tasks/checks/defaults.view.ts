// Checks that projects, automations and environments have for their tasks, as clients see them.
import { z } from 'zod';
import { named } from '../../../platform/http/schema.js';

const checkSchema = named(
  'DefaultCheck',
  z.strictObject({
    name: z.string(),
    command: z.string(),
    timeoutSeconds: z.int().min(1),
    required: z.boolean(),
    protect: z.array(z.string()),
    network: z.boolean(),
  }),
  { description: 'A command by which the service finds out whether a task is done.' },
);
export const defaultChecksSchema = z
  .array(checkSchema)
  .nullable()
  .describe('Of its tasks, of those that name none themselves; null: it says nothing of them.');
export const defaultRepairsSchema = z.int().min(0).nullable().describe('As of tasks; null: it says nothing of it.');
