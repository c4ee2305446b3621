// Events as clients see them (reference §17).
import { z } from 'zod';
import { AUTOMATION_EVENTS, CHECK_EVENTS, MOVES, STATUS_EVENTS } from '../../platform/events/event-types.js';
import { idSchema, named, personSchema, timestampSchema, timestampView, widened } from '../../platform/http/schema.js';
import { fileSchema, fileView } from '../files/file.view.js';
import type { TaskEventView } from '../tasks/events/task-events.js';
import {
  messageSchema,
  messageView,
  type MessageViewContext,
  partSchema,
  resultViews,
} from '../tasks/messages/message.view.js';
import { COMMAND_STATUSES } from '../../engine/agent/commands/agent-command.js';
import { commandIdSchema } from '../tasks/commands/task-command.view.js';
import { CHECK_PHASES, CHECK_STATUSES } from '../../engine/checks/check.js';
import { TASK_STATUSES } from '../tasks/task-status.js';
import {
  interactionSchema,
  interactionView,
  sourceSchema,
  statusReasonSchema,
  usageSchema,
} from '../tasks/task.view.js';

/** The types that a task has. */
export const TASK_TYPES = [
  ...STATUS_EVENTS,
  'task.updated',
  'message.created',
  'message.completed',
  'message.withdrawn',
  'tool.completed',
  'file.published',
  'interaction.created',
  'interaction.settled',
  ...CHECK_EVENTS,
  'command.started',
  'command.ended',
] as const;

const metadata = z.record(z.string(), z.string());
const projectId = idSchema.nullable();
const tokens = z.int().min(0);
const callUsage = z
  .strictObject({ inputTokens: tokens, outputTokens: tokens, cachedInputTokens: tokens, reasoningTokens: tokens })
  .nullable()
  .describe("Of the model's call, with the first event of its message; else null.");

const ofTask = {
  id: z.string().describe('`<taskId>-<seq>`.'),
  seq: z.int().min(1),
  taskId: idSchema,
  createdAt: timestampSchema,
};

const ofCheck = { name: z.string(), phase: z.enum(CHECK_PHASES), round: z.int().min(0), projectId, metadata };

const event = <const T extends readonly [string, ...string[]], D extends z.ZodType>(id: string, types: T, data: D) =>
  named(id, z.strictObject({ ...ofTask, type: z.enum(types), data }));

const ofStatus = {
  status: z.enum(TASK_STATUSES),
  statusReason: statusReasonSchema.nullable(),
  projectId,
  source: sourceSchema,
  metadata,
  usage: usageSchema.nullable().describe('Null for a task that is older than its events.'),
  interactionId: idSchema.nullable(),
};
const parentTaskId = idSchema.nullable().describe('The task whose agent has made it; null of all others.');

const taskEvents = [
  event('TaskCreatedEvent', ['task.created'], z.strictObject({ ...ofStatus, parentTaskId })),
  event('TaskStatusEvent', MOVES, z.strictObject(ofStatus)),
  event('TaskUpdatedEvent', ['task.updated'], z.strictObject({ changed: z.array(z.string()), projectId, metadata })),
  event('MessageEvent', ['message.created', 'message.completed'], z.strictObject({ message: messageSchema, usage: callUsage })),
  event('MessageWithdrawnEvent', ['message.withdrawn'], z.strictObject({ messageId: idSchema, by: personSchema.nullable() })),
  event('ToolEvent', ['tool.completed'], z.strictObject({ messageId: idSchema, toolCallId: z.string(), parts: z.array(partSchema) })),
  event('FileEvent', ['file.published'], z.strictObject({ file: fileSchema })),
  event('InteractionCreatedEvent', ['interaction.created'], z.strictObject({ interaction: interactionSchema })),
  event(
    'InteractionSettledEvent',
    ['interaction.settled'],
    z.strictObject({
      interactionId: idSchema,
      outcome: z.enum(['answered', 'approved', 'denied', 'expired', 'cancelled']),
      by: personSchema.nullable(),
    }),
  ),
  event('CheckStartedEvent', ['check.started'], z.strictObject(ofCheck)),
  event(
    'CheckCompletedEvent',
    ['check.completed'],
    z.strictObject({
      ...ofCheck,
      checkId: idSchema,
      required: z.boolean(),
      status: z.enum(CHECK_STATUSES),
      exitCode: z.int().nullable(),
      durationMs: z.int().min(0),
    }),
  ),
  event('CommandStartedEvent', ['command.started'], z.strictObject({ commandId: commandIdSchema, toolCallId: z.string() })),
  event(
    'CommandEndedEvent',
    ['command.ended'],
    z.strictObject({ commandId: commandIdSchema, status: z.enum(COMMAND_STATUSES), exitCode: z.int().nullable() }),
  ),
] as const; // prettier-ignore

