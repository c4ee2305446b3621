import { z } from 'zod';
import { named, pageSchema, timestampSchema } from '../../platform/http/schema.js';

const partial = z
  .boolean()
  .describe('Whether there may be more: a host has failed or takes too long, or it has more than 1,000.');

export const repositorySchema = named(
  'ListedRepository',
  z.strictObject({
    url: z.string().describe('For `repository.url` of a task.'),
    name: z.string().describe('The path at its host: `acme/api`.'),
    private: z.boolean().nullable().describe('Null where the host does not say.'),
    defaultBranch: z.string().nullable().describe('Null without a commit, and where the host does not say.'),
    pushable: z
      .boolean()
      .describe(
        'Whether a task may push: branches are allowed for it, and the host does not say that the credential may not.',
      ),
    pushedAt: timestampSchema
      .nullable()
      .describe('The last push; on GitLab the last activity. Null where the host does not say.'),
  }),
);

export const branchSchema = named(
  'RepositoryBranch',
  z.strictObject({
    name: z.string(),
    commit: z.string().describe('The commit at its tip.'),
    default: z.boolean().describe('Whether it is the default branch, which is the first of the list.'),
  }),
);

export type RepositoryView = z.output<typeof repositorySchema>;
export type BranchView = z.output<typeof branchSchema>;

export const repositoryPage = pageSchema('repositories', repositorySchema).extend({ partial });
export const branchPage = pageSchema('branches', branchSchema).extend({ partial });
