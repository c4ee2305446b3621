import { useQuery } from '@tanstack/react-query';
import { agentStatsQuery } from '../../api/agent-queries.ts';
import type { AgentStats } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { count } from '../../ui/format.ts';
import { Loaded, Section } from '../../ui/records.tsx';
import { form as parts } from '../../ui/form.tsx';
import { Table } from '../../ui/table.tsx';

const w = t.agents;

export function Stats({ slug }: { slug: string }) {
  const query = useQuery(agentStatsQuery(slug));
  return (
    <Section title={w.stats} about={w.statsAbout}>
      <Loaded query={query}>
        {({ versions }) =>
          versions.length === 0 ? <p className={parts.hint}>{w.noStats}</p> : <Figures label={w.stats} of={versions} />
        }
      </Loaded>
    </Section>
  );
}

/** What tasks of versions came to, side by side. */
export const Figures = ({ label, of }: { label: string; of: AgentStats['versions'] }) => (
  <Table label={label} head={Object.values(w.columns)}>
    {of.map((one) => {
      const { passed, failed: unfit } = one.checks;
      const failed = Object.entries(one.failed);
      return (
        <tr key={one.version}>
          <th scope="row">{one.version}</th>
          <td>{count(one.tasks)}</td>
          <td>{count(one.completed)}</td>
          <td>{failed.length === 0 ? '0' : w.failedBy(failed)}</td>
          <td>{passed + unfit === 0 ? w.none : `${count(passed)} / ${count(passed + unfit)}`}</td>
          <td>{count(one.questions)}</td>
          <td>{count(one.steps)}</td>
          <td>{count(one.inputTokens + one.outputTokens)}</td>
          <td>{one.cost === null ? w.none : `$${one.cost.amount}`}</td>
          <td>{one.minutes === null ? w.none : `${one.minutes.p50}, ${one.minutes.p90}`}</td>
        </tr>
      );
    })}
  </Table>
);
