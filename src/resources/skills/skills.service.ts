import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { recordStream } from '../../access/audit/sender.js';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { SkillError } from '../../engine/skills/skill-file.js';
import { Database } from '../../platform/database/database.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { KeyedSemaphore } from '../../platform/fairness/keyed-semaphore.js';
import { SKILL_ZIPS } from '../../platform/fairness/shares.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import { StorageQuota } from '../files/storage-quota.js';
import { FileStorage, type PutFile } from '../files/storage/file-storage.js';
import { UploadsService } from '../files/uploads.service.js';
import { MOST_SKILLS } from './skill-choice.dto.js';
import type { ChangeSkillDto } from './skill.dto.js';
import { Skill, SkillVersion } from './skill.entity.js';
import { MAX_ZIP, readSkillZip, type SkillZip } from './skill-zip.js';
import {
  ADD_FILE,
  COUNT,
  DELETE_FILES,
  EXISTS,
  GET,
  IN_USE,
  LIST,
  LOCK_NAMED,
  LOCK_TO_CHANGE,
  LOCK_TO_DELETE,
  LOCK_WORKSPACE,
  type LockedSkill,
  NEWEST_ZIP,
  type SkillRow,
  VERSIONS,
  ZIP_OF,
} from './skills.sql.js';

/** Skills of one workspace. */
const MOST = 200;

/** The skills of a workspace, as clients see and change them (reference §27). */
@Injectable()
export class SkillsService {
  private readonly readings = new KeyedSemaphore(SKILL_ZIPS);

  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly uploads: UploadsService,
    private readonly storage: FileStorage,
    private readonly quota: StorageQuota,
  ) {}

  /** Throws 404 unless the workspace has it, as everything here that takes an id. */
  async get(auth: AuthContext, id: string): Promise<SkillRow> {
    const [row] = isUuid(id) ? await this.database.read.run(GET({ auth, id })) : [];
    return row ?? missing();
  }

  /** Newest first. */
  async list(auth: AuthContext, page: PageRequest) {
    return page.cut(await this.database.read.run(LIST({ auth, ...page.place })), byCreation);
  }

  /** Newest first. */
  async versions(auth: AuthContext, id: string, page: PageRequest) {
    const [after] = page.after ?? [];
    const place = { after: after === undefined ? null : Number(after), limit: page.limit + 1 };
    const rows = isUuid(id) ? await this.database.read.run(VERSIONS({ auth, id, ...place })) : [];
    if (rows.length === 0) await this.checkThere(auth, id);
    return page.cut(rows, ({ version }) => [`${version}`]);
  }

  /** The zip of a version, or of the newest one. Throws 404 for a version too. */
  async zip(auth: AuthContext, id: string, version: number | null) {
    const [found] = isUuid(id) ? await this.database.read.run(ZIP_OF({ auth, id, version })) : [];
    if (found !== undefined) return { ...found, name: `${found.skill}-${found.version}.zip` };
    await this.checkThere(auth, id);
    throw notFound('version of this skill');
  }

  /**
   * Takes in a form with a zip: a skill, or the next version of the one with its name. The zip that its newest version has already makes none. Throws
   * 400 `invalid_skill`, 403, 409 `too_many_skills`, and as {@link UploadsService.receive} does.
   */
  async push(auth: AuthContext, request: Request): Promise<SkillRow> {
    const tooLong = new ApiError('too_large', `The zip of a skill may have at most ${MAX_ZIP} bytes.`);
    const most = { maxBytes: MAX_ZIP, tooLong };
    return this.uploads.receive(auth, request, (stored) => this.keep(auth, request, stored), most);
  }

  /** Changes what is given. Throws 403 unless the caller is an owner or admin: what is so by default is in the tasks of others. */
  async change(auth: AuthContext, tx: UnitOfWork, id: string, given: ChangeSkillDto): Promise<SkillRow> {
    if (isUuid(id)) await tx.run(LOCK_WORKSPACE({ auth }));
    const [before] = isUuid(id) ? await tx.run(LOCK_TO_CHANGE({ auth, id })) : [];
    if (before === undefined) return missing();
    requireForAll(auth);
    if (given.default !== undefined && given.default !== before.default) {
      if (given.default) await checkDefaults(auth, tx);
      const fields = { default: given.default, updatedAt: () => 'now()' };
      await tx.manager.getRepository(Skill).update({ id }, fields);
    }
    return read(auth, tx, id);
  }

  /** With its versions; tasks go on without it. Throws 403, and 409 `skill_in_use` while an automation or an agent names it. */
  async remove(auth: AuthContext, tx: UnitOfWork, id: string): Promise<void> {
    const [before] = isUuid(id) ? await tx.run(LOCK_TO_DELETE({ auth, id })) : [];
    if (before === undefined) return missing();
    auth.requireOwnership(before.createdById, 'skill');
    if ((await tx.run(IN_USE({ auth, name: before.name }))).length > 0) {
      throw new ApiError(
        'skill_in_use',
        'An automation or an agent of the workspace names this skill; change that one first.',
      );
    }
    await tx.run(DELETE_FILES({ id }));
    await tx.manager.getRepository(Skill).delete({ id });
  }

  private async keep(auth: AuthContext, request: Request, stored: PutFile): Promise<SkillRow> {
    const zip = await this.read(auth.workspaceId, stored.sha256);
    return this.transactions.open(async (tx) => {
      if ((await tx.run(LOCK_WORKSPACE({ auth }))).length === 0) return missing();
      const [known] = await tx.run(LOCK_NAMED({ auth, name: zip.name }));
      if (known !== undefined) auth.requireOwnership(known.createdById, 'skill');
      else await checkCount(auth, tx);
      if (known !== undefined && (await isNewest(tx, known, stored))) return read(auth, tx, known.id);
      if (known?.default === true) requireForAll(auth);
      const fileId = newId();
      const { limits } = this.quota;
      const { size, sha256 } = stored;
      const added = await tx.run(ADD_FILE({ auth, limits, id: fileId, name: `${zip.name}.zip`, size, sha256 }));
      if (added.length === 0) throw await this.quota.refusal(auth.workspaceId, size);
      const id = await addVersion(auth, tx, known ?? null, zip, fileId);
      await recordStream(tx, request, known === undefined ? 'skill.create' : 'skill.update', { type: 'skill', id });
      return read(auth, tx, id);
    });
  }

  /** In turns: it has the whole zip in memory. */
  private async read(workspaceId: string, sha256: string): Promise<SkillZip> {
    const end = await this.readings.acquire(workspaceId);
    try {
      return await readSkillZip(await buffer((await this.storage.open(workspaceId, sha256)).stream));
    } catch (error) {
      if (!(error instanceof SkillError)) throw error;
      const message = error.message.charAt(0).toUpperCase() + error.message.slice(1);
      throw new ApiError('invalid_skill', message, { param: 'file', cause: error });
    } finally {
      end();
    }
  }

  private async checkThere(auth: AuthContext, id: string): Promise<void> {
    if (!isUuid(id) || (await this.database.read.run(EXISTS({ auth, id }))).length === 0) return missing();
  }
}

