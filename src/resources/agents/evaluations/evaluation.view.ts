import { z } from 'zod';
import { idSchema, named, personSchema, timestampSchema } from '../../../platform/http/schema.js';
import { TASK_STATUSES } from '../../tasks/task-status.js';
import type { Figures } from '../figures.sql.js';
import { figuresSchema, figuresView } from '../figures.view.js';
import type { EvaluationRow } from './evaluations.sql.js';

const count = z.int().min(0);

export const evaluationSchema = named(
  'Evaluation',
  z.strictObject({
    id: idSchema,
    agent: z.string().describe('Its slug.'),
    status: z.enum(['running', 'completed']).describe('`completed` when each of its tasks has ended, or is deleted.'),
    versions: z.array(z.int().min(1)),
    cases: count,
    repeat: count,
    table: z
      .array(figuresSchema)
      .describe('A row for each version, the newest first. `checks` of tasks without any count nowhere.'),
    tasks: z.array(
      z.strictObject({
        case: count.describe('From 0, as they were given.'),
        version: z.int().min(1),
        attempt: z.int().min(1),
        taskId: idSchema.nullable().describe('Null when it has been deleted.'),
        status: z.enum(TASK_STATUSES).nullable(),
      }),
    ),
    createdBy: personSchema,
    createdAt: timestampSchema,
  }),
);

/** `{evaluation}` */
export const evaluationAnswer = named('EvaluationResponse', z.strictObject({ evaluation: evaluationSchema }));

const OVER = new Set<string | null>(['completed', 'failed', 'cancelled', null]);

/** An evaluation as clients see it (reference §27.5). */
export function evaluationView(row: EvaluationRow, table: Figures[]): z.output<typeof evaluationSchema> {
  const { id, agent, versions, cases, repeat, createdById, createdByName, createdAt, tasks } = row;
  return {
    ...{ id, agent, versions, cases, repeat },
    status: tasks.every(({ status }) => OVER.has(status)) ? 'completed' : 'running',
    table: table.map(figuresView),
    tasks: tasks.map(({ caseNo, status, ...task }) => ({
      case: caseNo,
      ...task,
      status: status as z.output<typeof evaluationSchema>['tasks'][number]['status'],
    })),
    createdBy: { id: createdById, name: createdByName },
    createdAt: createdAt.toISOString(),
  };
}
