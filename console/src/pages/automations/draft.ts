// What the editor holds, as text, and what is sent of it.
import type { Automation, AutomationRehearsal } from '../../api/client.ts';
import { remember, remembered } from '../../shell/url.ts';
import { instantOf, localOf } from '../../ui/format.ts';
import { type DefaultsDraft, defaultsDraftOf, defaultsIn, NO_DEFAULTS } from '../checks/checks-draft.ts';
import { NO_REPOSITORY, OWN, type RepositoryDraft, repositoryOf } from '../repositories/repository-draft.ts';

export const LIMITS = ['maxSteps', 'maxTokens', 'maxDurationSeconds', 'maxCost'] as const;
type Limit = (typeof LIMITS)[number];

export interface Draft {
  name: string;
  content: string;
  kind: Automation['kind'];
  cron: string;
  timezone: string;
  /** By the clock of this browser, as its field has it: `2026-12-01T09:00`. */
  runAt: string;
  triggerEvent: string;
  filter: string;
  projectId: string;
  /** The slug of one, or `slug@version`; empty: that of the project, or none. */
  environment: string;
  /** `slug`, `slug@3` or `slug@stable`; empty: the usual one, or none. */
  agent: string;
  /** Null: those by default. */
  skills: string[] | null;
  /** The same. */
  mcpServers: string[] | null;
  /** Names; null: what is usual for what starts it. */
  secrets: string[] | null;
  model: string;
  effort: NonNullable<Automation['effort']> | '';
  approvals: Automation['approvals'];
  whenBlocked: Automation['whenBlocked'];
  /** Whether its tasks may read pages of the web; null: what is usual for what starts it. */
  web: boolean | null;
  /** Empty: what is usual for what starts it. */
  overlap: Automation['overlap'] | '';
  budget: Record<Limit, string>;
  repository: RepositoryDraft;
  checks: DefaultsDraft;
}

export const hereZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export const NO_BUDGET: Record<Limit, string> = { maxSteps: '', maxTokens: '', maxDurationSeconds: '', maxCost: '' };

export const emptyDraft = (): Draft => ({
  name: '',
  content: '',
  kind: 'recurring',
  cron: '0 9 * * 1-5',
  timezone: hereZone(),
  runAt: '',
  triggerEvent: '',
  filter: '',
  projectId: '',
  environment: '',
  agent: '',
  skills: null,
  mcpServers: null,
  secrets: null,
  model: '',
  effort: '',
  approvals: 'none',
  whenBlocked: 'fail',
  web: null,
  overlap: '',
  budget: NO_BUDGET,
  repository: NO_REPOSITORY,
  checks: NO_DEFAULTS,
});

export function draftOf(automation: Automation | AutomationRehearsal['automation']): Draft {
  const { name, content, kind, cron, timezone, runAt, triggerEvent, filter } = automation;
  const { projectId, environment, secrets, model, effort, approvals, whenBlocked, web, overlap, budget } = automation;
  const empty = emptyDraft();
  return {
    name,
    content,
    kind,
    cron: cron ?? empty.cron,
    timezone: timezone ?? empty.timezone,
    runAt: runAt === null ? '' : localOf(new Date(runAt)),
    triggerEvent: triggerEvent ?? '',
    filter: filter ?? '',
    projectId: projectId ?? '',
    environment: environmentText(environment),
    agent: automation.agent ?? '',
    skills: automation.skills,
    mcpServers: automation.mcpServers,
    secrets,
    model: model ?? '',
    effort: effort ?? '',
    approvals,
    whenBlocked,
    web,
    overlap,
    budget: budgetDraftOf(budget),
    repository: repositoryDraftOf(automation.repository),
    checks: defaultsDraftOf(automation),
  };
}

export const environmentText = (environment: Automation['environment']): string =>
  environment === null
    ? ''
    : [environment.slug, ...(environment.version === null ? [] : [environment.version])].join('@');

export const budgetDraftOf = (budget: Automation['budget']): Record<Limit, string> => ({
  maxSteps: String(budget?.maxSteps ?? ''),
  maxTokens: String(budget?.maxTokens ?? ''),
  maxDurationSeconds: String(budget?.maxDurationSeconds ?? ''),
  maxCost: budget?.maxCost ?? '',
});

/** Null without a limit. The service says what is wrong with one. */
export function budgetIn(budget: Record<Limit, string>): Record<string, never> | null {
  const { maxCost, ...numbers } = budget;
  const limits = Object.entries(numbers).flatMap(([limit, text]) =>
    text.trim() === '' ? [] : [[limit, numberOf(text)]],
  );
  const limited = { ...Object.fromEntries(limits), ...(maxCost !== '' && { maxCost }) } as Record<string, never>;
  return Object.keys(limited).length > 0 ? limited : null;
}

export function repositoryDraftOf(repository: Automation['repository']): RepositoryDraft {
  if (repository === null) return NO_REPOSITORY;
  const { url, ref, push } = repository;
  const place = { ...NO_REPOSITORY, url, ref: ref ?? '' };
  if (push === null) return place;
  const { branch, pullRequest } = push;
  return {
    ...place,
    ...{ push: true, branch, alone: pullRequest === null },
    // Of another name, when this one is taken away.
    ...{ pattern: branch.replace(/[^/]*$/, '*'), salt: OWN },
    ...{ title: pullRequest?.title ?? '', base: pullRequest?.base ?? '', draft: pullRequest?.draft ?? false },
  };
}

/** All of it. The service says what is wrong with it. */
export function bodyOf(draft: Draft) {
  const { name, content, secrets, approvals, whenBlocked, web, overlap } = draft;
  return {
    name,
    content,
    ...triggerOf(draft),
    projectId: draft.projectId || null,
    environment: environmentIn(draft.environment),
    agent: draft.agent || null,
    skills: draft.skills,
    mcpServers: draft.mcpServers,
    secrets,
    model: draft.model || null,
    effort: draft.effort || null,
    approvals,
    whenBlocked,
    web,
    overlap: overlap || null,
    budget: budgetIn(draft.budget),
    repository: repositoryOf(draft.repository, name) ?? null,
    ...defaultsIn(draft.checks),
  };
}

export function environmentIn(text: string) {
  const [slug = '', version] = text.split('@');
  return version === undefined ? slug || null : { slug, version: Number(version) };
}

/** JSON has no NaN and would say null, which is no limit: the service refuses the text. */
const numberOf = (text: string) => (Number.isFinite(Number(text)) ? Number(text) : text);

export function triggerOf({ kind, cron, timezone, runAt, triggerEvent, filter }: Draft) {
  switch (kind) {
    case 'recurring':
      return { cron, timezone };
    case 'one_time':
      return { runAt: instantOf(runAt) };
    case 'webhook':
      return { triggerEvent, filter: filter.trim() || null };
  }
}

/** What has changed, and nothing else: what somebody else changed meanwhile stays. */
export function changesOf(before: Draft, after: Draft): Partial<ReturnType<typeof bodyOf>> {
  const old: Record<string, unknown> = bodyOf(before);
  const entries = Object.entries(bodyOf(after));
  return Object.fromEntries(entries.filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(old[key])));
}

const KEPT = 'automation';

/** What was begun and not sent, so that neither a lost connection nor the end of a session loses it. */
export function keptDraft(): Draft {
  try {
    return { ...emptyDraft(), ...(JSON.parse(remembered(KEPT, '{}')) as Partial<Draft>) };
  } catch {
    return emptyDraft();
  }
}
export const keepDraft = (draft: Draft | null): void => remember(KEPT, draft === null ? '{}' : JSON.stringify(draft));
