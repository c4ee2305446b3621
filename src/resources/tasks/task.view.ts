import { z } from 'zod';
import type { Transparency } from '../../platform/config/config-file.js';
import { APPROVALS } from '../../engine/agent/agent-engine.js';
import { idSchema, named, personSchema, timestampSchema, timestampView } from '../../platform/http/schema.js';
import { effortSchema } from '../../engine/models/model.view.js';
import type { TaskRow } from './task.sql.js';
import { TASK_STATUSES } from './task-status.js';

const count = z.int().min(0);

export const interactionSchema = named(
  'PendingInteraction',
  z.strictObject({
    id: idSchema,
    type: z.enum(['question', 'choice', 'approval']),
    question: z.string(),
    options: z
      .array(z.strictObject({ id: z.string(), label: z.string(), description: z.string().nullable() }))
      .nullable(),
    multiple: z.boolean().describe('Whether more than one option may be chosen.'),
    allowText: z.boolean().describe('Whether a choice may be answered with text instead.'),
    toolCall: z
      .strictObject({
        toolCallId: z.string(),
        name: z.string(),
        input: z.unknown().describe('Any JSON value; null where the transparency policy does not show calls.'),
      })
      .nullable()
      .describe('The call that an `approval` is about; else null.'),
    createdAt: timestampSchema,
    expiresAt: timestampSchema,
  }),
);

const budgetSchema = named(
  'TaskBudget',
  z.strictObject({
    maxSteps: count.nullable(),
    maxTokens: count.nullable(),
    maxDurationSeconds: count.nullable(),
    maxCost: z.string().nullable().describe('USD, a decimal number.'),
  }),
  { description: 'What one turn may use.' },
);

const usageSchema = named(
  'TaskUsage',
  z.strictObject({
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: count,
    reasoningTokens: count,
    steps: count,
    toolCalls: count,
    durationMs: count.describe('Running time only.'),
    cost: z.strictObject({ amount: z.string(), currency: z.literal('USD') }).nullable(),
  }),
  { description: 'Adds up over all turns.' },
);

export const taskSchema = named(
  'Task',
  z.strictObject({
    id: idSchema,
    title: z.string(),
    status: z.enum(TASK_STATUSES),
    statusReason: z.strictObject({ code: z.string(), message: z.string(), retryable: z.boolean() }).nullable(),
    projectId: idSchema.nullable(),
    pendingInteraction: interactionSchema.nullable().describe('Not null exactly while the status is `awaiting_input`.'),
    model: z.string(),
    effort: effortSchema.nullable(),
    approvals: z.enum(APPROVALS),
    budget: budgetSchema.nullable(),
    source: z.strictObject({
      type: z.enum(['api', 'automation']),
      automationId: idSchema.nullable(),
      automationRunId: idSchema.nullable(),
    }),
    result: z
      .strictObject({
        text: z.string().nullable().describe('Null where the transparency policy does not show text.'),
        fileIds: z.array(idSchema),
      })
      .nullable(),
    usage: usageSchema,
    repository: z.strictObject({ url: z.string(), ref: z.string().nullable() }).nullable(),
    changes: z.strictObject({ files: count, additions: count, deletions: count }).nullable(),
    metadata: z.record(z.string(), z.string()),
    createdBy: personSchema,
    messageCount: count,
    createdAt: timestampSchema,
    updatedAt: timestampSchema,
    startedAt: timestampSchema.nullable(),
    finishedAt: timestampSchema.nullable(),
  }),
);

/** `{task}` */
export const taskAnswer = named('TaskResponse', z.strictObject({ task: taskSchema }));

/** A task as clients see it under the transparency policy (reference §4, §6). */
export function taskView(row: TaskRow, transparency: Transparency): z.output<typeof taskSchema> {
  return {
    id: row.id,
    title: row.title,
    status: row.status,
    statusReason: row.statusReason,
    projectId: row.projectId,
    pendingInteraction: interactionView(row.interaction, transparency),
    model: row.model,
    effort: row.effort,
    approvals: row.approvals,
    budget: row.budget === null ? null : budgetView(row.budget),
    source: { type: 'api', automationId: null, automationRunId: null },
    result: row.status === 'completed' ? resultView(row, transparency) : null,
    usage: {
      inputTokens: row.inputTokens,
      outputTokens: row.outputTokens,
      cachedInputTokens: row.cachedInputTokens,
      reasoningTokens: row.reasoningTokens,
      steps: row.steps,
      toolCalls: row.toolCalls,
      durationMs: row.durationMs,
      cost: null,
    },
    repository: null,
    changes: null,
    metadata: row.metadata,
    createdBy: { id: row.createdById, name: row.createdByName },
    messageCount: row.messageCount,
    createdAt: timestampView(row.createdAt),
    updatedAt: timestampView(row.updatedAt),
    startedAt: row.startedAt === null ? null : timestampView(row.startedAt),
    finishedAt: row.finishedAt === null ? null : timestampView(row.finishedAt),
  };
}

function resultView({ resultText, resultFileIds }: TaskRow, { text }: Transparency) {
  return { text: text ? (resultText ?? '') : null, fileIds: resultFileIds ?? [] };
}

function budgetView(budget: NonNullable<TaskRow['budget']>): z.output<typeof budgetSchema> {
  const { maxSteps = null, maxTokens = null, maxDurationSeconds = null } = budget;
  return { maxSteps, maxTokens, maxDurationSeconds, maxCost: null };
}

/** The call of an approval is tool activity; a question or choice is always shown, for a person must answer it. */
function interactionView(
  row: TaskRow['interaction'],
  transparency: Transparency,
): z.output<typeof interactionSchema> | null {
  if (row === null) return null;
  const { question, toolCall } = row;
  const shown =
    toolCall === null || transparency.tool_activity
      ? { question, toolCall }
      : { question: `May the agent use the tool ${toolCall.name}?`, toolCall: { ...toolCall, input: null } };
  return {
    id: row.id,
    type: row.type,
    options: row.options,
    multiple: row.multiple,
    allowText: row.allowText,
    ...shown,
    createdAt: timestampView(row.createdAt),
    expiresAt: timestampView(row.expiresAt),
  };
}
