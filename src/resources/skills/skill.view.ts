import { z } from 'zod';
import { idSchema, named, personSchema, timestampSchema } from '../../platform/http/schema.js';
import type { SkillRow, VersionRow } from './skills.sql.js';

const version = z.int().min(1);

const versionShape = {
  description: z.string().describe('As its `SKILL.md` has it, in one line.'),
  files: z.int().min(1).describe('How many it has.'),
  bytes: z.int().min(0).describe('The sum of the sizes of its files.'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('Of its zip, as it was uploaded.'),
};

export const skillSchema = named(
  'Skill',
  z.strictObject({
    id: idSchema,
    name: z.string().describe('As its `SKILL.md` has it; by it tasks name the skill.'),
    version: version.describe('The newest one, of which the next four tell.'),
    ...versionShape,
    default: z.boolean().describe('Whether tasks have it that name no skills.'),
    createdBy: personSchema,
    createdAt: timestampSchema,
    updatedAt: timestampSchema,
  }),
  { description: 'Know-how of a workspace: a folder with a `SKILL.md` that says what it is for.' },
);

export const skillVersionSchema = named(
  'SkillVersion',
  z.strictObject({ version, ...versionShape, createdBy: personSchema, createdAt: timestampSchema }),
  { description: 'What a skill was. It never changes.' },
);

/** `{skill}` */
export const skillAnswer = named('SkillResponse', z.strictObject({ skill: skillSchema }));

/** The skills of a task, as its record has them. */
export const taskSkillsSchema = z
  .array(z.strictObject({ name: z.string(), version }))
  .describe(
    'The skills that it has, each in the version that it was made with. One that was deleted since is not laid in any more. Those of its repository and project come to these.',
  );

/** A skill as clients see it (reference §27). */
export function skillView(row: SkillRow): z.output<typeof skillSchema> {
  const { id, name, version, description, files, bytes, sha256, createdById, createdByName } = row;
  return {
    ...{ id, name, version, description, files, bytes, sha256 },
    default: row.default,
    createdBy: { id: createdById, name: createdByName },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** A version as clients see it (reference §27). */
export function skillVersionView(row: VersionRow): z.output<typeof skillVersionSchema> {
  const { version, description, files, bytes, sha256, createdById, createdByName, createdAt } = row;
  const createdBy = { id: createdById, name: createdByName };
  return { ...{ version, description, files, bytes, sha256 }, createdBy, createdAt: createdAt.toISOString() };
}
