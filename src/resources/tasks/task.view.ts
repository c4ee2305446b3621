import { z } from 'zod';
import type { Transparency } from '../../platform/config/config-file.js';
import { APPROVALS, WHEN_BLOCKED } from '../../engine/agent/agent-engine.js';
import { PULL_REQUEST_STATES } from '../../engine/repositories/hosting/host-client.js';
import type { PushRecord } from '../../engine/repositories/push-record.js';
import { idSchema, named, personSchema, timestampSchema, timestampView } from '../../platform/http/schema.js';
import { effortSchema } from '../../engine/models/model.view.js';
import { taskSkillsSchema } from '../skills/skill.view.js';
import { budgetSchema, budgetView } from './budget.view.js';
import { checksSchema, checksView } from './checks/checks.view.js';
import type { InteractionRow, TaskRow } from './task.sql.js';
import { NOTHING_USED, usageView } from './usage.view.js';
import { STATUS_REASON_CODES, TASK_STATUSES } from './task-status.js';

const count = z.int().min(0);

export const interactionSchema = named(
  'PendingInteraction',
  z.strictObject({
    id: idSchema,
    type: z.enum(['question', 'choice', 'approval']),
    question: z.string().describe('What the agent asks; for an `approval`, what the call would do.'),
    options: z
      .array(z.strictObject({ id: z.string(), label: z.string(), description: z.string().nullable() }))
      .nullable()
      .describe('What a `choice` chooses from; else null.'),
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

export const usageSchema = named(
  'TaskUsage',
  z.strictObject({
    inputTokens: count.describe('Tokens that the model read, cached ones included.'),
    outputTokens: count.describe('Tokens that the model wrote, reasoning included.'),
    cachedInputTokens: count.describe('Those of the input that the provider had kept.'),
    reasoningTokens: count.describe('Those of the output that are reasoning.'),
    steps: count.describe('Calls of the model.'),
    toolCalls: count.describe('Calls of tools that the model made.'),
    durationMs: count.describe('Running time only.'),
    cost: z
      .strictObject({
        amount: z.string().describe('A decimal number with two to six decimals.'),
        currency: z.literal('USD'),
      })
      .nullable()
      .describe('Null until a model with prices has answered.'),
  }),
  { description: 'Adds up over all turns.' },
);

export const statusReasonSchema = named(
  'StatusReason',
  z.strictObject({
    code: z
      .union([z.enum(STATUS_REASON_CODES), z.string()])
      .describe('For programs. The list is open: take a code that is not in it as one that you do not know.'),
    message: z.string().describe('For people.'),
    retryable: z.boolean().describe('Whether a new message may bring the task further without any other change.'),
  }),
);

export const sourceSchema = z.strictObject({
  type: z.enum(['api', 'automation', 'task']).describe('`task`: the agent of another task, its parent.'),
  automationId: idSchema.nullable().describe('The automation that made it, which may be deleted since; else null.'),
  automationRunId: idSchema.nullable().describe('The run of that automation.'),
});

const resultSchema = z.strictObject({
  text: z
    .string()
    .nullable()
    .describe('The text of the last answer; null where the transparency policy does not show text.'),
  fileIds: z.array(idSchema).describe('The files that the turn published.'),
  output: z
    .unknown()
    .describe(
      'The JSON value of the last answer, which fits the `outputSchema`; null without one, and where the transparency policy does not show text.',
    ),
});

export const taskSchema = named(
  'Task',
  z.strictObject({
    id: idSchema,
    title: z.string().describe('As given, else made of the first message.'),
    status: z
      .enum(TASK_STATUSES)
      .describe('`completed`, `failed` and `cancelled` are final until a message sets the task going again.'),
    statusReason: statusReasonSchema
      .nullable()
      .describe(
        'Not null on `failed` and `cancelled`, on `queued` after a recovery, and while the task is paused or waits for what blocks it.',
      ),
    resumesAt: timestampSchema
      .nullable()
      .describe('When a task that is paused or blocked goes on by itself; null: not before it is resumed.'),
    waitingFor: z
      .strictObject({
        code: z.enum(['place', 'name', 'clone', 'model', 'push']),
        message: z.string().describe('For people.'),
        since: timestampSchema,
      })
      .nullable()
      .describe(
        'What keeps the task from going on, once that lasts longer than two seconds: a place of a worker, the look-up of a name, a clone, a model that has not begun to answer, a push. Else null.',
      ),
    projectId: idSchema.nullable().describe('The project that the task belongs to; null without one.'),
    pendingInteraction: interactionSchema.nullable().describe('Not null exactly while the status is `awaiting_input`.'),
    model: z.string().describe('An id of `GET /v1/models`.'),
    effort: effortSchema.nullable().describe('How much the model thinks; null when the model takes none.'),
    approvals: z.enum(APPROVALS).describe('What a person approves first: commands and file changes, or secrets.'),
    whenBlocked: z.enum(WHEN_BLOCKED).describe('Whether it waits for what blocks it and passes by itself, or fails.'),
    web: z.boolean().describe('Whether its agent may read pages of the web, where the operator lets agents.'),
    skills: taskSkillsSchema,
    mcpServers: z.array(z.string()).describe('The names of the servers whose tools its agent has.'),
    budget: budgetSchema.nullable(),
    source: sourceSchema.describe('What created the task.'),
    parentTaskId: idSchema.nullable().describe('The task whose agent has made it; null of all others.'),
    forkedFrom: z
      .strictObject({ taskId: idSchema, turn: z.int().min(1).describe('The last turn that it has of that task.') })
      .nullable()
      .describe('The task that it is a fork of, which may be deleted since; else null.'),
    result: resultSchema.nullable().describe('Not null exactly while the status is `completed`.'),
    outputSchema: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The JSON Schema that the last answer of each turn has to fit; null when it may be any text.'),
    usage: usageSchema,
    children: z
      .strictObject({ tasks: count, usage: usageSchema })
      .describe(
        'The tasks that its agent has made, and those that they have made: what they have used is not part of its own `usage`.',
      ),
    environment: z
      .strictObject({ slug: z.string(), version: z.int().min(1) })
      .nullable()
      .describe('The version of an environment that it works in; null without one, and when it has been deleted.'),
    agent: z
      .strictObject({ slug: z.string(), version: z.int().min(1) })
      .nullable()
      .describe('The version of an agent that it works as, for its life; null without one.'),
    checks: checksSchema,
    repository: z
      .strictObject({
        url: z.string(),
        ref: z.string().nullable().describe('As given: a branch, a tag or a commit; null for the default branch.'),
        commit: z.string().nullable().describe('The original commit; null until the repository is cloned.'),
        push: z
          .strictObject({
            branch: z.string(),
            url: z.string().nullable().describe('Where people look at the branch; null until it is pushed.'),
          })
          .nullable()
          .describe('The branch that completed turns push to; null when the task names none.'),
      })
      .nullable()
      .describe('What the task works on, in `repo/` of its workdir.'),
    changes: z
      .strictObject({
        files: count,
        additions: count,
        deletions: count,
        patchOmitted: z
          .boolean()
          .describe(
            'Whether there is no `changes.patch`, because it is too large or the workspace has no room for it.',
          ),
      })
      .nullable()
      .describe(
        'Between the repository and its original commit after the last turn, as in its `changes.patch`; null before, and when it is not known.',
      ),
    network: z
      .strictObject({
        hosts: z.array(z.string()).describe('What its commands may reach, as the operator has it.'),
        refused: z.array(z.string()).describe('Hosts that they were refused, 50 at most.'),
      })
      .nullable()
      .describe('The network of its commands; null until one of them had a network, so always where there is none.'),
    pullRequest: z
      .strictObject({
        url: z.string(),
        state: z
          .enum(PULL_REQUEST_STATES)
          .nullable()
          .describe('As its host last said, up to six hours ago; null until it has.'),
      })
      .nullable()
      .describe('The pull request of that branch; null until there is one.'),
    metadata: z.record(z.string(), z.string()).describe("The client's own pairs of text."),
    tags: z.array(z.string()).describe("The clients' own words, which lists can be filtered by."),
    archived: z.boolean().describe('Lists leave it out; a message or an answer brings it back.'),
    createdBy: personSchema.describe('The user or service account that the task belongs to.'),
    messageCount: count.describe('Messages on record, shown or not.'),
    createdAt: timestampSchema,
    updatedAt: timestampSchema,
    startedAt: timestampSchema.nullable().describe('The first start, also after later turns.'),
    finishedAt: timestampSchema.nullable().describe('When the status became final; else null.'),
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
    resumesAt: row.resumesAt === null ? null : timestampView(row.resumesAt),
    waitingFor: row.waitingFor === null ? null : { ...row.waitingFor, since: timestampView(row.waitingFor.since) },
    projectId: row.projectId,
    pendingInteraction: row.interaction === null ? null : interactionView(row.interaction, transparency),
    model: row.model,
    effort: row.effort,
    approvals: row.approvals,
    whenBlocked: row.whenBlocked,
    web: row.web,
    skills: row.skills.map(({ name, version }) => ({ name, version })),
    mcpServers: row.mcpServers,
    budget: row.budget === null ? null : budgetView(row.budget),
    source: {
      type: row.automationId !== null ? 'automation' : row.parentTaskId === null ? 'api' : 'task',
      automationId: row.automationId,
      automationRunId: row.automationRunId,
    },
    parentTaskId: row.parentTaskId,
    forkedFrom: row.forkedFrom === null ? null : { taskId: row.forkedFrom.taskId, turn: row.forkedFrom.turn },
    result: row.status === 'completed' ? resultView(row, transparency) : null,
    usage: usageView(row),
    children: { tasks: row.children?.tasks ?? 0, usage: usageView(row.children ?? NOTHING_USED) },
    outputSchema: row.outputSchema,
    environment: row.environment,
    agent: row.agent,
    checks: checksView(row),
    repository: repositoryView(row.repository),
    changes: row.changes === null ? null : { ...row.changes, patchOmitted: row.changes.patchOmitted ?? false },
    network: row.network === null ? null : { hosts: [...row.network.hosts], refused: [...row.network.refused] },
    pullRequest: pullRequestView(row.repository?.push),
    metadata: row.metadata,
    tags: row.tags,
    archived: row.archived,
    createdBy: { id: row.createdById, name: row.createdByName },
    messageCount: row.messageCount,
    createdAt: timestampView(row.createdAt),
    updatedAt: timestampView(row.updatedAt),
    startedAt: row.startedAt === null ? null : timestampView(row.startedAt),
    finishedAt: row.finishedAt === null ? null : timestampView(row.finishedAt),
  };
}

function repositoryView(repository: TaskRow['repository']): z.output<typeof taskSchema>['repository'] {
  if (repository === null) return null;
  const { url, ref, commit, push = null } = repository;
  return { url, ref, commit, push: push && { branch: push.branch, url: push.url } };
}

function pullRequestView(push: PushRecord | null | undefined): z.output<typeof taskSchema>['pullRequest'] {
  if (push == null || push.pullRequestUrl === null) return null;
  return { url: push.pullRequestUrl, state: push.pullRequestState ?? null };
}

function resultView({ resultText, resultFileIds, resultOutput }: TaskRow, { text }: Transparency) {
  return { text: text ? (resultText ?? '') : null, fileIds: resultFileIds ?? [], output: text ? resultOutput : null };
}

/** The call of an approval is tool activity; a question or choice is always shown, for a person must answer it. */
export function interactionView(row: InteractionRow, transparency: Transparency): z.output<typeof interactionSchema> {
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
