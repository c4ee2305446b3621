import { z } from 'zod';
import { APPROVALS, WHEN_BLOCKED } from '../../engine/agent/agent-engine.js';
import { effortSchema } from '../../engine/models/model.view.js';
import { idSchema, named, personSchema, timestampSchema } from '../../platform/http/schema.js';
import { defaultChecksSchema, defaultRepairsSchema } from '../tasks/checks/defaults.view.js';
import { budgetSchema, budgetView } from '../tasks/budget.view.js';
import { AUTOMATION_RUN_STATUSES, TRIGGER_TYPES } from './automation-run.entity.js';
import { AUTOMATION_STATUSES, KINDS, OVERLAPS, PAUSED_CODES } from './automation.entity.js';
import type { AutomationRow, RunRow } from './automations.sql.js';

const reason = z.strictObject({
  code: z.string().describe('For programs.'),
  message: z.string().describe('For people.'),
});
const upcoming = z.array(timestampSchema).max(5);

/** Of an automation, and of an agent. */
export const storedRepositorySchema = z.strictObject({
  url: z.string(),
  ref: z.string().nullable().describe('A branch, a tag or a commit; null for the default branch.'),
  push: z
    .strictObject({
      branch: z.string().describe('With `{taskId}` and `{date}`, which stand for those of each run.'),
      pullRequest: z
        .strictObject({
          title: z.string().nullable().describe('Null: the title of the task.'),
          base: z.string().nullable().describe('Null: the branch that was cloned, else the default branch.'),
          draft: z.boolean(),
        })
        .nullable()
        .describe('Null when none is opened.'),
    })
    .nullable()
    .describe('Where the changes of completed turns go; null when they are not pushed.'),
});

export const automationSchema = named(
  'Automation',
  z.strictObject({
    id: idSchema,
    name: z.string(),
    kind: z.enum(KINDS).describe('By the trigger: `cron`, `runAt` or `triggerEvent`.'),
    status: z.enum(AUTOMATION_STATUSES).describe('`completed`: its one time has passed.'),
    pausedReason: z
      .strictObject({ code: z.enum(PAUSED_CODES), message: z.string().describe('For people.') })
      .nullable()
      .describe('Not null exactly while the status is `paused`.'),
    content: z.string().describe('What each of its tasks is to do.'),
    projectId: idSchema.nullable(),
    model: z.string().nullable().describe('Null: the default at the time when it fires.'),
    effort: effortSchema.nullable(),
    approvals: z.enum(APPROVALS),
    whenBlocked: z.enum(WHEN_BLOCKED),
    web: z
      .boolean()
      .nullable()
      .describe('Whether agents of its tasks may read pages of the web; null: they may, but for tasks of events.'),
    skills: z
      .array(z.string())
      .nullable()
      .describe('Of its tasks, as given; null: those that are so by default when it fires.'),
    mcpServers: z
      .array(z.string())
      .nullable()
      .describe('Of its tasks, as given; null: those that a task has by default when it fires.'),
    budget: budgetSchema.nullable(),
    repository: storedRepositorySchema.nullable().describe('What its tasks work on, as given.'),
    environment: z
      .strictObject({
        slug: z.string(),
        version: z.int().min(1).nullable().describe('Null: the newest one at the time when it fires.'),
      })
      .nullable()
      .describe('What its tasks work in, as given; null: that of its project.'),
    agent: z
      .string()
      .nullable()
      .describe('How its tasks work, as given: `slug`, `slug@3` or `slug@stable`; null: the default of the workspace.'),
    secrets: z
      .array(z.string())
      .nullable()
      .describe(
        'Names of the secrets that its tasks have, as given. Null: those that a task of its owner has, and none where an event began it.',
      ),
    checks: defaultChecksSchema,
    maxRepairs: defaultRepairsSchema,
    cron: z.string().nullable(),
    timezone: z.string().nullable().describe('Not null exactly with `cron`.'),
    runAt: timestampSchema.nullable(),
    triggerEvent: z.string().nullable(),
    filter: z.string().nullable(),
    overlap: z.enum(OVERLAPS),
    nextRunAt: timestampSchema.nullable().describe('Null unless it is active and has a schedule.'),
    upcomingRunsAt: upcoming.describe('The next times, at most 5.'),
    lastRunAt: timestampSchema
      .nullable()
      .describe('When its last run was made; this and the next two are null before the first.'),
    lastRunStatus: z.enum(AUTOMATION_RUN_STATUSES).nullable(),
    lastTaskId: idSchema
      .nullable()
      .describe('The task of its last run; null when that made none, or when it is deleted.'),
    consecutiveFailures: z.int().min(0).describe('Failed tasks in a row; 10 pause it.'),
    owner: personSchema.describe('As whom its tasks are made.'),
    createdAt: timestampSchema,
    updatedAt: timestampSchema,
  }),
);

