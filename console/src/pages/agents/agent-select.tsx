import { useQuery } from '@tanstack/react-query';
import { agentsQuery } from '../../api/agent-queries.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/form.tsx';

/** What stands for none where the workspace has a usual one: no slug begins with a dash. */
export const NO_AGENT = '-';

/** How a task works, or the tasks of an automation: a slug, with `@` and a version or a channel or without. There is nothing to choose where the workspace has no agent. */
export function AgentSelect({
  said,
  value,
  inherits = false,
  onChange,
}: {
  said: string | null;
  value: string;
  /** Whether it always takes the usual one where nothing is chosen. */
  inherits?: boolean;
  onChange: (value: string) => void;
}) {
  const texts = t.agentField;
  const reads = useCan()('projects:read');
  const { data: all = [] } = useQuery({ ...agentsQuery, enabled: reads });
  const agents = all.filter(({ archived }) => !archived);
  if (agents.length === 0 && value === '') return null;
  const usual = agents.find((one) => one.default);
  const named = agents.flatMap(({ slug, name, channels }): [string, string][] => [
    [slug, name],
    ...Object.entries(channels).map(([channel, version]): [string, string] => [
      `${slug}@${channel}`,
      `${name} · ${t.agents.channel(channel, version)}`,
    ]),
  ]);
  const chosen = value === NO_AGENT && usual === undefined ? '' : value;
  const known = chosen === '' || chosen === NO_AGENT || named.some(([one]) => one === chosen);
  return (
    <Choice
      label={texts.label}
      hint={texts.hint}
      said={said}
      value={chosen}
      onChange={onChange}
      options={[
        ['', usual === undefined ? texts.none : texts.usual(usual.name)],
        ...(usual === undefined || inherits ? [] : [[NO_AGENT, texts.none] as const]),
        ...(known ? [] : [[chosen, chosen.includes('@') ? chosen : texts.unknown(chosen)] as const]),
        ...named,
      ]}
    />
  );
}
