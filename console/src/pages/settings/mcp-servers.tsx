import { useQuery } from '@tanstack/react-query';
import type { McpServer } from '../../api/client.ts';
import { mcpServersQuery } from '../../api/queries.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { bytes, count } from '../../ui/format.ts';
import { records } from '../../ui/records.tsx';
import { Section } from './section.tsx';
import own from './settings.module.css';

/** The servers of tools, as a worker last saw them; nothing where there are none. */
export function McpServers() {
  const { data: servers = [] } = useQuery(mcpServersQuery);
  if (servers.length === 0) return null;
  return (
    <Section title={t.mcp.label} about={t.mcp.about}>
      <ul className={own.rows}>
        {servers.map((server) => (
          <Row key={server.name} server={server} />
        ))}
      </ul>
    </Section>
  );
}

/** As the window of a model is reckoned by the service. */
const BYTES_PER_TOKEN = 3.5;

/** What the names and descriptions of tools take. */
function sizeOf(tools: NonNullable<McpServer['tools']>): string {
  const words = tools.map(({ name, description }) => name + description).join('');
  const size = new TextEncoder().encode(words).length;
  return t.mcp.tools(tools.length, bytes(size), count(Math.round(size / BYTES_PER_TOKEN)));
}

function Row({ server }: { server: McpServer }) {
  const { name, description, kind, status, approval, tools, checkedAt } = server;
  const size = tools === null ? null : sizeOf(tools);
  const facts = [
    t.mcp.states[status],
    t.mcp.kinds[kind],
    t.mcp.approval[approval],
    ...(server.default ? [t.mcp.byDefault] : []),
  ];
  return (
    <li className={own.row}>
      <div className="grow">
        <code>{name}</code> {description}
        <p className={own.weak}>
          {facts.join(' · ')}
          {checkedAt !== null && (
            <>
              {' '}
              · {t.mcp.checked} <Ago at={checkedAt} />
            </>
          )}
        </p>
        {tools !== null && tools.length > 0 && (
          <details className={records.more}>
            <summary>{size}</summary>
            <ul>
              {tools.map((tool) => (
                <li key={tool.name}>
                  <code>{tool.name}</code> {tool.readOnly && <small>{t.mcp.readOnly}</small>} {tool.description}
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </li>
  );
}
