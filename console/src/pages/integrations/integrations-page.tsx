import { useQuery } from '@tanstack/react-query';
import { Link, Route, Switch } from 'wouter';
import { integrationsQuery } from '../../api/automation-queries.ts';
import type { Integration } from '../../api/client.ts';
import { useCan } from '../../shell/can.ts';
import { Page, RefusedPage } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { NothingHere } from '../../ui/nothing.tsx';
import { Loaded, records, Section } from '../../ui/records.tsx';
import { ConnectionBadge, stateOf } from './connection-badge.tsx';
import { IntegrationPage } from './integration-page.tsx';

const w = t.integrations;

export default function IntegrationsPage() {
  const can = useCan();
  if (!can('integrations:read')) return <RefusedPage title={w.title} scope="integrations:read" />;
  return (
    <Switch>
      <Route path="/integrations" component={Catalogue} />
      <Route path="/integrations/:slug">{({ slug }) => <IntegrationPage key={slug} slug={slug} />}</Route>
      <Route>
        <NothingHere />
      </Route>
    </Switch>
  );
}

function Catalogue() {
  const query = useQuery(integrationsQuery);
  return (
    <Page title={w.title} sub={w.about}>
      <Loaded query={query}>
        {(integrations) => {
          const groups = [
            { title: t.automationEditor.connected, of: integrations.filter(({ connected }) => connected) },
            { title: t.automationEditor.notConnected, of: integrations.filter(({ connected }) => !connected) },
          ];
          return groups.map(
            ({ title, of }) =>
              of.length > 0 && (
                <Section key={title} title={title}>
                  <Rows integrations={of} />
                </Section>
              ),
          );
        }}
      </Loaded>
    </Page>
  );
}

const Rows = ({ integrations }: { integrations: Integration[] }) => (
  <ul className={records.rows}>
    {integrations.map((integration) => (
      <li key={integration.slug}>
        <Link href={`/integrations/${integration.slug}`} className={records.entry ?? ''}>
          <span className={records.main}>
            <span className={records.title}>
              {integration.name}
              {integration.connected && <ConnectionBadge state={stateOf(integration)} />}
            </span>
            <span className={records.under}>{integration.description}</span>
          </span>
          <span className={records.side}>
            <span>
              {w.categories[integration.category] ?? integration.category} ·{' '}
              {w.events(integration.triggerEvents.length)}
            </span>
          </span>
        </Link>
      </li>
    ))}
  </ul>
);
