import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Sealing } from '../../platform/config/sealing.js';
import { Database } from '../../platform/database/database.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import { Notices } from '../../platform/notices/notices.js';
import { ProjectsService } from '../projects/projects.service.js';
import { BindingRules, invalid } from './binding-rules.js';
import { type ChangeSecretDto, type CreateSecretDto, isFreeVariable } from './secret.dto.js';
import { ownerOfValue, Secret, type SecretScope } from './secret.entity.js';
import { GET, LIST, LOCK, LOCK_WORKSPACE, OTHERS, type SecretRow } from './secrets.sql.js';

/** Secrets of one workspace, of all scopes. */
export const MOST = 200;

/** The secrets of a workspace, of its projects and of its users, as clients see and change them (reference §24). */
@Injectable()
export class SecretsService {
  constructor(
    private readonly database: Database,
    private readonly projects: ProjectsService,
    private readonly bindings: BindingRules,
    private readonly sealing: Sealing,
    private readonly notices: Notices,
  ) {}

  /** Throws 404 unless the caller sees it, as everything here that takes an id. */
  async get(auth: AuthContext, id: string): Promise<SecretRow> {
    const [row] = isUuid(id) ? await this.database.read.run(GET({ auth, id })) : [];
    return row ?? missing();
  }

  /** Newest first. */
  async list(auth: AuthContext, page: PageRequest) {
    return page.cut(await this.database.read.run(LIST({ auth, ...page.place })), byCreation);
  }

  /**
   * Throws 400 for what cannot be used and a host that the operator does not allow, 403 `role_not_allowed`, 404 for a project that is not
   * there, 409 for a name that is taken and for one too many.
   */
  async create(auth: AuthContext, tx: UnitOfWork, given: CreateSecretDto): Promise<SecretRow> {
    const { name, scope = 'workspace', projectId = null, description = null, env = name } = given;
    requireWriter(auth, scope);
    if (scope === 'project' && projectId === null) throw invalid('projectId', 'is needed with the scope project');
    if (scope !== 'project' && projectId !== null) throw invalid('projectId', 'is for the scope project alone');
    checkVariable(env);
    const bindings = this.bindings.checked(given.bindings);
    if (projectId !== null && !(await this.projects.hold(auth, tx, projectId))) {
      throw notFound('project', 'projectId');
    }
    await tx.run(LOCK_WORKSPACE({ auth }));
    const others = await checkOthers(auth, tx, { name, env, scope, projectId, id: null });
    if (others >= MOST) {
      throw tooMany();
    }
    const id = newId();
    const value = this.sealing.seal(ownerOfValue(id), given.value);
    const { workspaceId, userId: createdBy } = auth;
    const userId = scope === 'user' ? auth.userId : null;
    const fields = { id, workspaceId, scope, projectId, userId, name, description, env, bindings, value, createdBy };
    await tx.manager.getRepository(Secret).insert(fields);
    return read(auth, tx, id);
  }

  /** Changes what is given; nothing given changes nothing. Throws as {@link create}. */
  async change(auth: AuthContext, tx: UnitOfWork, id: string, given: ChangeSecretDto): Promise<SecretRow> {
    // The workspace before the secret, as a create locks them.
    const { name = null, env = null } = given;
    if (name !== null || env !== null) await tx.run(LOCK_WORKSPACE({ auth }));
    const before = await lock(auth, tx, id);
    const { value, bindings, ...plain } = given;
    if (env !== null) checkVariable(env);
    if (name !== null || env !== null) await checkOthers(auth, tx, { ...before, name, env });
    const fresh = {
      ...(value === undefined ? {} : { value: this.sealing.seal(ownerOfValue(before.id), value) }),
      ...(bindings === undefined ? {} : { bindings: this.bindings.checked(bindings) }),
    };
    const version = Object.keys(fresh).length > 0 ? { version: before.version + 1 } : {};
    const fields = { ...plain, ...fresh, ...version };
    if (Object.values(fields).some((one) => one !== undefined)) {
      await tx.manager.getRepository(Secret).update({ id: before.id }, { ...fields, updatedAt: () => 'now()' });
      tx.afterCommit(() => this.notices.send({ secrets: auth.workspaceId }));
    }
    return read(auth, tx, before.id);
  }

  async remove(auth: AuthContext, tx: UnitOfWork, id: string): Promise<void> {
    const before = await lock(auth, tx, id);
    await tx.manager.getRepository(Secret).delete({ id: before.id });
    tx.afterCommit(() => this.notices.send({ secrets: auth.workspaceId }));
  }
}

/** Throws 403 `role_not_allowed`: a person alone, for others' tasks an owner or admin. Viewers are refused by the route. */
function requireWriter(auth: AuthContext, scope: SecretScope): void {
  if (auth.credentialType !== 'personal_api_key') {
    throw new ApiError('role_not_allowed', 'This takes a personal key; a service account has none.');
  }
  if (scope !== 'user' && !auth.seesEverything) {
    const message = `Only an owner or admin of the workspace does this with a secret of a ${scope}.`;
    throw new ApiError('role_not_allowed', message);
  }
}

/** Commands would have the placeholder of one of the two alone. */
export const takenVariable = (whose: string, holder: string, env: string): ApiError =>
  new ApiError('secret_exists', `${whose} a secret ${holder} whose variable is ${env} already; give another env.`);

export const tooMany = (): ApiError =>
  new ApiError('too_many_secrets', `A workspace has at most ${MOST} secrets; delete one first.`);

/** Throws 400 `invalid_field`. */
export function checkVariable(env: string): void {
  if (!isFreeVariable(env)) throw invalid('env', `must be another variable: the sandbox has ${env} for itself`);
}

/** How many secrets there are beside one. What is null of it is as it was. The caller holds the workspace. Throws 409 `secret_exists`. */
async function checkOthers(
  auth: AuthContext,
  tx: UnitOfWork,
  one: { name: string | null; env: string | null; scope: SecretScope; projectId: string | null; id: string | null },
): Promise<number> {
  const { name, env, scope, projectId, id } = one;
  const [others = { count: 0, taken: false, holder: null }] = await tx.run(
    OTHERS({ auth, name, env, scope, projectId, id }),
  );
  const whose = { workspace: 'The workspace has', project: 'The project has', user: 'You have' }[scope];
  if (others.taken) {
    throw new ApiError('secret_exists', `${whose} a secret ${name} already; change or delete that one.`);
  }
  if (others.holder !== null) throw takenVariable(whose, others.holder, env ?? '');
  return others.count;
}

/** One that the caller may change. */
async function lock(auth: AuthContext, tx: UnitOfWork, id: string): Promise<SecretRow> {
  const [row] = isUuid(id) ? await tx.run(LOCK({ auth, id })) : [];
  if (row === undefined) return missing();
  requireWriter(auth, row.scope);
  return row;
}

async function read(auth: AuthContext, tx: UnitOfWork, id: string): Promise<SecretRow> {
  const [row] = await tx.run(GET({ auth, id }));
  return row ?? missing();
}

function missing(): never {
  throw notFound('secret');
}
