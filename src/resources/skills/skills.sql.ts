// The statements of skills. Locks are taken in the order membership, workspace, skill, file; a task that is made takes its project first, with a
// lock that a delete of a skill does not wait for.
import { HELD_MEMBER, USER, WORKSPACE } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { bigint, bool, int, intOrNull, raw, sql, text, texts, uuid } from '../../platform/database/sql.js';
import { newestFirst } from '../../platform/http/pages.js';
import { TAKEN } from '../agents/named-by-agents.sql.js';
import { StoredFile } from '../files/file.entity.js';
import { room } from '../files/storage-quota.sql.js';
import { Skill, SkillVersion } from './skill.entity.js';

const SKILL = columns(Skill, 's', ['id', 'name', 'version', 'default', 'createdById', 'createdAt', 'updatedAt']);
const NEWEST = columns(SkillVersion, 'v', ['description', 'files', 'bytes']);
const ZIP = columns(StoredFile, 'f', ['sha256']);
/** A skill with what its newest version is, and the name of who made it. */
export type SkillRow = typeof SKILL.row & typeof NEWEST.row & typeof ZIP.row & { createdByName: string };

const ID = uuid('id');
const NAME = text('name');
const SELECT = sql`
SELECT ${SKILL}, ${NEWEST}, ${ZIP}, u.name AS "createdByName"
FROM skills s JOIN skill_versions v ON v.skill_id = s.id AND v.version = s.version JOIN files f ON f.id = v.file_id
JOIN users u ON u.id = s.created_by`;
const OWN = sql`s.workspace_id = ${WORKSPACE}`;
const ONE = sql`${OWN} AND s.id = ${ID}`;

export const GET = sql`${SELECT} WHERE ${ONE}`.rows<SkillRow>();
export const LIST = sql`${SELECT} WHERE ${OWN} ${newestFirst('s')}`.rows<SkillRow>();
/** A row when the workspace has it. */
export const EXISTS = sql`SELECT 1 FROM skills s WHERE ${ONE}`.rows();

const VERSION = columns(SkillVersion, 'v', ['version', 'description', 'files', 'bytes', 'createdById', 'createdAt']);
/** With the name of who made it. */
export type VersionRow = typeof VERSION.row & typeof ZIP.row & { createdByName: string };
const AFTER = intOrNull('after');
/** The newest first. */
export const VERSIONS = sql`
SELECT ${VERSION}, ${ZIP}, u.name AS "createdByName" FROM skills s JOIN skill_versions v ON v.skill_id = s.id JOIN files f ON f.id = v.file_id
JOIN users u ON u.id = v.created_by WHERE ${ONE} AND (${AFTER} IS NULL OR v.version < ${AFTER})
ORDER BY v.version DESC LIMIT ${int('limit')}`.rows<VersionRow>();

const CONTENT = columns(StoredFile, 'f', ['id', 'workspaceId', 'mediaType', 'size', 'sha256', 'createdAt']);
/** Of a version; of the newest one where none is given. */
export const ZIP_OF = sql`
SELECT ${CONTENT}, s.name AS skill, v.version FROM skills s JOIN skill_versions v ON v.skill_id = s.id JOIN files f ON f.id = v.file_id
WHERE ${ONE} AND v.version = coalesce(${intOrNull('version')}, s.version)`.rows<
  typeof CONTENT.row & { skill: string; version: number }
>();

/** One after the other, so that two of them do not both count one too few, or make one version. */
export const LOCK_WORKSPACE = sql`
WITH ${HELD_MEMBER}
SELECT 1 FROM workspaces w, member WHERE w.id = ${WORKSPACE} FOR NO KEY UPDATE OF w`.rows();
/** How many the workspace has, and has by default. */
export const COUNT = sql`
SELECT count(*)::int AS count, count(*) FILTER (WHERE s.is_default)::int AS defaults FROM skills s WHERE ${OWN}`.rows<{
  count: number;
  defaults: number;
}>();

