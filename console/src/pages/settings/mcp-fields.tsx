import { useQuery } from '@tanstack/react-query';
import { mcpServersQuery } from '../../api/queries.ts';
import { t } from '../../texts/index.ts';
import { ChosenNames } from './chosen-names.tsx';

/** The servers of a task, or of the tasks of an automation: null for those by default. There is nothing to choose where there are none. */
export function McpFields({
  servers,
  onChange,
  said,
}: {
  servers: string[] | null;
  onChange: (servers: string[] | null) => void;
  said: string | null;
}) {
  const { data = [] } = useQuery(mcpServersQuery);
  if (data.length === 0 && servers === null) return null;
  const there = new Map(data.map((one) => [one.name, one]));
  const shown = [...new Set([...(servers ?? []), ...there.keys()])].sort();
  return (
    <ChosenNames
      texts={t.mcp}
      names={servers}
      usual={data.filter((one) => one.default).map(({ name }) => name)}
      shown={shown}
      onChange={onChange}
      said={said}
      about={(name) => there.get(name)?.description ?? t.mcp.notThere}
    />
  );
}
