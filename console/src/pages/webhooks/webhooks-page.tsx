import { useQuery } from '@tanstack/react-query';
import { Link, Route, Switch, useLocation } from 'wouter';
import type { Webhook } from '../../api/client.ts';
import { webhooksQuery } from '../../api/webhook-queries.ts';
import { useCan, useContext } from '../../shell/can.ts';
import { Page, PageHead, RefusedPage } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { NothingHere } from '../../ui/nothing.tsx';
import { Loaded, Note, records } from '../../ui/records.tsx';
import { Button, Empty } from '../../ui/ui.tsx';
import { EditWebhookPage, NewWebhookPage } from './editor-page.tsx';
import { typesInWords } from './types.ts';
import { WebhookBadge, WebhookPage } from './webhook-page.tsx';

const w = t.webhooks;

export default function WebhooksPage() {
  const can = useCan();
  const { workspace } = useContext();
  if (!can('automations:read')) return <RefusedPage title={w.title} scope="automations:read" />;
  if (workspace.role !== 'owner' && workspace.role !== 'admin') {
    return (
      <>
        <PageHead title={w.title} />
        <Empty icon="Shield" title={w.admins}>
          {w.adminsText(workspace.role)}
        </Empty>
      </>
    );
  }
  return (
    <Switch>
      <Route path="/webhooks" component={List} />
      <Route path="/webhooks/new" component={NewWebhookPage} />
      <Route path="/webhooks/:id/edit">{({ id }) => <EditWebhookPage key={id} id={id} />}</Route>
      <Route path="/webhooks/:id">{({ id }) => <WebhookPage key={id} id={id} />}</Route>
      <Route>
        <NothingHere />
      </Route>
    </Switch>
  );
}

function List() {
  const can = useCan();
  const [, navigate] = useLocation();
  const query = useQuery(webhooksQuery);
  const writes = can('automations:write');
  const make = writes && (
    <Button look="primary" icon="Plus" onClick={() => navigate('/webhooks/new')}>
      {w.create}
    </Button>
  );
  return (
    <Page title={w.title} sub={query.data && query.data.length > 0 && String(query.data.length)} beside={make}>
      <Loaded query={query}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty icon="Send" title={w.empty} actions={make}>
              {w.emptyText} {!writes && w.emptyReadOnly}
            </Empty>
          ) : (
            <>
              {!writes && <Note>{w.readOnly}</Note>}
              <ul className={records.rows}>
                {webhooks.map((webhook) => (
                  <li key={webhook.id}>
                    <Row webhook={webhook} />
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const Row = ({ webhook }: { webhook: Webhook }) => {
  const { id, url, description, types, failingSince, lastSuccessAt } = webhook;
  return (
    <Link href={`/webhooks/${id}`} className={records.entry ?? ''}>
      <span className={records.main}>
        <span className={records.title}>
          {url}
          <WebhookBadge {...webhook} />
        </span>
        <span className={records.under}>
          {description !== null && description !== '' && `${description} · `}
          {typesInWords(types)}
        </span>
      </span>
      <span className={records.side}>
        {failingSince !== null ? (
          <span>
            {w.failingSince} <Ago at={failingSince} />
          </span>
        ) : lastSuccessAt !== null ? (
          <span>
            {w.lastSuccess} <Ago at={lastSuccessAt} />
          </span>
        ) : (
          <span>{w.noSuccess}</span>
        )}
      </span>
    </Link>
  );
};
