// What stands in the form. It is kept in this browser until it is sent: over a reload, a broken connection, the end of the session.
import { useEffect, useState } from 'react';
import type { CreateTask, Message, StoredFile, Task } from '../../api/client.ts';
import { useContext } from '../../shell/can.ts';
import { remember, remembered } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import type { KeptUpload } from '../../ui/attachments.tsx';
import { NO_AGENT } from '../agents/agent-select.tsx';
import { checksIn, type ChecksDraft, NO_CHECKS } from '../checks/checks-draft.ts';
import { NO_ENVIRONMENT } from '../projects/environment-select.tsx';
import {
  isAddress,
  newSalt,
  NO_REPOSITORY,
  type RepositoryDraft,
  repositoryOf,
} from '../repositories/repository-draft.ts';

export interface Draft {
  title: string;
  content: string;
  uploads: KeptUpload[];
  /** Empty: the default. So are the next two. */
  model: string;
  effort: Task['effort'] | '';
  approvals: Task['approvals'];
  whenBlocked: Task['whenBlocked'];
  /** Whether it may read pages of the web, where tasks may. */
  web: boolean;
  projectId: string;
  /** The slug of one; empty: that of the project, or none. {@link NO_ENVIRONMENT}: none, whatever the project has. */
  environment: string;
  /** `slug`, `slug@3` or `slug@stable`; empty: the usual one, or none. {@link NO_AGENT}: none, whatever is usual. */
  agent: string;
  /** Null: those by default. */
  skills: string[] | null;
  /** The same. */
  mcpServers: string[] | null;
  repository: RepositoryDraft;
  budget: { maxSteps: string; maxTokens: string; maxMinutes: string; maxCost: string };
  checks: ChecksDraft;
  tags: string[];
  outputSchema: string;
}

export const EMPTY: Draft = {
  title: '',
  content: '',
  uploads: [],
  model: '',
  effort: '',
  approvals: 'none',
  whenBlocked: 'fail',
  web: true,
  projectId: '',
  environment: '',
  agent: '',
  skills: null,
  mcpServers: null,
  repository: NO_REPOSITORY,
  budget: { maxSteps: '', maxTokens: '', maxMinutes: '', maxCost: '' },
  checks: NO_CHECKS,
  tags: [],
  outputSchema: '',
};

export const isEmpty = (draft: Draft): boolean => JSON.stringify(draft) === JSON.stringify(EMPTY);

/** `from`: the earlier task that it began with; each has a draft of its own, and so has the empty form. */
export function useDraft(from: string, begin: Draft) {
  const { user } = useContext();
  const name = `draft.${user.id}.new${from && `.${from}`}`;
  // The project and the agent of the address, not those of an earlier draft: the task would be seen by others.
  const here = {
    ...(from === '' && begin.projectId !== '' && { projectId: begin.projectId }),
    ...(from === '' && begin.agent !== '' && { agent: begin.agent }),
  };
  const [draft, setDraft] = useState<Draft>(() => {
    const kept = read(remembered(name, ''));
    return kept === null ? begin : { ...kept, ...here };
  });
  useEffect(() => {
    const kept = JSON.stringify(draft) !== JSON.stringify(begin) && !isEmpty(draft);
    if (kept || remembered(name, '') !== '') remember(name, kept ? JSON.stringify(draft) : '');
  }, [draft]);
  return {
    draft,
    change: (values: Partial<Draft>): void => setDraft((old) => ({ ...old, ...values })),
    /** It is sent, or not wanted any more. */
    forget: (): void => remember(name, ''),
    reset: (): void => setDraft({ ...EMPTY, ...here }),
  };
}

function read(text: string): Draft | null {
  if (text === '') return null;
  try {
    const kept = JSON.parse(text) as Partial<Draft>;
    return { ...EMPTY, ...kept, repository: { ...NO_REPOSITORY, ...kept.repository } };
  } catch {
    return null;
  }
}

/** What is wrong with a field before anything is sent. */
export class FieldError extends Error {
  constructor(
    readonly param: string,
    message: string,
  ) {
    super(message);
  }
}

