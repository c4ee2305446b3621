import { useQuery } from '@tanstack/react-query';
import { secretsQuery } from '../../../api/secret-queries.ts';
import { useCan } from '../../../shell/can.ts';
import { t } from '../../../texts/index.ts';
import { Check, form as parts, Group, named } from '../../../ui/form.tsx';
import { NothingYet } from '../../../ui/nothing.tsx';

/**
 * Names of secrets, of those that the session sees: which of several of one name a task has, its owner decides. One that is not there stays until it is
 * taken away.
 */
export function SecretNames({
  label,
  hint,
  names,
  onChange,
  said,
}: {
  label: string;
  hint: string;
  names: string[];
  onChange: (names: string[]) => void;
  said: string | null;
}) {
  const texts = t.secretNames;
  const reads = useCan()('automations:read');
  const { data, error, refetch } = useQuery({ ...secretsQuery, enabled: reads });
  const there = new Set((data ?? []).map(({ name }) => name));
  const shown = [...new Set([...there, ...names])].sort();
  return (
    <Group label={label}>
      <p className={parts.hint}>{hint}</p>
      {!reads && <p className={parts.hint}>{texts.unseen}</p>}
      {reads && data === undefined && <NothingYet error={error} refetch={refetch} h={24} />}
      {data !== undefined && shown.length === 0 && <p className={parts.hint}>{texts.none}</p>}
      <div className={parts.choices}>
        {shown.map((name) => (
          <Check
            key={name}
            checked={names.includes(name)}
            onChange={(on) => onChange(on ? [...names, name] : names.filter((one) => one !== name))}
          >
            <code>{name}</code>
            {data !== undefined && !there.has(name) && <small>{texts.notThere}</small>}
          </Check>
        ))}
      </div>
      {said !== null && (
        <p className={parts.bad} role="alert">
          {named(said, label)}
        </p>
      )}
    </Group>
  );
}
