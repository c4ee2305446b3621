import { useQuery } from '@tanstack/react-query';
import { environmentsQuery } from '../../api/environment-queries.ts';
import { projectsQuery } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/form.tsx';

/** What stands for none where the project has one: no slug begins with a dash. */
export const NO_ENVIRONMENT = '-';

/** What a task begins with, or the tasks of a project or an automation: a slug, or `slug@version`. There is nothing to choose where the workspace has no environment. */
export function EnvironmentSelect({
  projectId,
  said,
  value,
  inherits = false,
  onChange,
}: {
  /** Of the task; empty for none. */
  projectId: string;
  said: string | null;
  value: string;
  /** Whether it always takes that of the project where nothing is chosen. */
  inherits?: boolean;
  onChange: (value: string) => void;
}) {
  const texts = t.environmentField;
  const reads = useCan()('projects:read');
  const { data: environments = [] } = useQuery({ ...environmentsQuery, enabled: reads });
  const { data: projects = [] } = useQuery({ ...projectsQuery, enabled: reads });
  if (environments.length === 0 && value === '') return null;
  const ofProject = projects.find(({ id }) => id === projectId)?.environment ?? null;
  const nameOf = (slug: string) => environments.find((one) => one.slug === slug)?.name ?? texts.unknown(slug);
  const wordsOf = (one: string) => {
    const [slug = '', version] = one.split('@');
    return version === undefined ? nameOf(slug) : texts.at(nameOf(slug), Number(version));
  };
  const chosen = value === NO_ENVIRONMENT && ofProject === null ? '' : value;
  const unknown = chosen !== '' && chosen !== NO_ENVIRONMENT && !environments.some(({ slug }) => slug === chosen);
  return (
    <Choice
      label={texts.label}
      said={said}
      value={chosen}
      onChange={onChange}
      options={[
        ['', ofProject === null ? texts.none : texts.ofProject(nameOf(ofProject))],
        ...(ofProject === null || inherits ? [] : [[NO_ENVIRONMENT, texts.none] as const]),
        ...(unknown ? [[chosen, wordsOf(chosen)] as const] : []),
        ...environments.map(({ slug, name }) => [slug, name] as const),
      ]}
    />
  );
}
