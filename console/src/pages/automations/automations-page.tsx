import { useQuery } from '@tanstack/react-query';
import { Link, Route, Switch, useLocation } from 'wouter';
import type { Automation } from '../../api/client.ts';
import { automationsQuery } from '../../api/queries.ts';
import { useCan, useContext } from '../../shell/can.ts';
import { Page, RefusedPage } from '../../shell/shell.tsx';
import { useParam } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Icon } from '../../ui/icon.tsx';
import { NothingHere } from '../../ui/nothing.tsx';
import { Loaded, Note, records } from '../../ui/records.tsx';
import { Button, Empty, Segmented } from '../../ui/ui.tsx';
import { AutomationPage } from './automation-page.tsx';
import { EditorPage, NewEditorPage } from './editor-page.tsx';
import { KIND_ICONS, StatusBadge, triggerOf } from './trigger.tsx';

const w = t.automations;

export default function AutomationsPage() {
  const can = useCan();
  if (!can('automations:read')) return <RefusedPage title={w.title} scope="automations:read" />;
  return (
    <Switch>
      <Route path="/automations" component={List} />
      <Route path="/automations/new" component={NewEditorPage} />
      <Route path="/automations/:id/edit">{({ id }) => <EditorPage key={id} id={id} />}</Route>
      <Route path="/automations/:id">{({ id }) => <AutomationPage key={id} id={id} />}</Route>
      <Route>
        <NothingHere />
      </Route>
    </Switch>
  );
}

const STATUSES = ['active', 'paused', 'completed'] as const;

function List() {
  const can = useCan();
  const [, navigate] = useLocation();
  const [status, setStatus] = useParam<Automation['status'] | 'all'>('status', 'all');
  const query = useQuery(automationsQuery);
  const writes = can('automations:write');
  const make = writes && (
    <Button look="primary" icon="Plus" onClick={() => navigate('/automations/new')}>
      {w.create}
    </Button>
  );
  return (
    <Page title={w.title} sub={query.data && query.data.length > 0 && w.count(query.data.length)} beside={make}>
      <Loaded query={query}>
        {(automations) =>
          automations.length === 0 ? (
            <Empty icon="Calendar" title={w.empty} actions={make}>
              {w.emptyText} {!writes && w.emptyReadOnly}
            </Empty>
          ) : (
            <>
              {!writes && <Note>{w.readOnly}</Note>}
              <div className={records.filters}>
                <Segmented
                  label={w.filter}
                  value={status}
                  onChange={setStatus}
                  options={[
                    { value: 'all', label: w.all },
                    ...STATUSES.map((value) => ({ value, label: w.status[value] })),
                  ]}
                />
              </div>
              <Rows automations={automations.filter((one) => status === 'all' || one.status === status)} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Rows({ automations }: { automations: Automation[] }) {
  const { user } = useContext();
  if (automations.length === 0) {
    return (
      <Empty icon="Search" title={w.noneOfStatus}>
        {w.noneOfStatusText}
      </Empty>
    );
  }
  return (
    <ul className={records.rows}>
      {automations.map((automation) => {
        const { id, name, kind, pausedReason, owner } = automation;
        return (
          <li key={id}>
            <Link href={`/automations/${id}`} className={records.entry ?? ''}>
              <Icon name={KIND_ICONS[kind]} title={w.kind[kind]} style={{ color: 'var(--faint)', flex: 'none' }} />
              <span className={records.main}>
                <span className={records.title}>
                  {name}
                  <StatusBadge {...automation} />
                </span>
                <span className={records.under}>
                  {triggerOf(automation)}
                  {owner.id !== user.id && ` · ${owner.name}`}
                </span>
                {pausedReason !== null && pausedReason.code !== 'manual' && (
                  <span className={records.under}>{pausedReason.message}</span>
                )}
              </span>
              <span className={records.side}>
                <Times {...automation} />
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

/** When it runs next, else what its last run was. */
function Times({ status, kind, nextRunAt, lastRunAt, lastRunStatus }: Automation) {
  if (nextRunAt !== null) {
    return (
      <span>
        {w.nextAt} <Ago at={nextRunAt} />
      </span>
    );
  }
  if (lastRunAt !== null && lastRunStatus !== null) {
    return (
      <span>
        {w.lastRun} <Ago at={lastRunAt} /> · {w.run[lastRunStatus].toLowerCase()}
      </span>
    );
  }
  return <span>{status === 'active' && kind === 'webhook' ? w.waitsForEvent : w.never}</span>;
}
