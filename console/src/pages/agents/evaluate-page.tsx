import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { agentQuery, agentVersionsQuery, evaluationQuery } from '../../api/agent-queries.ts';
import { api, type Agent, type Task } from '../../api/client.ts';
import { endedQuery } from '../../api/list-queries.ts';
import { queryClient } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { useLater } from '../../shell/later.ts';
import { Page } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Check, Choice, form as parts, Group, TextField } from '../../ui/form.tsx';
import { Back, Crumb, Loaded, Note, records } from '../../ui/records.tsx';
import { Button, Failure, StatusLabel } from '../../ui/ui.tsx';
import css from './agents.module.css';
import { evaluationOf, hrefOf, LIST } from './places.ts';

const w = t.evaluations;
/** As the service takes them. */
const MOST_VERSIONS = 5;
const MOST_CASES = 50;
const TIMES = [1, 2, 3, 4, 5];

export function EvaluatePage({ slug }: { slug: string }) {
  const query = useQuery(agentQuery(slug));
  const can = useCan();
  return (
    <Page title={w.title(query.data?.name ?? slug)}>
      <Crumb to={hrefOf(slug)}>{query.data?.name ?? slug}</Crumb>
      <Loaded form query={query} gone={<Back to={LIST}>{t.agents.title}</Back>}>
        {(agent) => (can('tasks:write') && can('tasks:read') ? <Form agent={agent} /> : <Note>{w.readOnly}</Note>)}
      </Loaded>
    </Page>
  );
}

function Form({ agent: { slug, version: newest } }: { agent: Agent }) {
  const [, navigate] = useLocation();
  const { data = [], error } = useQuery(agentVersionsQuery(slug));
  const [versions, setVersions] = useState(() => (newest === 1 ? [1] : [newest, newest - 1]));
  const [tasks, setTasks] = useState<readonly Task[]>([]);
  const [repeat, setRepeat] = useState(1);
  const begin = useMutation({
    mutationFn: () => api.agents.evaluate(slug, { versions, cases: tasks.map(({ id }) => ({ taskId: id })), repeat }),
    onSuccess: (evaluation) => {
      queryClient.setQueryData(evaluationQuery(evaluation.id).queryKey, evaluation);
      navigate(evaluationOf(slug, evaluation.id), { replace: true });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin.mutate();
  };
  const made = versions.length * tasks.length * repeat;
  return (
    <form className={css.form} onSubmit={submit} noValidate aria-label={w.begin}>
      <p className={records.about}>{w.about}</p>
      <Group label={w.versions}>
        {error !== null && <Failure error={error} />}
        <div className={parts.choices}>
          {data.map(({ version }) => (
            <Check
              key={version}
              checked={versions.includes(version)}
              disabled={versions.length >= MOST_VERSIONS && !versions.includes(version)}
              onChange={(on) => setVersions(on ? [...versions, version] : versions.filter((one) => one !== version))}
            >
              {w.version(version, version === newest)}
            </Check>
          ))}
        </div>
      </Group>
      <Cases chosen={tasks} onChange={setTasks} />
      <Choice
        label={w.repeat}
        value={String(repeat)}
        onChange={(next) => setRepeat(Number(next))}
        options={TIMES.map((n) => [String(n), w.times(n)])}
      />
      {begin.error !== null && <Failure error={begin.error} />}
      <div className={records.actions}>
        {made > 0 && <span className={parts.hint}>{w.makes(made)}</span>}
        <Button look="ghost" onClick={() => navigate(hrefOf(slug))}>
          {t.common.cancel}
        </Button>
        <Button type="submit" look="primary" disabled={made === 0 || begin.isPending}>
          {begin.isPending ? w.starting : w.start}
        </Button>
      </div>
    </form>
  );
}

/** Those that are chosen stay in sight, whatever is searched for. */
function Cases({ chosen, onChange }: { chosen: readonly Task[]; onChange: (tasks: readonly Task[]) => void }) {
  const [text, setText] = useState('');
  const words = useLater(text.trim());
  const query = useQuery(endedQuery(words));
  const ids = new Set(chosen.map(({ id }) => id));
  return (
    <Group label={w.tasks}>
      <TextField type="search" label={w.search} value={text} onChange={setText} />
      <Loaded query={query}>
        {(found) => {
          const shown = [...chosen, ...found.filter(({ id }) => !ids.has(id))];
          if (shown.length === 0) return <p className={parts.hint}>{words === '' ? w.noTasks : w.noneFound}</p>;
          return (
            <div className={css.cases}>
              {shown.map((task) => (
                <Check
                  key={task.id}
                  checked={ids.has(task.id)}
                  disabled={ids.size >= MOST_CASES && !ids.has(task.id)}
                  onChange={(on) => onChange(on ? [...chosen, task] : chosen.filter(({ id }) => id !== task.id))}
                >
                  {task.title}{' '}
                  <small className={parts.hint}>
                    <StatusLabel status={task.status} /> <Ago at={task.createdAt} />
                    {task.checks.status !== 'none' && ` · ${w.checked}`}
                  </small>
                </Check>
              ))}
            </div>
          );
        }}
      </Loaded>
    </Group>
  );
}
