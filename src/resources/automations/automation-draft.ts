// What an automation is to be, by what a client gives and what it is already (reference §12). Pure.
import { ApiError } from '../../platform/http/api-error.js';
import { asChecks } from '../tasks/checks/checks.dto.js';
import { namedBy } from '../environments/environment-choice.dto.js';
import type { ChangeAutomationDto, CreateAutomationDto } from './automation.dto.js';
import type { Automation, AutomationKind, Overlap } from './automation.entity.js';
import { asStored } from './automation-repository.js';
import { instantOf } from '../../platform/text/instant.js';

type Trigger = Pick<Automation, 'kind' | 'cron' | 'timezone' | 'runAt' | 'triggerEvent' | 'filter'>;

/** All that a client sets. */
export type AutomationDraft = Trigger &
  Pick<
    Automation,
    | 'name'
    | 'content'
    | 'projectId'
    | 'model'
    | 'effort'
    | 'approvals'
    | 'whenBlocked'
    | 'web'
    | 'skills'
    | 'mcpServers'
    | 'budget'
    | 'repository'
    | 'environment'
    | 'agent'
    | 'checks'
    | 'maxRepairs'
    | 'secrets'
    | 'overlap'
  >;

/** What it is before; nothing chosen yet in one that is new. */
type Before = Omit<AutomationDraft, 'kind' | 'overlap'> & { kind: AutomationKind | null; overlap: Overlap | null };

/** The field that makes an automation one of a kind. */
const FIELD_OF = { recurring: 'cron', one_time: 'runAt', webhook: 'triggerEvent' } as const;
const KINDS = Object.keys(FIELD_OF) as AutomationKind[];
const NO_TRIGGER = { cron: null, timezone: null, runAt: null, triggerEvent: null, filter: null };

/** Throws 400 unless it has exactly one trigger, and nothing that belongs to another one. */
export function draftOf(given: CreateAutomationDto): AutomationDraft {
  const { name, content } = given;
  const nothing = {
    projectId: null,
    model: null,
    effort: null,
    approvals: 'none',
    whenBlocked: 'fail',
    web: null,
    skills: null,
    mcpServers: null,
    budget: null,
    repository: null,
    environment: null,
    agent: null,
    checks: null,
    maxRepairs: null,
    secrets: null,
  } as const;
  return merged(given, { name, content, ...nothing, ...NO_TRIGGER, kind: null, overlap: null });
}

/** As {@link draftOf}: what is given is replaced, null clears it, and a trigger of another kind clears the old one. */
export function changedDraft(given: ChangeAutomationDto, before: AutomationDraft): AutomationDraft {
  return merged(given, before);
}

function merged(given: ChangeAutomationDto, before: Before): AutomationDraft {
  const trigger = triggerOf(given, before);
  return {
    ...trigger,
    name: given.name ?? before.name,
    content: given.content ?? before.content,
    projectId: replaced(before.projectId, given.projectId),
    model: replaced(before.model, given.model),
    effort: replaced(before.effort, given.effort),
    approvals: replaced(before.approvals, given.approvals) ?? 'none',
    whenBlocked: replaced(before.whenBlocked, given.whenBlocked) ?? 'fail',
    web: replaced(before.web, given.web),
    skills: replaced(before.skills, given.skills),
    mcpServers: replaced(before.mcpServers, given.mcpServers),
    budget: replaced(before.budget, given.budget),
    repository: replaced(before.repository, given.repository && asStored(given.repository)),
    environment: replaced(
      before.environment,
      given.environment == null ? given.environment : namedBy(given.environment),
    ),
    agent: replaced(before.agent, given.agent),
    checks: replaced(before.checks, given.checks && asChecks(given.checks)),
    maxRepairs: replaced(before.maxRepairs, given.maxRepairs),
    secrets: replaced(before.secrets, given.secrets),
    overlap: replaced(before.overlap, given.overlap) ?? (trigger.kind === 'webhook' ? 'allow' : 'skip'),
  };
}

const replaced = <T>(before: T, given: T | null | undefined): T | null => (given === undefined ? before : given);

function triggerOf(given: ChangeAutomationDto, before: Before): Trigger {
  const kind = kindOf(given, before.kind);
  const same = before.kind === kind ? before : NO_TRIGGER;
  if (kind !== 'recurring') refuse(given, 'timezone', 'cron');
  if (kind !== 'webhook') refuse(given, 'filter', 'triggerEvent');
  const none = { kind, ...NO_TRIGGER };
  if (kind === 'recurring') {
    return { ...none, cron: given.cron ?? same.cron, timezone: replaced(same.timezone, given.timezone) ?? 'UTC' };
  }
  if (kind === 'one_time') return { ...none, runAt: given.runAt == null ? same.runAt : instantOf(given.runAt) };
  return {
    ...none,
    triggerEvent: given.triggerEvent ?? same.triggerEvent,
    filter: replaced(same.filter, given.filter),
  };
}

function kindOf(given: ChangeAutomationDto, before: AutomationKind | null): AutomationKind {
  const chosen = KINDS.filter((kind) => given[FIELD_OF[kind]] != null);
  const kept = before !== null && given[FIELD_OF[before]] === undefined ? before : undefined;
  const kind = chosen[0] ?? kept;
  if (kind === undefined || chosen.length > 1) {
    throw new ApiError('invalid_field', 'Exactly one of cron, runAt and triggerEvent is expected.');
  }
  if (given.kind == null || given.kind === kind) return kind;
  const message = `kind: with ${FIELD_OF[kind]} it is ${kind}; leave it out, or give ${FIELD_OF[given.kind]} instead.`;
  throw new ApiError('invalid_field', message, { param: 'kind' });
}

/** A field that goes with another trigger. */
function refuse(given: ChangeAutomationDto, field: 'timezone' | 'filter', trigger: string): void {
  if (given[field] == null) return;
  throw new ApiError('invalid_field', `${field} goes with ${trigger} alone.`, { param: field });
}
