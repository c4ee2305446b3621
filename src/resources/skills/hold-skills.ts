import type { Actor } from '../../access/auth/auth-context.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { notFound } from '../../platform/http/api-error.js';
import type { TaskSkill } from '../tasks/task.entity.js';
import { namedSkills } from './skill-choice.dto.js';
import { HOLD } from './skills.sql.js';

/** The versions that some choices name, which stay until the transaction ends. Throws 404 with `param` for the first that the workspace has not. */
export async function holdSkills(auth: Actor, tx: UnitOfWork, choices: readonly string[]): Promise<TaskSkill[]> {
  if (choices.length === 0) return [];
  const named = namedSkills(choices);
  const held = await tx.run(HOLD({ auth, names: named.map(({ name }) => name) }));
  return named.map(({ name, version }, at) => {
    const param = `skills[${at}]`;
    const skill = held.find((one) => one.name === name);
    if (skill === undefined) throw notFound('skill', param);
    // They are counted from 1, and none of them goes alone.
    if (version !== null && version > skill.version) throw notFound(`version of the skill ${name}`, param);
    return { id: skill.id, name, version: version ?? skill.version };
  });
}