/** What the task will be called: its title, else the first line that is no fence. */
export const nameOf = ({ title, content }: Draft): string =>
  title.trim() || (/^(?!\s*(?:```|~~~))\s*\S.*$/m.exec(content)?.[0].trim() ?? '');

/** Throws {@link FieldError}. */
export function bodyOf(draft: Draft): CreateTask {
  const { title, content, uploads, model, effort, approvals, whenBlocked, projectId, repository } = draft;
  const { environment, agent, tags, outputSchema } = draft;
  const budget = budgetOf(draft.budget);
  const checks = checksIn(draft.checks);
  const maxRepairs = checks.length === 0 ? null : numberOf('maxRepairs', draft.checks.maxRepairs);
  const where = repositoryOf(repository, nameOf(draft));
  if (where !== undefined && !isAddress(where.url)) throw new FieldError('repository.url', t.repositories.notAddress);
  return {
    ...(content.trim() !== '' && { content }),
    ...(uploads.length > 0 && { attachments: uploads.map(({ uploadId }) => ({ uploadId })) }),
    ...(title.trim() !== '' && { title: title.trim() }),
    ...(projectId !== '' && { projectId }),
    ...(environment !== '' && { environment: environment === NO_ENVIRONMENT ? null : environment }),
    ...(agent !== '' && { agent: agent === NO_AGENT ? null : agent }),
    ...(draft.skills !== null && { skills: draft.skills }),
    ...(draft.mcpServers !== null && { mcpServers: draft.mcpServers }),
    ...(model !== '' && { model }),
    ...(effort !== '' && effort !== null && { effort }),
    // Said, it would go before what its agent says.
    ...(approvals !== 'none' && { approvals }),
    ...(whenBlocked !== 'fail' && { whenBlocked }),
    ...(!draft.web && { web: false }),
    ...(budget !== null && { budget }),
    ...(where !== undefined && { repository: where }),
    ...(checks.length > 0 && { checks }),
    ...(maxRepairs !== null && { maxRepairs }),
    ...(tags.length > 0 && { tags }),
    ...(outputSchema.trim() !== '' && { outputSchema: schemaOf(outputSchema) }),
  };
}

function budgetOf({
  maxSteps,
  maxTokens,
  maxMinutes,
  maxCost,
}: Draft['budget']): NonNullable<CreateTask['budget']> | null {
  const steps = numberOf('budget.maxSteps', maxSteps);
  const tokens = numberOf('budget.maxTokens', maxTokens);
  const minutes = numberOf('budget.maxDurationSeconds', maxMinutes);
  const budget = {
    ...(steps !== null && { maxSteps: steps }),
    ...(tokens !== null && { maxTokens: tokens }),
    ...(minutes !== null && { maxDurationSeconds: Math.round(minutes * 60) }),
    ...(maxCost.trim() !== '' && { maxCost: maxCost.trim() }),
  };
  return Object.keys(budget).length === 0 ? null : budget;
}

function numberOf(param: string, text: string): number | null {
  if (text.trim() === '') return null;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new FieldError(param, t.newTask.notNumber);
  return value;
}

function schemaOf(text: string): Record<string, unknown> {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    throw new FieldError('outputSchema', t.newTask.notJson(error instanceof Error ? error.message : ''));
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw new FieldError('outputSchema', t.newTask.notObject);
  return schema as Record<string, unknown>;
}

/** The task once more: what it was asked first, and all of its settings. */
export function draftOf(task: Task, first: Message | undefined): Draft {
  const content = (first?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const { repository, budget } = task;
  const text = (value: number | null | undefined) => (value == null ? '' : String(value));
  return {
    // A title that was made of the content is made again.
    title: content.includes(task.title) ? '' : task.title,
    content,
    uploads: [],
    model: task.model,
    effort: task.effort ?? '',
    approvals: task.approvals,
    whenBlocked: task.whenBlocked,
    web: task.web,
    projectId: task.projectId ?? '',
    // Their newest versions.
    environment: task.environment?.slug ?? '',
    agent: task.agent?.slug ?? '',
    skills: task.skills.length === 0 ? null : task.skills.map(({ name }) => name),
    mcpServers: task.mcpServers,
    repository: {
      ...NO_REPOSITORY,
      url: repository?.url ?? '',
      ref: repository?.ref ?? '',
      // To a branch of its own: that of the other task stays as it is.
      ...(repository?.push && {
        push: true,
        pattern: repository.push.branch.replace(/[^/]*$/, '*'),
        salt: newSalt(),
        alone: task.pullRequest === null,
      }),
    },
    budget: {
      maxSteps: text(budget?.maxSteps),
      maxTokens: text(budget?.maxTokens),
      maxMinutes: budget?.maxDurationSeconds == null ? '' : text(budget.maxDurationSeconds / 60),
      maxCost: budget?.maxCost ?? '',
    },
    // The task does not say what they were.
    checks: NO_CHECKS,
    tags: task.tags,
    outputSchema: task.outputSchema === null ? '' : JSON.stringify(task.outputSchema, null, 2),
  };
}

/** What the task was created with; later messages may have brought more. */
export const filesOf = ({ createdAt }: Task, files: readonly StoredFile[]): StoredFile[] =>
  files.filter(
    (file) => file.origin === 'attachment' && Date.parse(file.createdAt) < Date.parse(createdAt) + SAME_REQUEST_MS,
  );
const SAME_REQUEST_MS = 1000;
