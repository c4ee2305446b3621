// What a task is made of that has an agent (reference §27.5): what is given for it, and what the agent says. Pure.
import type { APPROVALS, Approvals, Budget } from '../../engine/agent/agent-engine.js';
import type { ModelCatalog } from '../../engine/models/model-catalog.js';
import { microsOf } from '../../platform/money/usd.js';
import { forTask, type Occasion } from '../automations/automation-repository.js';
import { namedSkills } from '../skills/skill-choice.dto.js';
import type { CreateTaskDto } from '../tasks/task.dto.js';
import type { TaskSkill } from '../tasks/task.entity.js';
import type { AgentDefinition } from './definition.js';

/** Who makes the task may widen what the agent says: an owner or admin of the workspace. */
type Caller = { seesEverything: boolean };

/** From the loosest to the strictest: where each command is approved no secret is used without that. */
const STRICTNESS = ['none', 'secrets', 'writes'] as const satisfies typeof APPROVALS extends readonly (infer A)[]
  ? A[]
  : never;

/**
 * What is given for a task wins where it says what is to be done; where it says how much may be done, the narrower of both does, but for a caller
 * who may widen. What is not given is as the agent says, and what that does not say stays open.
 */
export function withAgent(
  { seesEverything: widens }: Caller,
  given: CreateTaskDto,
  agent: AgentDefinition,
  models: Pick<ModelCatalog, 'find' | 'default'>,
  occasion: Occasion,
): CreateTaskDto {
  const { instructions: _told, tools: _tools, ...says } = agent;
  const model = given.model ?? says.model ?? undefined;
  const repository = given.repository ?? (says.repository === null ? undefined : forTask(says.repository, occasion));
  const environment = given.environment === undefined ? (says.environment ?? undefined) : given.environment;
  const approvals = widens ? (given.approvals ?? says.approvals) : stricter(given.approvals ?? 'none', says.approvals);
  const web = widens ? (given.web ?? says.web) : narrower(given.web, says.web);
  const all = {
    ...given,
    model,
    effort: given.effort ?? usualEffort(says, model, models),
    approvals,
    budget: budgetOf(widens, given.budget, says.budget),
    repository,
    web: web ?? undefined,
    mcpServers:
      (widens ? (given.mcpServers ?? says.mcpServers) : fewer(given.mcpServers, says.mcpServers)) ?? undefined,
    skills: widens ? (given.skills ?? says.skills) : fewer(given.skills, says.skills),
    checks: given.checks ?? says.checks ?? undefined,
    maxRepairs: given.maxRepairs ?? says.maxRepairs ?? undefined,
    environment,
    outputSchema: given.outputSchema === undefined ? says.outputSchema : given.outputSchema,
    tags: given.tags ?? says.tags,
    metadata: given.metadata ?? says.metadata,
  };
  return all as CreateTaskDto;
}

export function stricter(one: Approvals, other: Approvals): Approvals {
  return STRICTNESS.indexOf(one) > STRICTNESS.indexOf(other) ? one : other;
}

function narrower(given: boolean | undefined, agent: boolean | null): boolean | undefined {
  return agent === false ? false : (given ?? agent ?? undefined);
}

/** Those of the servers of a task which its agent has too. */
export function serversWithin(servers: string[], agent: AgentDefinition | null): string[] {
  return fewer(servers, agent?.mcpServers) ?? [];
}

/** Those of the skills of a task which its agent has too, in the version that this says. */
export function skillsWithin(skills: TaskSkill[], agent: AgentDefinition | null): TaskSkill[] {
  if (agent?.skills == null) return skills;
  const versions = new Map(namedSkills(agent.skills).map(({ name, version }) => [name, version]));
  return skills.flatMap((one) => {
    const version = versions.get(one.name);
    return version === undefined ? [] : [{ ...one, version: version ?? one.version }];
  });
}

/** Of the skills or servers of the agent those that the task names too, a skill in the version that the agent says. */
function fewer(given: string[] | null | undefined, agent: string[] | null | undefined): string[] | null | undefined {
  if (given == null || agent == null) return given ?? agent;
  const names = new Set(given.map(nameOf));
  return agent.filter((one) => names.has(nameOf(one)));
}

const nameOf = (skill: string): string | undefined => skill.split('@')[0];

/** A model that does not take the effort of the agent, because the task names another one, has its own default. */
function usualEffort(
  { effort }: Pick<AgentDefinition, 'effort'>,
  model: string | undefined,
  models: Pick<ModelCatalog, 'find' | 'default'>,
): CreateTaskDto['effort'] {
  if (effort === null) return undefined;
  const chosen = model === undefined ? models.default() : models.find(model);
  return chosen?.efforts.includes(effort) === true ? effort : undefined;
}

function budgetOf(widens: boolean, given: Budget | null | undefined, agent: Budget | null): CreateTaskDto['budget'] {
  if (agent === null || given === undefined) return given === undefined ? agent : given;
  if (widens) return given === null ? null : { ...agent, ...withoutGaps(given) };
  return budgetWithin(given, agent);
}

/** The smaller of each limit. Null: there is none. */
export function budgetWithin(given: Budget | null, agent: Budget | null): Budget | null {
  if (given === null || agent === null) return given ?? agent;
  return withoutGaps({
    maxSteps: smaller(given.maxSteps, agent.maxSteps),
    maxTokens: smaller(given.maxTokens, agent.maxTokens),
    maxDurationSeconds: smaller(given.maxDurationSeconds, agent.maxDurationSeconds),
    maxCost: cheaper(given.maxCost, agent.maxCost),
  });
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function cheaper(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return microsOf(one) < microsOf(other) ? one : other;
}

type Limits = { [K in keyof Budget]: Budget[K] | undefined };

function withoutGaps(budget: Limits): Budget {
  return Object.fromEntries(Object.entries(budget).filter(([, limit]) => limit !== undefined));
}
