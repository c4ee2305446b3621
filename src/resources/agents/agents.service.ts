import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { newId } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import { type PeriodQuery, periodOf } from '../billing/billing.dto.js';
import { AgentRules, isSame } from './agent-rules.js';
import type { ChangeAgentDto, CreateAgentDto, ListAgentsQuery } from './agent.dto.js';
import { Agent } from './agent.entity.js';
import {
  ADD_VERSION,
  type AgentRow,
  DEFINITION_OF,
  EXISTS,
  GET,
  GET_VERSION,
  IN_USE,
  LIST,
  LOCK_TO_CHANGE,
  LOCK_WORKSPACE,
  OTHERS,
  SET_DEFAULT,
  STATS,
  type VersionRow,
  VERSIONS,
} from './agents.sql.js';

/** Agents of one workspace that are not archived, and versions of one agent. */
const [MOST, MOST_VERSIONS] = [100, 500];

/** The agents of a workspace, as clients see and change them (reference §27.5). */
@Injectable()
export class AgentsService {
  constructor(
    private readonly database: Database,
    private readonly rules: AgentRules,
  ) {}

  /** Throws 404 unless the workspace has it, as everything here that takes a slug. */
  async get(auth: AuthContext, slug: string): Promise<AgentRow> {
    const [row] = await this.database.read.run(GET({ auth, slug }));
    return row ?? missing();
  }

  /** Newest first. */
  async list(auth: AuthContext, page: PageRequest<ListAgentsQuery>) {
    const { archived = 'false' } = page.query;
    const which = archived === 'all' ? null : archived === 'true';
    return page.cut(await this.database.read.run(LIST({ auth, archived: which, ...page.place })), byCreation);
  }

  /** Newest first. */
  async versions(auth: AuthContext, slug: string, page: PageRequest) {
    const [after] = page.after ?? [];
    const place = { after: after === undefined ? null : Number(after), limit: page.limit + 1 };
    const rows = await this.database.read.run(VERSIONS({ auth, slug, ...place }));
    if (rows.length === 0) await this.checkThere(auth, slug);
    return page.cut(rows, ({ version }) => [`${version}`]);
  }

  /** Throws 404 for a version too. */
  async version(auth: AuthContext, slug: string, version: string): Promise<VersionRow> {
    const isOne = /^[1-9]\d{0,8}$/.test(version);
    const [row] = isOne ? await this.database.read.run(GET_VERSION({ auth, slug, version: Number(version) })) : [];
    if (row !== undefined) return row;
    await this.checkThere(auth, slug);
    throw notFound('version of this agent');
  }

  /** Of each version that has tasks of the period, the newest first. Throws 400 for a period that is none. */
  async stats(auth: AuthContext, slug: string, query: PeriodQuery) {
    const period = periodOf(query, new Date());
    const versions = await this.database.reports.run(STATS({ auth, slug, ...period }));
    if (versions.length === 0) await this.checkThere(auth, slug);
    return { ...period, versions };
  }

  /** Throws 400 and 404 for what no task might be told, 403 for a default of somebody who may not set it, 409 for a slug that is taken and one too many. */
  async create(auth: AuthContext, tx: UnitOfWork, given: CreateAgentDto): Promise<AgentRow> {
    const { slug, name = slug, description = '', channels = {}, default: isDefault = false, ...options } = given;
    await this.rules.checkGiven(auth, options);
    checkChannels(channels, 1);
    if (isDefault) requireForAll(auth);
    const definition = await this.rules.checked(auth, tx, options);
    await tx.run(LOCK_WORKSPACE({ auth }));
    await checkOthers(auth, tx, slug);
    const { workspaceId, userId: createdById } = auth;
    const id = newId();
    const fields = { id, workspaceId, slug, name, description, channels, createdById };
    await tx.manager.getRepository(Agent).insert(fields);
    await tx.run(ADD_VERSION({ auth, id, version: 1, definition: JSON.stringify(definition) }));
    if (isDefault) await tx.run(SET_DEFAULT({ auth, slug }));
    return read(auth, tx, slug);
  }

