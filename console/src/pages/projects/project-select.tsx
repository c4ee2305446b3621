import { useQuery } from '@tanstack/react-query';
import { projectsQuery } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/form.tsx';

/** The field for a project, or none. A project that the reader does not see stays what it is. */
export function ProjectSelect({
  label,
  none,
  said,
  value,
  onChange,
}: {
  label: string;
  none: string;
  said: string | null;
  /** Its id; empty for none. */
  value: string;
  onChange: (projectId: string) => void;
}) {
  const can = useCan();
  const { data: projects = [] } = useQuery({ ...projectsQuery, enabled: can('projects:read') });
  const unknown = value !== '' && !projects.some(({ id }) => id === value);
  return (
    <Choice
      label={label}
      said={said}
      value={value}
      onChange={onChange}
      options={[
        ['', none],
        ...(unknown ? [[value, t.tasks.unknown] as const] : []),
        ...projects.map(({ id, name }) => [id, name] as const),
      ]}
    />
  );
}
