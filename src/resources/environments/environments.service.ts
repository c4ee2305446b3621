import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { newId } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import type { ChangeEnvironmentDto, CreateEnvironmentDto } from './environment.dto.js';
import { Environment, EnvironmentVersion } from './environment.entity.js';
import { EnvironmentRules, isSame } from './environment-rules.js';
import {
  BUILDS,
  type EnvironmentRow,
  EXISTS,
  GET,
  GET_VERSION,
  IN_USE,
  LIST,
  LOCK_TO_CHANGE,
  LOCK_TO_DELETE,
  LOCK_WORKSPACE,
  OTHERS,
  type VersionRow,
  VERSIONS,
} from './environments.sql.js';

/** Environments of one workspace. */
const MOST = 50;

/** The environments of a workspace, as clients see and change them (reference §25). */
@Injectable()
export class EnvironmentsService {
  constructor(
    private readonly database: Database,
    private readonly rules: EnvironmentRules,
  ) {}

  /** Throws 404 unless the workspace has it, as everything here that takes a slug. */
  async get(auth: AuthContext, slug: string): Promise<EnvironmentRow> {
    const [row] = await this.database.read.run(GET({ auth, slug }));
    return row ?? missing();
  }

  /** Newest first. */
  async list(auth: AuthContext, page: PageRequest) {
    return page.cut(await this.database.read.run(LIST({ auth, ...page.place })), byCreation);
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
    throw notFound('version of this environment');
  }

  /** Newest first. */
  async builds(auth: AuthContext, slug: string, page: PageRequest) {
    const rows = await this.database.read.run(BUILDS({ auth, slug, ...page.place }));
    if (rows.length === 0) await this.checkThere(auth, slug);
    return page.cut(rows, byCreation);
  }

  /**
   * Throws 400 for what the operator does not allow, 403 `role_not_allowed`, 409 for a slug that is taken and for one too many.
   */
  async create(auth: AuthContext, tx: UnitOfWork, given: CreateEnvironmentDto): Promise<EnvironmentRow> {
    requireWriter(auth);
    const { slug, name = slug, ...options } = given;
    const definition = await this.rules.checked(auth, options);
    await tx.run(LOCK_WORKSPACE({ auth }));
    await checkOthers(auth, tx, slug);
    const { workspaceId, userId: createdById } = auth;
    const id = newId();
    await tx.manager.getRepository(Environment).insert({ id, workspaceId, slug, name, createdById });
    await this.addVersion(auth, tx, { id, version: 1 }, definition);
    return read(auth, tx, slug);
  }

  /** Changes what is given. Another definition is the next version; the same one, and a name, are none. Throws as {@link create}. */
  async change(auth: AuthContext, tx: UnitOfWork, slug: string, given: ChangeEnvironmentDto): Promise<EnvironmentRow> {
    await tx.run(LOCK_TO_CHANGE({ auth, slug }));
    const before = await read(auth, tx, slug);
    requireWriter(auth);
    const { name = before.name, ...options } = given;
    const definition = await this.rules.checked(auth, options, before.definition);
    const same = isSame(definition, before.definition);
    if (same && name === before.name) return before;
    const version = same ? before.version : before.version + 1;
    if (!same) await this.addVersion(auth, tx, { id: before.id, version }, definition);
    const fields = { name, version, updatedAt: () => 'now()' };
    await tx.manager.getRepository(Environment).update({ id: before.id }, fields);
    return read(auth, tx, slug);
  }

  /** With its versions and builds. Resolves with its id. Throws 409 `environment_in_use` while a task that has not ended works in it. */
  async remove(auth: AuthContext, tx: UnitOfWork, slug: string): Promise<string> {
    const [before] = await tx.run(LOCK_TO_DELETE({ auth, slug }));
    if (before === undefined) return missing();
    requireWriter(auth);
    const [use] = await tx.run(IN_USE({ auth, id: before.id, slug }));
    if (use !== undefined) {
      const message =
        use.by === 'task'
          ? 'A task that has not ended works in this environment; cancel it, or wait until it has ended.'
          : `The agent ${use.name ?? ''} names this environment; change or archive the agent first.`;
      throw new ApiError('environment_in_use', message);
    }
    await tx.manager.getRepository(Environment).delete({ id: before.id });
    return before.id;
  }

  private async addVersion(
    auth: AuthContext,
    tx: UnitOfWork,
    { id: environmentId, version }: { id: string; version: number },
    definition: EnvironmentVersion['definition'],
  ): Promise<void> {
    const fields = { environmentId, version, definition, createdById: auth.userId };
    await tx.manager.getRepository(EnvironmentVersion).insert(fields);
  }

  private async checkThere(auth: AuthContext, slug: string): Promise<void> {
    if ((await this.database.read.run(EXISTS({ auth, slug }))).length === 0) return missing();
  }
}

/** Hosts and secrets widen what a task may do. Throws 403 `role_not_allowed`; viewers are refused by the route. */
export function requireWriter(auth: AuthContext): void {
  if (auth.credentialType !== 'personal_api_key') {
    throw new ApiError('role_not_allowed', 'This takes a personal key; a service account has none.');
  }
  if (auth.seesEverything) return;
  throw new ApiError('role_not_allowed', 'Only an owner or admin of the workspace does this with an environment.');
}

/** The caller holds the workspace. */
async function checkOthers(auth: AuthContext, tx: UnitOfWork, slug: string): Promise<void> {
  const [others = { count: 0, taken: false }] = await tx.run(OTHERS({ auth, slug }));
  if (others.taken) {
    throw new ApiError('environment_exists', `The workspace has an environment ${slug} already; change that one.`);
  }
  if (others.count >= MOST) {
    const message = `A workspace has at most ${MOST} environments; delete one first.`;
    throw new ApiError('too_many_environments', message);
  }
}

async function read(auth: AuthContext, tx: UnitOfWork, slug: string): Promise<EnvironmentRow> {
  const [row] = await tx.run(GET({ auth, slug }));
  return row ?? missing();
}

function missing(): never {
  throw notFound('environment');
}
