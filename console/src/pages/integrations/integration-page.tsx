import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { integrationsQuery } from '../../api/automation-queries.ts';
import type { Integration } from '../../api/client.ts';
import { useCan, useContext } from '../../shell/can.ts';
import { Page } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { Command } from '../../ui/command.tsx';
import { NothingHere } from '../../ui/nothing.tsx';
import { Back, Crumb, Fact, Facts, Loaded, records, Section } from '../../ui/records.tsx';
import { ui, Warning } from '../../ui/ui.tsx';
import { ConnectionBadge, stateOf } from './connection-badge.tsx';
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
  const { slug, description, connections, connected } = integration;
  return (
    <>
      <p className={records.under}>{description}</p>
      <Section title={w.connections} about={w.connectionsAbout}>
        <Facts>
          <Fact name={w.workspace}>
            <ConnectionBadge state={connections.workspace} />
          </Fact>
          <Fact name={w.own}>
            <ConnectionBadge state={connections.user} />
          </Fact>
        </Facts>
        {stateOf(integration) === 'error' && <Warning>{w.errorText}</Warning>}
        <Operator slug={slug} open={!connected} />
      </Section>
      {connected && <Deliveries slug={slug} />}
      <EventList integration={integration} />
    </>
  );
}

/** The console cannot connect: the secret is for the one who runs the service. */
function Operator({ slug, open }: { slug: string; open: boolean }) {
  const { workspace, user } = useContext();
  return (
    <details className={records.more} open={open}>
      <summary>{w.operator}</summary>
      <div className={own.operator}>
        <p>{w.operatorText}</p>
        <p>{w.connectWorkspace}</p>
        <Command line={w.connectLine(slug, workspace.slug)} />
        {user.email !== null && (
          <>
            <p>{w.connectOwn}</p>
            <Command line={w.connectOwnLine(slug, workspace.slug, user.email)} />
          </>
        )}
        <p>{w.listText}</p>
        <Command line={w.listLine(workspace.slug)} />
        <p>{w.rotateText}</p>
        <Command line={w.rotateLine} />
      </div>
    </details>
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
