// What a form holds of a repository, and what is sent of it.
import type { CreateTask, RepositoryConnection } from '../../api/client.ts';
import { placeOf } from '../../api/repository-queries.ts';

export interface RepositoryDraft {
  url: string;
  /** Empty: the default branch. */
  ref: string;
  /** Whether changes are pushed. */
  push: boolean;
  /** Empty: the suggested one. */
  branch: string;
  /** What the suggestion is made of. */
  pattern: string;
  salt: string;
  /** Without a pull request. */
  alone: boolean;
  /** Empty: the task's title. */
  title: string;
  /** Empty: the branch that is cloned. */
  base: string;
  draft: boolean;
}

/** What the parts of a form that ask for it are given. */
export interface RepositoryPart {
  draft: RepositoryDraft;
  change: (values: Partial<RepositoryDraft>) => void;
  /** What is wrong with a field, by its name in the API. */
  said: (param: string) => string | null;
  /** What the task, or the automation, is called: for the name of a branch. */
  about: string;
  /** Each run of an automation takes it, with a branch of its own. */
  ofRuns: boolean;
}

export const NO_REPOSITORY: RepositoryDraft = {
  url: '',
  ref: '',
  push: false,
  branch: '',
  pattern: '',
  salt: '',
  alone: false,
  title: '',
  base: '',
  draft: false,
};

/** Whether it can be sent: the service says what is wrong with an address, not with a word. */
export const isAddress = (url: string): boolean => /^[a-z]+:\/\/\S+$/i.test(url.trim());

/** What stands for the values of a run in the name of a branch. */
export const PLACEHOLDERS = ['{taskId}', '{date}'] as const;
/** It makes the name of a branch the run's own. */
export const OWN = PLACEHOLDERS[0];

export const newSalt = (): string =>
  [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => (byte % 36).toString(36)).join('');

const USUAL = 'millwright/*';

/** The pattern that branches of a repository may have, as far as a member sees it. */
export function patternFor(url: string, connections: readonly RepositoryConnection[]): string {
  const place = placeOf(url);
  const begins = (pattern: string) => place?.path.startsWith(pattern.split('*')[0] ?? '') === true;
  // The service takes the oldest.
  const found = connections.findLast(({ host, paths }) => host === place?.host && paths.some(begins));
  return found?.push[0] ?? USUAL;
}

/** A branch that the pattern allows: `millwright/mend-the-sum-k3f9`. `about`: what the task is called. */
export function suggested({ pattern, salt }: RepositoryDraft, about: string): string {
  const words = about
    .normalize('NFKD')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const slug = [...(words ?? ['task'])].join('-').slice(0, 40).replace(/-$/, '');
  const given = /^\*+$/.test(pattern) || pattern === '' ? USUAL : pattern;
  return given.replace(/\*+/, `${slug}-${salt}`).replaceAll('*', '');
}

/** As a task is created with it; nothing without an address. */
export function repositoryOf(draft: RepositoryDraft, about: string): CreateTask['repository'] {
  const { url, ref, push, branch, alone, title, base, draft: isDraft } = draft;
  if (url.trim() === '') return undefined;
  const pullRequest = {
    ...(title.trim() !== '' && { title: title.trim() }),
    ...(base.trim() !== '' && { base: base.trim() }),
    ...(isDraft && { draft: true }),
  };
  return {
    url: url.trim(),
    ...(ref.trim() !== '' && { ref: ref.trim() }),
    ...(push && { push: { branch: branch.trim() || suggested(draft, about), ...(!alone && { pullRequest }) } }),
  };
}
