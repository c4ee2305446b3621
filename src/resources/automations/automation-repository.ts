// The repository of an automation: as a client gives it, as it is stored, and as each task gets it (reference §12, docs/decisions/0084). Pure.
import type { WantedPullRequest } from '../../engine/repositories/push-record.js';
import { ApiError } from '../../platform/http/api-error.js';
import { isBranch, REF_RULE, type RepositoryDto } from '../tasks/repository.dto.js';

/** What the tasks of an automation work on, and where their changes go. */
export interface AutomationRepository {
  /** As given, as all of it. */
  url: string;
  /** Null for the default branch. */
  ref: string | null;
  /** The branch may have placeholders. */
  push: { branch: string; pullRequest: WantedPullRequest | null } | null;
}

/** What the placeholders of a branch stand for in one run. */
export interface Occasion {
  taskId: string;
  now: Date;
}

export function asStored({ url, ref, push }: RepositoryDto): AutomationRepository {
  if (push === undefined) return { url, ref: ref ?? null, push: null };
  const { branch, pullRequest } = push;
  const { title = null, base = null, draft = false } = pullRequest ?? {};
  return {
    url,
    ref: ref ?? null,
    push: { branch, pullRequest: pullRequest === undefined ? null : { title, base, draft } },
  };
}

/** What one task gets. Throws 400 `invalid_field` for a branch that has an unknown placeholder, or that is none when they are filled in. */
export function forTask({ url, ref, push }: AutomationRepository, occasion: Occasion): RepositoryDto {
  const repository = { url, ...(ref === null ? {} : { ref }) };
  if (push === null) return repository;
  const branch = branchOf(push.branch, occasion);
  if (push.pullRequest === null) return { ...repository, push: { branch } };
  const { title, base, draft } = push.pullRequest;
  const pullRequest = { ...(title === null ? {} : { title }), ...(base === null ? {} : { base }), draft };
  return { ...repository, push: { branch, pullRequest } };
}

function branchOf(template: string, { taskId, now }: Occasion): string {
  const values = new Map([
    ['{taskId}', taskId],
    ['{date}', now.toISOString().slice(0, 10)],
  ]);
  const branch = template.replace(/\{[^{}]*\}|[{}]/g, (found) => {
    const value = values.get(found);
    if (value === undefined)
      throw refusal(`has ${found}, which is no placeholder: ${[...values.keys()].join(' and ')} are`);
    return value;
  });
  if (!isBranch(branch))
    throw refusal(`is the name of a branch no more when its placeholders are filled in: ${REF_RULE}`);
  return branch;
}

function refusal(what: string): ApiError {
  return new ApiError('invalid_field', `${BRANCH} ${what}.`, { param: BRANCH });
}

const BRANCH = 'repository.push.branch';
