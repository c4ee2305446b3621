// What a host of repositories answers is a stranger's text: each answer has a shape and limits, and what is not of it is an error.
import { z } from 'zod';

/** Rows of one page; both hosts give as many at most. */
export const PAGE = 100;

const line = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u);
const name = line(255);
const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString());
const commit = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/);
/** As hosts make them: letters, digits and `._-`, with no part that leads elsewhere. */
const path = line(512).regex(/^(?!\.{1,2}(\/|$))[\w.-]+(\/(?!\.{1,2}(\/|$))[\w.-]+)+$/);
const number = z.int().min(1);
const page = <T extends z.ZodType>(row: T) => z.array(row).max(PAGE);

const githubRepository = z.object({
  full_name: path,
  private: z.boolean(),
  archived: z.boolean().default(false),
  default_branch: name.nullish(),
  pushed_at: time.nullish(),
  permissions: z.object({ push: z.boolean() }).optional(),
});

export const github = {
  repository: githubRepository,
  repositories: page(githubRepository),
  installed: z.object({ repositories: page(githubRepository) }),
  found: z.object({ items: page(githubRepository) }),
  branch: z.object({ name, commit: z.object({ sha: commit }) }),
  branches: page(z.object({ name, commit: z.object({ sha: commit }) })),
  /** Not in pages. */
  refs: z
    .array(z.object({ ref: z.string().max(300).startsWith('refs/heads/'), object: z.object({ sha: commit }) }))
    .max(20_000),
  pull: z.object({
    number,
    state: z.enum(['open', 'closed']),
    draft: z.boolean().default(false),
    merged_at: time.nullish(),
  }),
};

const level = z.object({ access_level: z.int() }).nullish();
const gitlabProject = z.object({
  path_with_namespace: path,
  visibility: z.enum(['private', 'internal', 'public']),
  archived: z.boolean().default(false),
  default_branch: name.nullish(),
  last_activity_at: time.nullish(),
  permissions: z.object({ project_access: level, group_access: level }).optional(),
});

export const gitlab = {
  project: gitlabProject,
  projects: page(gitlabProject),
  branch: z.object({ name, commit: z.object({ id: commit }) }),
  branches: page(z.object({ name, commit: z.object({ id: commit }) })),
  request: z.object({
    iid: number,
    state: z.enum(['opened', 'closed', 'locked', 'merged']),
    draft: z.boolean().default(false),
  }),
};