  /**
   * Changes what is given. Another definition is the next version; the same one, and what belongs to the agent itself, are none. Throws as
   * {@link create}, 403 unless the caller may change it, and 409 for a version that is not the newest, one too many, and an agent in use.
   */
  async change(auth: AuthContext, tx: UnitOfWork, slug: string, given: ChangeAgentDto): Promise<AgentRow> {
    const { version: known, name, description, channels, default: wanted, archived, ...options } = given;
    await this.rules.checkGiven(auth, options);
    // Agent before workspace, as an automation that is written and becomes active locks them.
    await tx.run(LOCK_TO_CHANGE({ auth, slug }));
    await tx.run(LOCK_WORKSPACE({ auth }));
    const before = await read(auth, tx, slug);
    auth.requireOwnership(before.createdById, 'agent');
    if (before.default || wanted === true) requireForAll(auth);
    if (known !== before.version) throw conflict(before);
    const definition = await this.rules.checked(auth, tx, options, before.definition);
    const same = isSame(definition, before.definition);
    const version = same ? before.version : before.version + 1;
    if (version > MOST_VERSIONS) throw tooManyVersions();
    const own = {
      name: name ?? before.name,
      description: description ?? before.description,
      channels: channels ?? before.channels,
      archived: archived ?? before.archived,
    };
    checkChannels(own.channels, version);
    if (own.archived !== before.archived) await this.checkArchiving(auth, tx, slug, own.archived);
    if (!own.archived && (before.archived || channels !== undefined)) {
      await this.rules.hold(auth, tx, definition);
      const older = new Set(Object.values(own.channels).filter((one) => one < version));
      for (const agentVersion of older) {
        const [one] = await tx.run(DEFINITION_OF({ agentId: before.id, agentVersion }));
        if (one !== undefined) await this.rules.hold(auth, tx, one.definition);
      }
    }
    const isDefault = (wanted ?? before.default) && !own.archived;
    if (wanted === true && own.archived) {
      throw new ApiError('invalid_field', 'default: an agent that is archived is none of new tasks.', {
        param: 'default',
      });
    }
    if (Object.entries(given).every(([key, value]) => key === 'version' || value === undefined)) return before;
    if (!same) {
      await tx.run(ADD_VERSION({ auth, id: before.id, version, definition: JSON.stringify(definition) }));
    }
    if (isDefault !== before.default) await tx.run(SET_DEFAULT({ auth, slug: isDefault ? slug : null }));
    const fields = { ...own, version, updatedAt: () => 'now()' };
    await tx.manager.getRepository(Agent).update({ id: before.id }, fields);
    return read(auth, tx, slug);
  }

  /** Away, unless an automation would fire in vain; and back, unless there are too many by now. */
  private async checkArchiving(auth: AuthContext, tx: UnitOfWork, slug: string, archived: boolean): Promise<void> {
    if (!archived) return checkCount((await tx.run(OTHERS({ auth, slug })))[0]?.count ?? 0);
    if ((await tx.run(IN_USE({ auth, slug }))).length === 0) return;
    const message = 'An active automation names this agent; pause it, or let it name another one, first.';
    throw new ApiError('agent_in_use', message);
  }

  private async checkThere(auth: AuthContext, slug: string): Promise<void> {
    if ((await this.database.read.run(EXISTS({ auth, slug }))).length === 0) return missing();
  }
}

/** What the tasks of others are told too that name no agent. Throws 403 `role_not_allowed`. */
function requireForAll(auth: AuthContext): void {
  if (auth.seesEverything) return;
  const message = 'Only an owner or admin of the workspace sets its default agent, and changes the one that is.';
  throw new ApiError('role_not_allowed', message);
}

/** @param newest the version that the agent has after this. Throws 400. */
function checkChannels(channels: Record<string, number>, newest: number): void {
  const wrong = Object.keys(channels).find((name) => (channels[name] ?? 0) > newest);
  if (wrong === undefined) return;
  const param = `channels.${wrong}`;
  throw new ApiError('invalid_field', `${param} must be a version that there is: 1 to ${newest}.`, { param });
}

/** The caller holds the workspace. */
async function checkOthers(auth: AuthContext, tx: UnitOfWork, slug: string): Promise<void> {
  const [others = { count: 0, taken: false }] = await tx.run(OTHERS({ auth, slug }));
  if (others.taken) throw new ApiError('agent_exists', `The workspace has an agent ${slug} already; change that one.`);
  checkCount(others.count);
}

function checkCount(count: number): void {
  if (count < MOST) return;
  throw new ApiError('too_many_agents', `A workspace has at most ${MOST} agents; archive one first.`);
}

function conflict({ version }: AgentRow): ApiError {
  const message = `The agent is at version ${version} by now; read it, and send your change with that version.`;
  return new ApiError('version_conflict', message, { param: 'version' });
}

function tooManyVersions(): ApiError {
  const message = `An agent has at most ${MOST_VERSIONS} versions; make another agent of this one.`;
  return new ApiError('too_many_versions', message);
}

async function read(auth: AuthContext, tx: UnitOfWork, slug: string): Promise<AgentRow> {
  const [row] = await tx.run(GET({ auth, slug }));
  return row ?? missing();
}

function missing(): never {
  throw notFound('agent');
}
