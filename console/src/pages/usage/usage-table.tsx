import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { type UsageGroup, usageQuery } from '../../api/account-queries.ts';
import type { UsageRow } from '../../api/client.ts';
import { downloadText } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { count, dayOfUtc, money } from '../../ui/format.ts';
import { Table, table } from '../../ui/table.tsx';
import { Button, Failure, Segmented, Skeleton } from '../../ui/ui.tsx';
import { FIGURES, type Total, totalOf } from './figures.ts';
import own from './usage.module.css';

const GROUPS: UsageGroup[] = ['day', 'model', 'project', 'user', 'automation'];
const COLUMNS = [...FIGURES, 'cost'] as const;
const MOST_ROWS = 1000;

/** The figures themselves, by one of five keys. */
export function UsageTable({
  from,
  group,
  onGroup,
}: {
  from: string;
  group: UsageGroup;
  onGroup: (group: UsageGroup) => void;
}) {
  const query = useQuery({ ...usageQuery(from, group), placeholderData: keepPreviousData });
  const { data, error, refetch, isPlaceholderData } = query;
  // Days are read in their order; all else, the largest first, as the service gives it.
  const rows = group === 'day' ? data?.toSorted((a, b) => (b.key ?? '').localeCompare(a.key ?? '')) : data;
  const ready = rows !== undefined && !isPlaceholderData;
  const save = () => rows && downloadText(`usage-by-${group}-since-${from}.csv`, usageCsv(group, rows), 'text/csv');
  return (
    <section className={own.byKey}>
      <header>
        <Segmented<UsageGroup>
          label={t.usage.groupBy}
          value={group}
          onChange={onGroup}
          options={GROUPS.map((value) => ({ value, label: t.usage.group[value] }))}
        />
        <span className="grow" />
        <Button small icon="Download" disabled={!ready} onClick={save}>
          {t.usage.csv}
        </Button>
      </header>
      {error !== null && !ready ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : ready ? (
        <Rows group={group} rows={rows} />
      ) : (
        <Skeleton w="100%" h={160} />
      )}
      <p className={own.note}>
        {t.usage.utc}
        {ready && rows.length === MOST_ROWS && ` ${t.usage.most}`}
      </p>
    </section>
  );
}

function Rows({ group, rows }: { group: UsageGroup; rows: UsageRow[] }) {
  const head = [t.usage.group[group], ...COLUMNS.map((name) => t.usage.columns[name])];
  return (
    <Table label={t.usage.table(t.usage.group[group])} head={head} foot={[t.usage.total, ...figures(totalOf(rows))]}>
      {rows.map((row) => (
        <tr key={row.key}>
          <th scope="row">
            <Name group={group} row={row} />
          </th>
          {figures(totalOf([row])).map((figure, index) => (
            <td key={index}>{figure}</td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

const figures = (total: Total): ReactNode[] =>
  COLUMNS.map((name) => (name !== 'cost' ? count(total[name]) : total.cost === null ? '–' : money(total.cost)));

function Name({ group, row: { key, name } }: { group: UsageGroup; row: UsageRow }) {
  const can = useCan();
  if (key === null) return <span className={table.weak}>{t.usage.without[group]}</span>;
  if (group === 'day') return dayOfUtc(key);
  if (group === 'model') return name ?? key;
  if (name === null) {
    return (
      <span className={table.weak} title={key}>
        {t.usage.deleted}
      </span>
    );
  }
  if (group === 'project' && can('projects:read')) return <Link href={`/projects/${key}`}>{name}</Link>;
  if (group === 'automation' && can('automations:read')) return <Link href={`/automations/${key}`}>{name}</Link>;
  return name;
}

// What follows makes of the figures a table that other programs read (RFC 4180).

/** A spreadsheet takes what begins so for a formula: names are of people, so they are text, by the sign that spreadsheets know for it. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | number | null): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value ?? '') ? `'${value}` : (value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** With the names that the API has. The mark at the beginning says to spreadsheets that it is UTF-8. */
function usageCsv(group: string, rows: UsageRow[]): string {
  const lines = [
    [group, 'name', ...FIGURES, 'cost', 'currency'],
    ...rows.map((row) => [
      row.key,
      row.name,
      ...FIGURES.map((name) => row[name]),
      row.cost?.amount ?? null,
      row.cost?.currency ?? null,
    ]),
  ];
  return `\u{feff}${lines.map((cells) => cells.map(cell).join(',')).join('\r\n')}\r\n`;
}
