import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { AgentTool } from '../../engine/agent/agent-tool.js';
import { McpServers } from '../../engine/agent/mcp/mcp-servers.js';
import { schemaFault } from '../../engine/agent/output/output-schema.js';
import { ModelCatalog } from '../../engine/models/model-catalog.js';
import { checkMaxCost, chooseModel } from '../../engine/models/model-choice.js';
import { newId } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError } from '../../platform/http/api-error.js';
import { declaredNames } from '../../platform/plugins/plugin.js';
import { asStored, forTask } from '../automations/automation-repository.js';
import { namedBy } from '../environments/environment-choice.dto.js';
import { holdEnvironment } from '../environments/hold-environment.js';
import { asChecks } from '../tasks/checks/checks.dto.js';
import { holdSkills } from '../skills/hold-skills.js';
import { TaskStarter } from '../tasks/task-starter.js';
import type { ChangeAgentDto } from './agent.dto.js';
import type { AgentDefinition } from './definition.js';

type Given = Omit<ChangeAgentDto, 'version'>;

/** What an agent is when nothing is given. */
const NOTHING: Required<AgentDefinition> = {
  instructions: '',
  model: null,
  effort: null,
  approvals: 'none',
  budget: null,
  repository: null,
  tools: { deny: [] },
  skills: null,
  mcpServers: null,
  web: null,
  checks: null,
  maxRepairs: null,
  environment: null,
  outputSchema: null,
  tags: [],
  metadata: {},
};

/** A version of before says nothing of what there was not yet. */
const whole = (stored: AgentDefinition): Required<AgentDefinition> => ({ ...NOTHING, ...stored });

/** What an agent may be: what a task of this moment might be told (reference §27.5). */
@Injectable()
export class AgentRules {
  constructor(
    private readonly models: ModelCatalog,
    private readonly tasks: TaskStarter,
    private readonly mcp: McpServers,
  ) {}

  /** What needs no look at anything else. Throws 400, before anything is looked up (reference §1). */
  async checkGiven({ workspaceId }: AuthContext, { tools, outputSchema }: Given): Promise<void> {
    const known = declaredNames(AgentTool);
    const unknown = (tools?.deny ?? []).find((name) => !known.has(name));
    if (unknown !== undefined) {
      const which = /^[\w-]{1,64}$/.test(unknown)
        ? `tools.deny: there is no tool ${unknown}`
        : 'tools.deny has no name of a tool';
      throw invalid('tools.deny', `${which}; the tools are: ${[...known].sort().join(', ')}.`);
    }
    const fault = outputSchema == null ? null : await schemaFault(outputSchema, workspaceId);
    if (fault !== null) throw invalid('outputSchema', `outputSchema ${fault}.`);
  }

  /**
   * The definition with what is given in place of what was before; fields that are not given stay. Throws 400 for a model, an effort, a budget
   * and a repository that no task might have, and 404 for an environment that there is not, with its `param`.
   */
  async checked(
    auth: AuthContext,
    tx: UnitOfWork,
    given: Given,
    stored: AgentDefinition = NOTHING,
  ): Promise<AgentDefinition> {
    const before = whole(stored);
    const { budget, repository, environment, checks } = given;
    const definition: AgentDefinition = {
      instructions: given.instructions ?? before.instructions,
      model: replaced(before.model, given.model),
      effort: replaced(before.effort, given.effort),
      approvals: given.approvals ?? before.approvals,
      budget: replaced(before.budget, budget),
      repository: replaced(before.repository, repository && asStored(repository)),
      tools: given.tools === undefined ? before.tools : { deny: given.tools.deny ?? [] },
      skills: replaced(before.skills, given.skills),
      mcpServers: replaced(before.mcpServers, given.mcpServers),
      web: replaced(before.web, given.web),
      checks: replaced(before.checks, checks && asChecks(checks)),
      maxRepairs: replaced(before.maxRepairs, given.maxRepairs),
      environment: replaced(before.environment, environment == null ? environment : namedBy(environment)),
      outputSchema: replaced(before.outputSchema, given.outputSchema),
      tags: given.tags ?? before.tags,
      metadata: given.metadata ?? before.metadata,
    };
    const { model, effort } = definition;
    // A model that is gone stays, as long as nobody chooses another one.
    if (given.model != null || given.effort != null) chooseModel(this.models, model ?? undefined, effort ?? undefined);
    if (budget != null || given.model != null) {
      checkMaxCost(this.models, model ?? this.models.default().id, definition.budget?.maxCost);
    }
    if (repository != null) {
      const occasion = { taskId: newId(), now: new Date() };
      await this.tasks.repository(auth, tx, forTask(asStored(repository), occasion));
    }
    if (given.mcpServers != null) this.mcp.check(auth.workspace.slug, given.mcpServers);
    const named = environment == null ? null : definition.environment;
    await this.hold(auth, tx, { skills: given.skills ?? null, environment: named });
    return definition;
  }

  /** That there is what it names, which stays until the transaction ends. Throws 404 with its `param`. */
  async hold(
    auth: AuthContext,
    tx: UnitOfWork,
    { skills, environment }: Pick<AgentDefinition, 'skills' | 'environment'>,
  ): Promise<void> {
    if (skills !== null) await holdSkills(auth, tx, skills);
    if (environment !== null) await holdEnvironment(auth, tx, environment);
  }
}

const replaced = <T>(before: T, given: T | undefined): T => (given === undefined ? before : given);

/** Whether two definitions are the same agent, whatever the order of their keys but for that of the schema, in which the model writes. */
export function isSame(one: AgentDefinition, other: AgentDefinition): boolean {
  const schema = ({ outputSchema }: AgentDefinition) => JSON.stringify(outputSchema);
  return isDeepStrictEqual(asJson(one), asJson(other)) && schema(one) === schema(other);
}

const asJson = (value: AgentDefinition): unknown => JSON.parse(JSON.stringify(whole(value)));

function invalid(param: string, message: string): ApiError {
  return new ApiError('invalid_field', message, { param });
}
