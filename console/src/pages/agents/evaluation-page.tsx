import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { evaluationQuery } from '../../api/agent-queries.ts';
import { type Evaluation, isFinal } from '../../api/client.ts';
import { Page } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { form as parts } from '../../ui/form.tsx';
import { Back, Badge, Crumb, Loaded, records, Section } from '../../ui/records.tsx';
import { Table } from '../../ui/table.tsx';
import { Button, StatusLabel } from '../../ui/ui.tsx';
import { Figures } from './agent-stats.tsx';
import css from './agents.module.css';
import { evaluateOf, hrefOf } from './places.ts';

const w = t.evaluations;

export function EvaluationPage({ slug, id }: { slug: string; id: string }) {
  const query = useQuery(evaluationQuery(id));
  const [, navigate] = useLocation();
  const again = <Button onClick={() => navigate(evaluateOf(slug))}>{w.again}</Button>;
  return (
    <Page title={w.ofOne(slug)} beside={query.data !== undefined && again}>
      <Crumb to={hrefOf(slug)}>{slug}</Crumb>
      <Loaded query={query} gone={<Back to={hrefOf(slug)}>{slug}</Back>}>
        {(evaluation) => <One of={evaluation} />}
      </Loaded>
    </Page>
  );
}

function One({ of: { status, table, tasks, createdBy, createdAt } }: { of: Evaluation }) {
  const done = tasks.filter((one) => one.status === null || isFinal(one.status)).length;
  return (
    <>
      <p className={css.head} aria-live="polite">
        {status === 'running' ? (
          <Badge tone="busy">{w.running(done, tasks.length)}</Badge>
        ) : (
          <Badge tone="good">{w.over}</Badge>
        )}
        <span>
          {w.by(createdBy.name)} <Ago at={createdAt} />
        </span>
      </p>
      <Section title={w.result}>
        {table.length === 0 ? <p className={parts.hint}>{w.nothing}</p> : <Figures label={w.result} of={table} />}
      </Section>
      <Section title={w.each}>
        <Table label={w.each} head={Object.values(w.columns)}>
          {tasks.map(({ case: no, version, attempt, taskId, status: its }) => (
            <tr key={`${no} ${version} ${attempt}`}>
              <th scope="row">
                {taskId === null ? (
                  w.look(no + 1)
                ) : (
                  <Link className={records.link ?? ''} href={`/tasks/${taskId}`}>
                    {w.look(no + 1)}
                  </Link>
                )}
              </th>
              <td>{version}</td>
              <td>{attempt}</td>
              <td>{its === null ? w.deleted : <StatusLabel status={its} />}</td>
            </tr>
          ))}
        </Table>
      </Section>
    </>
  );
}
