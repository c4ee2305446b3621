import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { integrationsQuery } from '../../api/automation-queries.ts';
import type { Integration } from '../../api/client.ts';
import { useCan } from '../../shell/can.ts';
import { Page } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { NothingHere } from '../../ui/nothing.tsx';
import { Back, Crumb, Loaded, records, Section } from '../../ui/records.tsx';
import { ui } from '../../ui/ui.tsx';
import { ConnectionBadge, stateOf } from './connection-badge.tsx';
import { Connections } from './connections.tsx';
import { Deliveries } from './deliveries.tsx';
import own from './integrations.module.css';

const w = t.integrations;

export function IntegrationPage({ slug }: { slug: string }) {
  const query = useQuery(integrationsQuery);
  const found = query.data?.find((one) => one.slug === slug);
  return (
    <Page title={found?.name ?? w.title} sub={found && <ConnectionBadge state={stateOf(found)} />}>
      <Crumb to="/integrations">{w.title}</Crumb>
      <Loaded query={query}>
        {(all) => {
          const integration = all.find((one) => one.slug === slug);
          if (integration !== undefined) return <One integration={integration} />;
          return <NothingHere actions={<Back to="/integrations">{w.title}</Back>} />;
        }}
      </Loaded>
    </Page>
  );
}

function One({ integration }: { integration: Integration }) {
  const { slug, description, connected } = integration;
  return (
    <>
      <p className={records.under}>{description}</p>
      <Connections integration={integration} />
      {connected && <Deliveries slug={slug} />}
      <EventList integration={integration} />
    </>
  );
}

/** From so many on, they can be searched. */
const MANY = 10;

function EventList({ integration: { triggerEvents } }: { integration: Integration }) {
  const can = useCan();
  const [text, setText] = useState('');
  const words = useDeferredValue(text).toLowerCase();
  const found = triggerEvents.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(words));
  return (
    <Section title={w.eventList} about={w.eventListAbout}>
      {triggerEvents.length > MANY && (
        <input
          className={ui.input}
          type="search"
          aria-label={w.find}
          placeholder={w.find}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {found.length === 0 && <p className={records.under}>{w.noneFound}</p>}
      {found.length > 0 && (
        <ul className={records.rows}>
          {found.map(({ name, description }) => (
            <li key={name} className={records.entry}>
              <span className={records.main}>
                <code className={own.name}>{name}</code>
                <span className={records.under}>{description}</span>
              </span>
              {can('automations:write') && (
                <Link
                  href={`/automations/new?event=${encodeURIComponent(name)}`}
                  className={records.link ?? ''}
                  aria-label={w.useEvent(name)}
                >
                  {w.use}
                </Link>
              )}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