const LOCKED = columns(Skill, 's', ['id', 'name', 'version', 'default', 'createdById']);
export type LockedSkill = typeof LOCKED.row;
/** Until the transaction ends it gets no other version. The row alone: after a wait for it what a join had found would be of the old one. */
export const LOCK_NAMED =
  sql`SELECT ${LOCKED} FROM skills s WHERE ${OWN} AND s.name = ${NAME} FOR NO KEY UPDATE`.rows<LockedSkill>();
export const LOCK_TO_CHANGE = sql`SELECT ${LOCKED} FROM skills s WHERE ${ONE} FOR NO KEY UPDATE`.rows<LockedSkill>();
/** As {@link LOCK_TO_CHANGE}; besides, no task and no automation begins to use it. */
export const LOCK_TO_DELETE = sql`SELECT ${LOCKED} FROM skills s WHERE ${ONE} FOR UPDATE`.rows<LockedSkill>();
/** What its newest version is a zip of. */
export const NEWEST_ZIP = sql`
SELECT f.sha256 FROM skill_versions v JOIN files f ON f.id = v.file_id WHERE v.skill_id = ${ID} AND v.version = ${int('version')}`.rows<{
  sha256: string;
}>();

const SIZE = bigint('size');
/** No row when the bytes do not fit. */
export const ADD_FILE = sql`
WITH ${room(WORKSPACE, SIZE)}
INSERT INTO files (id, workspace_id, origin, name, media_type, size, sha256, created_by)
SELECT ${ID}, ${WORKSPACE}, 'skill', ${NAME}, 'application/zip', ${SIZE}, ${text('sha256')}, ${USER} FROM room
RETURNING 1`.rows();
/** The caller holds the skill. */
export const DELETE_FILES = sql`
DELETE FROM files WHERE id IN (SELECT file_id FROM skill_versions WHERE skill_id = ${ID})`.rows();

/**
 * An automation that names the skill, with or without a version, whoever sees it, or an agent that takes tasks: as its newest version, or one that a channel names. Whatever else comes to name skills, and has to keep them, is one more
 * part of this.
 */
export const IN_USE = sql`
SELECT a.name FROM automations a
WHERE a.workspace_id = ${WORKSPACE} AND EXISTS (SELECT 1 FROM unnest(a.skills) n WHERE split_part(n, '@', 1) = ${NAME})
UNION ALL
SELECT a.name FROM ${TAKEN} AND json_typeof(v.definition -> 'skills') = 'array'
  AND EXISTS (SELECT 1 FROM json_array_elements_text(v.definition -> 'skills') n WHERE split_part(n, '@', 1) = ${NAME})
LIMIT 1`.rows<{ name: string }>();

/** For a new task, or an automation: until the transaction ends they do not go, nor any version of them. By name, as everybody locks several. */
export const HOLD = sql`
SELECT s.id, s.name, s.version FROM skills s WHERE ${OWN} AND s.name = ANY(${texts('names')}) ORDER BY s.name FOR KEY SHARE`.rows<HeldSkill>();
export interface HeldSkill {
  id: string;
  name: string;
  /** The newest one. */
  version: number;
}

/** What a new task has: the skills that are given, which the caller holds, or those of its workspace that are so by default. As it stands in its row. */
export const SKILLS_OF_TASK = sql`
CASE WHEN ${bool('takesDefaultSkills')} THEN (
  SELECT coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name, 'version', s.version) ORDER BY s.name), '[]')
  FROM skills s WHERE ${OWN} AND s.is_default) ELSE ${text('skills')}::jsonb END`;

/** The skills of a task `t` that are still there, as a list in JSON, for who lays them in. */
export const ZIPS_OF_TASK = raw(`CASE WHEN t.skills <> '[]' THEN (
    SELECT json_agg(json_build_object('name', g.one ->> 'name', 'description', v.description, 'sha256', f.sha256) ORDER BY g.n)
    FROM jsonb_array_elements(t.skills) WITH ORDINALITY AS g(one, n)
      JOIN skill_versions v ON v.skill_id = (g.one ->> 'id')::uuid AND v.version = (g.one ->> 'version')::int JOIN files f ON f.id = v.file_id)
  END`);
