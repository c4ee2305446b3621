import { useQuery } from '@tanstack/react-query';
import { secretsQuery } from '../../../api/secret-queries.ts';
import { useCan } from '../../../shell/can.ts';
import { t } from '../../../texts/index.ts';
import { form as parts } from '../../../ui/form.tsx';
import { NothingYet } from '../../../ui/nothing.tsx';
import { NameChecks } from '../chosen-names.tsx';

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
    <NameChecks
      title={label}
      label={label}
      shown={shown}
      names={names}
      onChange={onChange}
      said={said}
      about={(name) => (data === undefined || there.has(name) ? undefined : texts.notThere)}
    >
      <p className={parts.hint}>{hint}</p>
      {!reads && <p className={parts.hint}>{texts.unseen}</p>}
      {reads && data === undefined && <NothingYet error={error} refetch={refetch} h={24} />}
      {data !== undefined && shown.length === 0 && <p className={parts.hint}>{texts.none}</p>}
    </NameChecks>
  );
}
