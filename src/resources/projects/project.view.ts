import { z } from 'zod';
import { idSchema, named, personSchema, timestampSchema } from '../../platform/http/schema.js';
import { defaultChecksSchema, defaultRepairsSchema } from '../tasks/checks/defaults.view.js';
import { VISIBILITIES } from './project.entity.js';
import type { ProjectRow } from './projects.sql.js';

export const projectSchema = named(
  'Project',
  z.strictObject({
    id: idSchema,
    name: z.string(),
    description: z.string().nullable(),
    visibility: z.enum(VISIBILITIES),
    environment: z.string().nullable().describe('The slug of the one that its tasks work in when they name none.'),
    checks: defaultChecksSchema,
    maxRepairs: defaultRepairsSchema,
    tags: z.array(z.string()).describe("The clients' own words."),
    owner: personSchema,
    createdAt: timestampSchema,
    updatedAt: timestampSchema,
  }),
);

export const projectAnswer = named('ProjectResponse', z.strictObject({ project: projectSchema }));

/** A project as clients see it (reference §4). */
export function projectView(row: ProjectRow): z.output<typeof projectSchema> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    visibility: row.visibility,
    environment: row.environment,
    checks: row.checks,
    maxRepairs: row.maxRepairs,
    tags: row.tags,
    owner: { id: row.ownerId, name: row.ownerName },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