/** What the tasks of others are told too. Throws 403 `role_not_allowed`. */
function requireForAll(auth: AuthContext): void {
  if (auth.seesEverything) return;
  const message =
    'Only an owner or admin of the workspace gives a skill to all tasks, and another version to one that they have.';
  throw new ApiError('role_not_allowed', message);
}

/** Resolves with the id of the skill. */
async function addVersion(
  { workspaceId, userId: createdById }: AuthContext,
  tx: UnitOfWork,
  known: LockedSkill | null,
  { name, description, files, bytes }: SkillZip,
  fileId: string,
): Promise<string> {
  const skillId = known?.id ?? newId();
  const version = (known?.version ?? 0) + 1;
  const skills = tx.manager.getRepository(Skill);
  if (known === null) await skills.insert({ id: skillId, workspaceId, name, createdById });
  else await skills.update({ id: skillId }, { version, updatedAt: () => 'now()' });
  const fields = { skillId, version, description, files, bytes, fileId, createdById };
  await tx.manager.getRepository(SkillVersion).insert(fields);
  return skillId;
}

async function isNewest(tx: UnitOfWork, { id, version }: LockedSkill, { sha256 }: PutFile): Promise<boolean> {
  const [newest] = await tx.run(NEWEST_ZIP({ id, version }));
  return newest?.sha256 === sha256;
}

/** The caller holds the workspace. */
async function checkCount(auth: AuthContext, tx: UnitOfWork): Promise<void> {
  const [{ count } = { count: 0 }] = await tx.run(COUNT({ auth }));
  if (count < MOST) return;
  throw new ApiError('too_many_skills', `A workspace has at most ${MOST} skills; delete one first.`);
}

/** The caller holds the workspace. */
async function checkDefaults(auth: AuthContext, tx: UnitOfWork): Promise<void> {
  const [{ defaults } = { defaults: 0 }] = await tx.run(COUNT({ auth }));
  if (defaults < MOST_SKILLS) return;
  throw new ApiError('too_many_skills', `At most ${MOST_SKILLS} skills are so by default; take it from another first.`);
}

async function read(auth: AuthContext, tx: UnitOfWork, id: string): Promise<SkillRow> {
  const [row] = await tx.run(GET({ auth, id }));
  return row ?? missing();
}

function missing(): never {
  throw notFound('skill');
}