/** `{automation}` */
export const automationAnswer = named('AutomationResponse', z.strictObject({ automation: automationSchema }));

export const rehearsalAnswer = named(
  'AutomationRehearsal',
  z.strictObject({
    automation: automationSchema.extend({ id: z.null() }),
    upcomingRunsAt: upcoming,
    wouldRun: z.boolean().nullable().describe('Whether the sample payload would start a run; null without one.'),
  }),
);

export const runSchema = named(
  'AutomationRun',
  z.strictObject({
    id: idSchema,
    automationId: idSchema,
    trigger: z.strictObject({
      type: z.enum(TRIGGER_TYPES),
      scheduledAt: timestampSchema.nullable().describe('Of a schedule: when it was due.'),
      event: z.string().nullable().describe('Of an event: its name, such as `github.push`.'),
    }),
    status: z.enum(AUTOMATION_RUN_STATUSES),
    reason: reason.nullable().describe('Why it waits, was skipped or failed; null when it started.'),
    taskId: idSchema.nullable().describe('Null until it has started, and when the task is deleted.'),
    createdAt: timestampSchema,
  }),
);

/** `{run}` */
export const runAnswer = named('AutomationRunResponse', z.strictObject({ run: runSchema }));

/** An automation with the next times at which it fires. */
export type ShownAutomation = AutomationRow & { upcoming: Date[] };

const iso = (time: Date | null) => time?.toISOString() ?? null;

/** An automation as clients see it (reference §12). */
export function automationView(row: ShownAutomation): z.output<typeof automationSchema> {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    status: row.status,
    pausedReason: row.pausedReason,
    content: row.content,
    projectId: row.projectId,
    model: row.model,
    effort: row.effort,
    approvals: row.approvals,
    whenBlocked: row.whenBlocked,
    web: row.web,
    mcpServers: row.mcpServers,
    skills: row.skills,
    budget: row.budget === null ? null : budgetView(row.budget),
    repository: row.repository,
    environment: row.environment,
    agent: row.agent,
    checks: row.checks,
    maxRepairs: row.maxRepairs,
    secrets: row.secrets,
    cron: row.cron,
    timezone: row.timezone,
    runAt: iso(row.runAt),
    triggerEvent: row.triggerEvent,
    filter: row.filter,
    overlap: row.overlap,
    nextRunAt: iso(row.nextRunAt),
    upcomingRunsAt: row.upcoming.map((time) => time.toISOString()),
    lastRunAt: iso(row.lastRunAt),
    lastRunStatus: row.lastRunStatus,
    lastTaskId: row.lastTaskId,
    consecutiveFailures: row.consecutiveFailures,
    owner: { id: row.ownerId, name: row.ownerName },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** What a dry run answers: the automation as it would be. */
export function rehearsalView(row: ShownAutomation, wouldRun: boolean | null): z.output<typeof rehearsalAnswer> {
  const automation = automationView(row);
  return { automation: { ...automation, id: null }, upcomingRunsAt: automation.upcomingRunsAt, wouldRun };
}

/** A run as clients see it (reference §12). */
export function runView(row: RunRow): z.output<typeof runSchema> {
  return {
    id: row.id,
    automationId: row.automationId,
    trigger: { type: row.triggerType, scheduledAt: iso(row.scheduledAt), event: row.event },
    status: row.status,
    reason: row.reason,
    taskId: row.taskId,
    createdAt: row.createdAt.toISOString(),
  };
}
