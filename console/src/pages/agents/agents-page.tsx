import { useQuery } from '@tanstack/react-query';
import { Link, Route, Switch, useLocation } from 'wouter';
import { agentsQuery } from '../../api/agent-queries.ts';
import type { Agent } from '../../api/client.ts';
import { useCan } from '../../shell/can.ts';
import { Page, RefusedPage } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Icon } from '../../ui/icon.tsx';
import { NothingHere } from '../../ui/nothing.tsx';
import { Badge, Loaded, Note, records, Section } from '../../ui/records.tsx';
import { Button, Empty } from '../../ui/ui.tsx';
import { AgentPage } from './agent-page.tsx';
import { EditAgentPage, NewAgentPage } from './agent-form.tsx';
import { EvaluatePage } from './evaluate-page.tsx';
import { EvaluationPage } from './evaluation-page.tsx';
import { hrefOf, NEW } from './places.ts';

const w = t.agents;

export default function AgentsPage() {
  const can = useCan();
  if (!can('projects:read')) return <RefusedPage title={w.title} scope="projects:read" />;
  return (
    <Switch>
      <Route path="/agents" component={List} />
      <Route path="/agents/new" component={NewAgentPage} />
      <Route path="/agents/:slug/edit">
        {({ slug }) => <EditAgentPage key={slug} slug={decodeURIComponent(slug)} />}
      </Route>
      <Route path="/agents/:slug/evaluate">
        {({ slug }) => <EvaluatePage key={slug} slug={decodeURIComponent(slug)} />}
      </Route>
      <Route path="/agents/:slug/evaluations/:id">
        {({ slug, id }) => <EvaluationPage key={id} slug={decodeURIComponent(slug)} id={decodeURIComponent(id)} />}
      </Route>
      <Route path="/agents/:slug">{({ slug }) => <AgentPage key={slug} slug={decodeURIComponent(slug)} />}</Route>
      <Route>
        <NothingHere />
      </Route>
    </Switch>
  );
}

function List() {
  const can = useCan();
  const [, navigate] = useLocation();
  const query = useQuery(agentsQuery);
  const writes = can('projects:write');
  const make = writes && (
    <Button look="primary" icon="Plus" onClick={() => navigate(NEW)}>
      {w.create}
    </Button>
  );
  const there = query.data?.filter(({ archived }) => !archived) ?? [];
  return (
    <Page title={w.title} sub={there.length > 0 && w.count(there.length)} beside={make}>
      <Loaded query={query}>
        {(all) => {
          const archived = all.filter((one) => one.archived);
          return (
            <>
              {there.length === 0 ? (
                <Empty icon="Brain" title={w.empty} actions={make}>
                  {w.emptyText} {!writes && w.emptyReadOnly}
                </Empty>
              ) : (
                <>
                  {writes ? <p className={records.about}>{w.about}</p> : <Note>{w.readOnly}</Note>}
                  <Rows of={there} />
                </>
              )}
              {archived.length > 0 && (
                <Section title={w.archivedOnes}>
                  <Rows of={archived} />
                </Section>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

const Rows = ({ of }: { of: Agent[] }) => (
  <ul className={records.rows}>
    {of.map((agent) => (
      <li key={agent.id}>
        <Row of={agent} />
      </li>
    ))}
  </ul>
);

function Row({ of: { slug, name, version, description, instructions, default: usual, updatedAt } }: { of: Agent }) {
  const [first = w.noInstructions] = instructions.split('\n').filter((line) => line.trim() !== '');
  return (
    <Link href={hrefOf(slug)} className={records.entry ?? ''}>
      <Icon name="Brain" size={15} />
      <span className={records.main}>
        <span className={records.title}>
          {name}
          {name !== slug && <code className="mono">{slug}</code>}
          {usual && (
            <Badge tone="good" icon="Check">
              {w.isDefault}
            </Badge>
          )}
        </span>
        <span className={records.under}>
          {w.version(version)} · {description || first}
        </span>
      </span>
      <span className={records.side}>
        <span>
          {w.changed} <Ago at={updatedAt} />
        </span>
      </span>
    </Link>
  );
}
