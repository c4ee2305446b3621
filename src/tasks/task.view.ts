import type { TaskRow } from './task.row.js';

/** A task as clients see it (reference §4). */
export function taskView(row: TaskRow) {
  return {
    id: row.id,
    title: row.title,
    status: row.status,
    statusReason: row.statusReason,
    projectId: row.projectId,
    pendingInteraction: interactionView(row.interaction),
    model: row.model,
    effort: row.effort,
    approvals: 'none',
    budget: row.budget === null ? null : budgetView(row.budget),
    source: { type: 'api', automationId: null, automationRunId: null },
    result: row.status === 'completed' ? { text: row.resultText ?? '', fileIds: row.resultFileIds ?? [] } : null,
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
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
  };
}

export function taskPageView({ rows, nextCursor }: { rows: TaskRow[]; nextCursor: string | null }) {
  return { tasks: rows.map(taskView), nextCursor };
}

function budgetView(budget: NonNullable<TaskRow['budget']>) {
  const { maxSteps = null, maxTokens = null, maxDurationSeconds = null } = budget;
  return { maxSteps, maxTokens, maxDurationSeconds, maxCost: null };
}

function interactionView(row: TaskRow['interaction']) {
  if (row === null) return null;
  return {
    id: row.id,
    type: row.type,
    question: row.question,
    options: row.options,
    multiple: row.multiple,
    allowText: row.allowText,
    // Only an approval is about another tool's call.
    toolCall: null,
    createdAt: new Date(row.createdAt).toISOString(),
    expiresAt: new Date(row.expiresAt).toISOString(),
  };
}
