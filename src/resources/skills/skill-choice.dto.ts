import { IsOptional, ValidateBy } from 'class-validator';
import { SKILL_NAME } from '../../engine/skills/skill-file.js';
import { Documented } from '../../platform/http/documented.js';

/** How many a task may name. */
export const MOST_SKILLS = 20;
const CHOICE = /^(?<name>[a-z0-9-]{1,64})(@(?<version>[1-9]\d{0,8}))?$/;

/** A skill as a client names it: `name` for its newest version of the moment, or `name@3`. */
export interface NamedSkill {
  name: string;
  version: number | null;
}

/** Null for what names none. */
function asSkill(value: unknown): NamedSkill | null {
  const { name, version } = (typeof value === 'string' && CHOICE.exec(value)?.groups) || {};
  if (name === undefined || !SKILL_NAME.test(name)) return null;
  return { name, version: version === undefined ? null : Number(version) };
}

/** The choices in one form. Those that are none are left out: they were refused before. */
export function namedSkills(choices: readonly string[]): NamedSkill[] {
  return choices.flatMap((choice) => asSkill(choice) ?? []);
}

function areSkills(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > MOST_SKILLS) return false;
  const names = value.map((one) => asSkill(one)?.name);
  return !names.includes(undefined) && new Set(names).size === names.length;
}

/** A field that names skills, or is null. `description` stands in the document. */
export const ChoiceOfSkills =
  (description: string): PropertyDecorator =>
  (target, key): void => {
    const defaultMessage = () =>
      `$property must be at most ${MOST_SKILLS} different skills, each by its name or with a version: "release-notes@3"`;
    ValidateBy({ name: 'skills', validator: { validate: areSkills, defaultMessage } })(target, key);
    IsOptional()(target, key);
    const items = { type: 'string', pattern: CHOICE.source.replace(/\?<\w+>/g, '') };
    Documented({ description, type: 'array', items, maxItems: MOST_SKILLS, uniqueItems: true })(target, key);
  };