const workspaceEvents = [
  taskEvents[0],
  taskEvents[1],
  taskEvents[2],
  taskEvents[9],
  taskEvents[10],
  event('TaskDeletedEvent', ['task.deleted'], z.strictObject({ projectId, source: sourceSchema })),
  named(
    'AutomationEvent',
    z.strictObject({
      id: idSchema,
      type: z.enum(AUTOMATION_EVENTS),
      seq: z.null(),
      taskId: idSchema.nullable(),
      createdAt: timestampSchema,
      data: z.strictObject({
        automationId: idSchema,
        runId: idSchema.nullable(),
        taskId: idSchema.nullable(),
        reason: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
      }),
    }),
  ),
] as const;

/** In the document where an extension has such events. */
named(
  'ExtensionEvent',
  z.strictObject({
    id: idSchema,
    type: widened(z.string(), (schema, { describedEvents }) => {
      schema['enum'] = describedEvents.map(({ type }) => type);
      schema['description'] = describedEvents.map(({ type, description }) => `\`${type}\`: ${description}`).join(' ');
    }),
    seq: z.null(),
    taskId: idSchema.nullable(),
    createdAt: timestampSchema,
    data: z.record(z.string(), z.unknown()).describe('What the extension says.'),
  }),
);

const ABOUT = { description: 'Told apart by `type`. New types and fields may be added: ignore what you do not know.' };
export const taskEventSchema = named('TaskEvent', z.union(taskEvents), ABOUT);
export const workspaceEventSchema = widened(
  named('WorkspaceEvent', z.union(workspaceEvents), ABOUT),
  (schema, { describedEvents }) => {
    if (describedEvents.length > 0) (schema['anyOf'] as object[]).push({ $ref: '#/components/schemas/ExtensionEvent' });
  },
);

/** `{events, position, caughtUp}` */
export const eventsAnswer = <T extends z.ZodType>(id: string, one: T) =>
  named(
    id,
    z.strictObject({
      events: z.array(one),
      position: z.string().describe('The next `after`.'),
      caughtUp: z.boolean().describe('Whether nothing more was there.'),
    }),
  );

/** An event of a task under a policy; null when it shows nothing. */
export function eventView(news: TaskEventView, context: MessageViewContext): z.output<typeof taskEventSchema> | null {
  const { id, type, seq, taskId, createdAt } = news;
  const data = dataOf(news, context);
  return data === null ? null : ({ id, type, seq, taskId, createdAt, data } as z.output<typeof taskEventSchema>);
}

function dataOf(news: TaskEventView, context: MessageViewContext): object | null {
  if ('message' in news) {
    if (news.message === null) return null;
    const message = messageView(news.message, context);
    return message.parts.length === 0 ? null : { message, usage: news.usage };
  }
  if (news.type === 'message.withdrawn') return { messageId: news.messageId, by: news.by };
  if ('call' in news) {
    const { messageId, call, parts: added } = news;
    const parts = resultViews(call, added, context);
    return parts.length === 0 ? null : { messageId, toolCallId: call.toolCallId, parts };
  }
  if ('file' in news) {
    const { file } = news;
    return { file: fileView({ ...file, createdAt: new Date(file.createdAt) }, context.origin) };
  }
  if ('interaction' in news) return { interaction: interactionView(news.interaction, context.transparency) };
  if ('outcome' in news) {
    const { interactionId, outcome, by } = news;
    return { interactionId, outcome, by };
  }
  return news.type.startsWith('command.') && !context.transparency.tool_activity ? null : withParent(news);
}

/** What an event says. The beginnings of tasks that are older than tasks of tasks do not say who made them: nobody's agent did. */
const withParent = ({ type, data }: { type: string; data: object }): object =>
  type === 'task.created' ? { parentTaskId: null, ...data } : data;

/** What `/v1/events` has of an event. */
export interface WorkspaceNews {
  id: string;
  type: string;
  seq: number | null;
  taskId: string | null;
  createdAt: string;
  data: Record<string, unknown>;
}

/** An event of the log of a workspace. */
export function workspaceEventView(news: WorkspaceNews): z.output<typeof workspaceEventSchema> {
  const { id, type, seq, taskId, createdAt, data } = news;
  const { createdBy: _inside, ...shown } = data;
  return {
    id,
    type,
    seq,
    taskId,
    createdAt: timestampView(createdAt),
    data: withParent({ type, data: shown }),
  } as z.output<typeof workspaceEventSchema>;
}
