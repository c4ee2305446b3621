import { z } from 'zod';
import { idSchema, named, personSchema, timestampSchema } from '../../platform/http/schema.js';
import { defaultChecksSchema, defaultRepairsSchema } from '../tasks/checks/defaults.view.js';
import { type Definition, ON_FAILURE } from './definition.js';
import { BUILD_STATES } from './environment.entity.js';
import type { BuildRow, EnvironmentRow, VersionRow } from './environments.sql.js';

const limit = z.int().min(1).nullable().describe('Null: as the operator has it.');
const version = z.int().min(1);

const definitionShape = {
  repository: z
    .strictObject({ url: z.string(), ref: z.string().nullable().describe('Null for the default branch.') })
    .nullable()
    .describe('Cloned before `setup`.'),
  setup: z.array(z.string()).describe('Commands of bash that make a build, in their order.'),
  variables: z.record(z.string(), z.string()),
  allowHosts: z.array(z.string()).describe('The hosts that commands reach, as far as the operator allows them.'),
  secrets: z.array(z.string()).describe('Names of the secrets that its tasks have, those of them that there are.'),
  tools: z.record(z.string(), z.string()).describe('By name the version.'),
  resources: z.strictObject({ memoryBytes: limit, diskBytes: limit, wallClockSeconds: limit }),
  refresh: z
    .union([z.enum(['never', 'daily']), z.strictObject({ onLockfile: z.array(z.string()) })])
    .describe('When a build is made anew although the version is the same.'),
  onFailure: z.enum(ON_FAILURE).describe('What a task does when the build fails.'),
  checks: defaultChecksSchema,
  maxRepairs: defaultRepairsSchema,
  mcpServers: z
    .array(z.string())
    .nullable()
    .describe('Servers whose tools tasks have that get none from elsewhere; null: it says nothing of them.'),
};

export const environmentSchema = named(
  'Environment',
  z.strictObject({
    id: idSchema,
    slug: z.string().describe('By which tasks name it.'),
    name: z.string(),
    version: version.describe('The newest one, whose definition this is.'),
    ...definitionShape,
    createdBy: personSchema,
    createdAt: timestampSchema,
    updatedAt: timestampSchema,
  }),
);

export const versionSchema = named(
  'EnvironmentVersion',
  z.strictObject({ version, ...definitionShape, createdBy: personSchema, createdAt: timestampSchema }),
  { description: 'What an environment was. It never changes.' },
);

export const buildSchema = named(
  'EnvironmentBuild',
  z.strictObject({
    id: idSchema,
    version,
    key: z
      .string()
      .describe(
        'What it was made from besides the version: a commit, a hash of lockfiles or a day; empty for nothing.',
      ),
    driver: z.string().describe('Of the sandbox.'),
    state: z.enum(BUILD_STATES),
    files: z.int().min(0),
    bytes: z.int().min(0).describe('The sum of the sizes of its files.'),
    log: z.string().describe('The last 16 KiB of what its commands wrote.'),
    error: z.string().nullable().describe('Why it failed; else null.'),
    createdAt: timestampSchema,
    finishedAt: timestampSchema.nullable().describe('Null while it is made.'),
  }),
);

/** `{environment}` */
export const environmentAnswer = named('EnvironmentResponse', z.strictObject({ environment: environmentSchema }));
/** `{version}` */
export const versionAnswer = named('EnvironmentVersionResponse', z.strictObject({ version: versionSchema }));

function definitionView({ resources, ...definition }: Definition) {
  const { checks = null, maxRepairs = null, mcpServers = null } = definition;
  const { memoryBytes = null, diskBytes = null, wallClockSeconds = null } = resources;
  return { ...definition, checks, maxRepairs, mcpServers, resources: { memoryBytes, diskBytes, wallClockSeconds } };
}

/** An environment as clients see it (reference §25). */
export function environmentView(row: EnvironmentRow): z.output<typeof environmentSchema> {
  const { id, slug, name, version, definition, createdById, createdByName } = row;
  return {
    ...{ id, slug, name, version },
    ...definitionView(definition),
    createdBy: { id: createdById, name: createdByName },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** A version as clients see it (reference §25). */
export function versionView(row: VersionRow): z.output<typeof versionSchema> {
  const { version, definition, createdById, createdByName, createdAt } = row;
  const createdBy = { id: createdById, name: createdByName };
  return { version, ...definitionView(definition), createdBy, createdAt: createdAt.toISOString() };
}

/** A build as clients see it (reference §25). */
export function buildView(row: BuildRow): z.output<typeof buildSchema> {
  const { createdAt, finishedAt, ...shown } = row;
  return { ...shown, createdAt: createdAt.toISOString(), finishedAt: finishedAt?.toISOString() ?? null };
}
