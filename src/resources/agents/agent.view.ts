import { z } from 'zod';
import { APPROVALS } from '../../engine/agent/agent-engine.js';
import { effortSchema } from '../../engine/models/model.view.js';
import { idSchema, named, personSchema, timestampSchema } from '../../platform/http/schema.js';
import { storedRepositorySchema } from '../automations/automation.view.js';
import { budgetSchema, budgetView } from '../tasks/budget.view.js';
import { defaultChecksSchema, defaultRepairsSchema } from '../tasks/checks/defaults.view.js';
import type { AgentDefinition } from './definition.js';
import type { AgentRow, VersionRow } from './agents.sql.js';

const version = z.int().min(1);

const definitionShape = {
  instructions: z
    .string()
    .describe('What its tasks are told before all else: the word of who made it. Empty: nothing.'),
  model: z.string().nullable().describe('Of tasks that name none themselves; null: the default at that time.'),
  effort: effortSchema.nullable(),
  approvals: z.enum(APPROVALS),
  budget: budgetSchema.nullable().describe('What one turn may use.'),
  repository: storedRepositorySchema.nullable().describe('What its tasks work on, as given; null for nothing.'),
  tools: z.strictObject({ deny: z.array(z.string()).describe('Names of tools that its tasks do not have.') }),
  skills: z.array(z.string()).nullable().describe('Skills of its tasks, as given; null: those that are so by default.'),
  mcpServers: z
    .array(z.string())
    .nullable()
    .describe('Servers whose tools its tasks have; null: those of the environment, else those that are so by default.'),
  web: z.boolean().nullable().describe('`false`: its tasks read no pages of the web. Null: it says nothing of that.'),
  checks: defaultChecksSchema,
  maxRepairs: defaultRepairsSchema,
  environment: z
    .strictObject({
      slug: z.string(),
      version: version.nullable().describe('Null: the newest one at the time when a task is made.'),
    })
    .nullable()
    .describe('What its tasks work in, as given; null: that of their project.'),
  outputSchema: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('The JSON Schema that answers of its tasks have to fit; null when they may be any text.'),
  tags: z.array(z.string()).describe('Of tasks that have none themselves.'),
  metadata: z.record(z.string(), z.string()).describe('Of tasks that have none themselves.'),
};

export const agentSchema = named(
  'Agent',
  z.strictObject({
    id: idSchema,
    slug: z.string().describe('By which tasks name it.'),
    name: z.string(),
    description: z.string(),
    version: version.describe('The newest one, whose definition this is.'),
    default: z.boolean().describe('Whether it is the agent of the tasks of its workspace that name none.'),
    channels: z.record(z.string(), version).describe('Names that stand for versions: `{"stable": 3}`.'),
    ...definitionShape,
    archived: z.boolean().describe('It takes no new task.'),
    createdBy: personSchema,
    createdAt: timestampSchema,
    updatedAt: timestampSchema,
  }),
);

export const versionSchema = named(
  'AgentVersion',
  z.strictObject({ version, ...definitionShape, createdBy: personSchema, createdAt: timestampSchema }),
  { description: 'What an agent was. It never changes.' },
);

/** `{agent}` */
export const agentAnswer = named('AgentResponse', z.strictObject({ agent: agentSchema }));
/** `{version}` */
export const versionAnswer = named('AgentVersionResponse', z.strictObject({ version: versionSchema }));

function definitionView({ budget, mcpServers = null, ...definition }: AgentDefinition) {
  return { ...definition, mcpServers, budget: budget === null ? null : budgetView(budget) };
}

/** An agent as clients see it (reference §27.5). */
export function agentView(row: AgentRow): z.output<typeof agentSchema> {
  const { id, slug, name, description, channels, archived, definition, createdById, createdByName } = row;
  return {
    ...{ id, slug, name, description, version: row.version, default: row.default, channels },
    ...definitionView(definition),
    archived,
    createdBy: { id: createdById, name: createdByName },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** A version as clients see it (reference §27.5). */
export function versionView(row: VersionRow): z.output<typeof versionSchema> {
  const { version, definition, createdById, createdByName, createdAt } = row;
  const createdBy = { id: createdById, name: createdByName };
  return { version, ...definitionView(definition), createdBy, createdAt: createdAt.toISOString() };
}
