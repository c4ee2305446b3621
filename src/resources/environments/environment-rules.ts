import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { McpServers } from '../../engine/agent/mcp/mcp-servers.js';
import { RepositoryRules } from '../../engine/repositories/repository-rules.js';
import { sandboxLimitsOf } from '../../platform/config/config-file.js';
import { Env } from '../../platform/config/env.js';
import { hostsWithin, isHost } from '../../platform/config/network.js';
import { ApiError } from '../../platform/http/api-error.js';
import { asChecks } from '../tasks/checks/checks.dto.js';
import { isFreeVariable } from '../secrets/secret.dto.js';
import type { ClonedRepositoryDto } from '../tasks/repository.dto.js';
import type { Definition, Resources } from './definition.js';
import { toolFault } from './tool-rules.js';
import type { ChangeEnvironmentDto, EnvironmentResourcesDto } from './environment.dto.js';

type Given = Omit<ChangeEnvironmentDto, 'name'>;

/** What an environment is when nothing is given. */
const NOTHING: Definition = {
  repository: null,
  setup: [],
  variables: {},
  allowHosts: [],
  secrets: [],
  tools: {},
  resources: {},
  refresh: 'never',
  onFailure: 'fail',
};

/** What an environment may be: no more than the operator allows all tasks (reference §25). */
@Injectable()
export class EnvironmentRules {
  private readonly hosts: readonly string[];
  private readonly limits: Required<Resources>;

  constructor(
    private readonly env: Env,
    private readonly repositories: RepositoryRules,
    private readonly mcp: McpServers,
  ) {
    this.hosts = env.file.sandbox?.allowHosts ?? [];
    this.limits = sandboxLimitsOf(env.file);
  }

  /**
   * The definition with what is given in place of what was before; fields that are not given stay. Throws 400 `invalid_field`,
   * `host_not_allowed` and `repository_not_allowed`, with the path of the field.
   */
  async checked({ workspace }: AuthContext, given: Given, before: Definition = NOTHING): Promise<Definition> {
    const { repository, setup, variables, allowHosts, secrets, tools, resources, refresh, onFailure } = given;
    if (variables !== undefined) checkVariables(variables);
    if (allowHosts !== undefined) this.checkHosts(allowHosts);
    if (tools !== undefined) this.checkTools(tools);
    if (given.mcpServers != null) this.mcp.check(workspace.slug, given.mcpServers);
    const definition: Definition = {
      repository: repository === undefined ? before.repository : await this.repository(repository),
      setup: setup ?? before.setup,
      variables: variables ?? before.variables,
      allowHosts: allowHosts ?? before.allowHosts,
      secrets: secrets ?? before.secrets,
      tools: tools ?? before.tools,
      resources: resources === undefined ? before.resources : this.resources(resources),
      refresh: refresh ?? before.refresh,
      onFailure: onFailure ?? before.onFailure,
      ...saidOf(given, before),
    };
    if (variables !== undefined || secrets !== undefined) checkNames(definition);
    if (typeof definition.refresh === 'object' && definition.repository === null) {
      throw invalid('refresh', 'has onLockfile, which goes with a repository alone');
    }
    return definition;
  }

  /** The one of a task has `push` too. */
  private async repository(given: ClonedRepositoryDto | null): Promise<Definition['repository']> {
    if (given === null) return null;
    const { url } = await this.repositories.source(given.url);
    return { url: url.href, ref: given.ref ?? null };
  }

  private checkTools(given: Record<string, string>): void {
    const fault = toolFault(this.env.file.sandbox, given);
    if (fault !== null) throw invalid(fault.param, fault.what);
  }

  private checkHosts(given: readonly string[]): void {
    for (const [n, host] of given.entries()) {
      const param = `allowHosts[${n}]`;
      if (!isHost(host)) {
        throw invalid(param, 'must be a host name in small letters, such as registry.npmjs.org or *.npmjs.org');
      }
      if (hostsWithin(this.hosts, [host]).length > 0) continue;
      const which = this.hosts.length === 0 ? 'none' : this.hosts.join(', ');
      const message = `${param} is not among the hosts and ports that the operator allows: ${which}.`;
      throw new ApiError('host_not_allowed', message, { param });
    }
  }

  private resources(given: EnvironmentResourcesDto): Resources {
    const names = ['memoryBytes', 'diskBytes', 'wallClockSeconds'] as const;
    const set = names.flatMap((name) => (given[name] == null ? [] : [[name, given[name]] as const]));
    const above = set.find(([name, value]) => value > this.limits[name]);
    if (above !== undefined) {
      throw invalid(`resources.${above[0]}`, `must be at most ${this.limits[above[0]]}, what the operator allows`);
    }
    return Object.fromEntries(set);
  }
}

function checkVariables(variables: Record<string, string>): void {
  const taken = Object.keys(variables).find((name) => !isFreeVariable(name));
  if (taken === undefined) return;
  throw invalid(`variables.${taken}`, `must have another name: the sandbox has ${taken} for itself`);
}

/** What a secret has as its `env` is told when it is used: here it need not be there yet. */
function checkNames({ variables, secrets }: Definition): void {
  const both = secrets.find((name) => Object.hasOwn(variables, name));
  if (both === undefined) return;
  throw invalid(`variables.${both}`, `must have another name: ${both} is among the secrets of the environment`);
}

/** Null takes away what was before. */
function saidOf(
  { checks, maxRepairs, mcpServers }: Given,
  before: Definition,
): Pick<Definition, 'checks' | 'maxRepairs' | 'mcpServers'> {
  const servers = mcpServers === undefined ? before.mcpServers : mcpServers;
  const list = checks === undefined ? before.checks : checks && asChecks(checks);
  const repairs = maxRepairs === undefined ? before.maxRepairs : maxRepairs;
  return {
    ...(list != null && { checks: list }),
    ...(repairs != null && { maxRepairs: repairs }),
    ...(servers != null && { mcpServers: servers }),
  };
}

/** Whether two definitions are the same environment, whatever the order of their keys. */
export const isSame = (one: Definition, other: Definition): boolean => isDeepStrictEqual(one, other);

function invalid(param: string, what: string): ApiError {
  return new ApiError('invalid_field', `${param} ${what}.`, { param });
}
