import { useQuery } from '@tanstack/react-query';
import { projectsQuery } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Field } from '../../ui/form.tsx';
import { ui } from '../../ui/ui.tsx';

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
    <Field label={label} said={said}>
      {(control) => (
        <select {...control} className={ui.select} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{none}</option>
          {unknown && <option value={value}>{t.tasks.unknown}</option>}
          {projects.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
