import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { skillsQuery } from '../../../api/skill-queries.ts';
import { useCan } from '../../../shell/can.ts';
import { t } from '../../../texts/index.ts';
import { form as parts } from '../../../ui/form.tsx';
import { ChosenNames } from '../chosen-names.tsx';

/**
 * The skills of a task, or of the tasks of an automation or an agent: null for those by default. There is nothing to choose where the workspace has none. One that is not
 * there, or that is named in a version, stays until it is taken away.
 */
export function SkillFields({
  skills,
  onChange,
  said,
  otherwise = null,
}: {
  skills: string[] | null;
  onChange: (skills: string[] | null) => void;
  said: string | null;
  /** What stands there where the workspace has none. */
  otherwise?: ReactNode;
}) {
  const texts = t.skillField;
  const reads = useCan()('projects:read');
  const { data = [], isSuccess } = useQuery({ ...skillsQuery, enabled: reads });
  if (data.length === 0 && skills === null) return isSuccess ? otherwise : null;
  const there = new Set(data.map(({ name }) => name));
  const chosen = new Set(skills?.map((one) => one.split('@')[0]));
  const shown = [...(skills ?? []), ...data.map(({ name }) => name).filter((name) => !chosen.has(name))].sort();
  return (
    <ChosenNames
      texts={texts}
      names={skills}
      usual={data.filter((one) => one.default).map(({ name }) => name)}
      shown={shown}
      onChange={onChange}
      said={said}
      about={(name) => (there.has(name.split('@')[0] ?? '') ? undefined : texts.notThere)}
    >
      <p className={parts.hint}>{texts.namesHint}</p>
    </ChosenNames>
  );
}
