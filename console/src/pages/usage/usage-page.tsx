import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { usageQuery, type UsageGroup } from '../../api/account-queries.ts';
import type { UsageRow } from '../../api/client.ts';
import { useCan } from '../../shell/can.ts';
import { Page, RefusedPage } from '../../shell/shell.tsx';
import { useParam } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import { Chart } from '../../ui/chart.tsx';
import { count, dayOfUtc, money } from '../../ui/format.ts';
import { Button, Empty, Failure, Segmented, Skeleton } from '../../ui/ui.tsx';
import { costOf, lastDays, type Total, totalOf } from './figures.ts';
import { Plan } from './plan.tsx';
import { UsageTable } from './usage-table.tsx';
import own from './usage.module.css';

const RANGES = ['7', '30', '90'] as const;
type Range = (typeof RANGES)[number];
type Metric = keyof typeof t.usage.metric;
const METRICS: Metric[] = ['tokens', 'cost', 'steps', 'tasks'];

export default function UsagePage() {
  const can = useCan();
  const [asked, setRange] = useParam<Range>('days', '30');
  const range = RANGES.includes(asked) ? asked : '30';
  if (!can('billing:read')) return <RefusedPage title={t.usage.title} scope={t.usage.refused} />;
  const options = RANGES.map((value) => ({
    value,
    label: (
      <>
        <span className={own.long}>{t.usage.days(Number(value))}</span>
        <span className={own.short}>{t.usage.daysShort(Number(value))}</span>
      </>
    ),
  }));
  return (
    <Page
      title={t.usage.title}
      beside={
        <span className={own.range}>
          <Segmented<Range> label={t.usage.range} value={range} onChange={setRange} options={options} />
        </span>
      }
    >
      <Plan />
      <Period days={Number(range)} />
    </Page>
  );
}

function Period({ days }: { days: number }) {
  const dates = lastDays(days);
  const from = dates[0] ?? '';
  const [group, setGroup] = useParam<UsageGroup>('by', 'day');
  const { data: rows, error, isPending, refetch } = useQuery(usageQuery(from, 'day'));
  if (isPending) {
    return (
      <>
        <Skeleton w="100%" h={86} />
        <Skeleton w="100%" h={230} />
      </>
    );
  }
  // What was read before stays while the service does not answer.
  if (rows === undefined) return <Failure error={error} retry={() => void refetch()} />;
  if (rows.length === 0) return <Nothing />;
  return (
    <>
      <Tiles total={totalOf(rows)} />
      <Days dates={dates} rows={rows} />
      <UsageTable from={from} group={group in t.usage.group ? group : 'day'} onGroup={setGroup} />
    </>
  );
}

function Nothing() {
  const can = useCan();
  const [, navigate] = useLocation();
  const action = can('tasks:write') && (
    <Button look="primary" icon="Plus" onClick={() => navigate('/new')}>
      {t.usage.empty.action}
    </Button>
  );
  return (
    <Empty icon="Chart" title={t.usage.empty.title} actions={action}>
      {t.usage.empty.text}
    </Empty>
  );
}

function Tiles({ total }: { total: Total }) {
  const { inputTokens, outputTokens } = total;
  const tiles = [
    [t.usage.tiles.tasks, count(total.tasks), t.usage.tiles.tasksNote],
    [
      t.usage.tiles.tokens,
      count(inputTokens + outputTokens),
      t.usage.tiles.tokensNote(count(inputTokens), count(outputTokens)),
    ],
    [t.usage.tiles.steps, count(total.steps), t.usage.tiles.stepsNote],
    [
      t.usage.tiles.cost,
      total.cost === null ? '–' : money(total.cost),
      total.cost === null ? t.usage.tiles.noCost : t.usage.tiles.costNote,
    ],
  ];
  return (
    <dl className={own.tiles}>
      {tiles.map(([label, value, note]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            <strong className="num">{value}</strong>
            <span>{note}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Days({ dates, rows }: { dates: string[]; rows: UsageRow[] }) {
  // Of a runbook, say, which uses none.
  const first = rows.every((row) => row.inputTokens + row.outputTokens === 0) ? 'steps' : 'tokens';
  const [asked, setMetric] = useParam<Metric>('show', first);
  const metric = METRICS.includes(asked) ? asked : first;
  const byDay = new Map(rows.map((row) => [row.key, row]));
  const values = (of: (row: UsageRow) => number) =>
    dates.map((date) => {
      const row = byDay.get(date);
      return row === undefined ? 0 : of(row);
    });
  const { series: names } = t.usage;
  const fresh = {
    name: names.fresh,
    color: 'var(--accent)',
    values: values((row) => row.inputTokens - row.cachedInputTokens),
  };
  const cached = { name: names.cached, color: 'var(--line-strong)', values: values((row) => row.cachedInputTokens) };
  const output = { name: names.output, color: 'var(--green)', values: values((row) => row.outputTokens) };
  const series = {
    tokens: [fresh, cached, output],
    cost: [{ name: names.cost, color: 'var(--green)', values: values(costOf) }],
    steps: [{ name: names.steps, color: 'var(--blue)', values: values(({ steps }) => steps) }],
    tasks: [{ name: names.tasks, color: 'var(--accent)', values: values(({ tasks }) => tasks) }],
  }[metric];
  return (
    <section className={own.days}>
      <Segmented<Metric>
        label={t.usage.show}
        value={metric}
        onChange={setMetric}
        options={METRICS.map((value) => ({ value, label: t.usage.metric[value] }))}
      />
      <Chart
        title={t.usage.chart[metric]}
        labels={dates.map(dayOfUtc)}
        series={series}
        format={metric === 'cost' ? money : count}
      />
    </section>
  );
}
