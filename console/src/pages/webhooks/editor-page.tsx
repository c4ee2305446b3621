import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, type Webhook } from '../../api/client.ts';
import { changed, webhookQuery } from '../../api/webhook-queries.ts';
import { useCan } from '../../shell/can.ts';
import { Body, page as css, PageHead } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { Back, Crumb, Loaded, Note } from '../../ui/records.tsx';
import { toast } from '../../ui/ui.tsx';
import { SecretOnce } from './secret.tsx';
import { WebhookForm } from './webhook-form.tsx';

const w = t.webhooks;
const EMPTY = {
  url: '',
  types: ['task.completed', 'task.failed', 'task.awaiting_input'],
  description: '',
  projectId: '',
};

export function NewWebhookPage() {
  const can = useCan();
  const [, navigate] = useLocation();
  // It is kept nowhere else: with this page it is gone.
  const [made, setMade] = useState<{ webhook: Webhook; secret: string } | null>(null);
  return (
    <>
      <PageHead title={w.createTitle} />
      <Body>
        {!can('automations:write') ? (
          <ReadOnly />
        ) : made === null ? (
          <WebhookForm
            first={EMPTY}
            action={[w.make, w.making]}
            save={async (given) => {
              const answer = await api.webhooks.create(given);
              changed(answer.webhook);
              setMade(answer);
            }}
            onCancel={() => navigate('/webhooks')}
          />
        ) : (
          <div className={css.page}>
            <SecretOnce
              secret={made.secret}
              onDone={() => navigate(`/webhooks/${made.webhook.id}`, { replace: true })}
            />
          </div>
        )}
      </Body>
    </>
  );
}

export function EditWebhookPage({ id }: { id: string }) {
  const can = useCan();
  const query = useQuery(webhookQuery(id));
  return (
    <>
      <PageHead title={w.editTitle} />
      <Body>
        {can('automations:write') ? (
          <Loaded form query={query} gone={<Back to="/webhooks">{w.title}</Back>}>
            {(webhook) => <EditForm webhook={webhook} />}
          </Loaded>
        ) : (
          <ReadOnly />
        )}
      </Body>
    </>
  );
}

function EditForm({ webhook: { id, url, types, description, projectId } }: { webhook: Webhook }) {
  const [, navigate] = useLocation();
  const [first] = useState({ url, types, description: description ?? '', projectId: projectId ?? '' });
  return (
    <WebhookForm
      first={first}
      action={[w.save, w.saving]}
      save={async (given) => {
        changed(await api.webhooks.update(id, given));
        toast(w.saved);
        navigate(`/webhooks/${id}`, { replace: true });
      }}
      onCancel={() => navigate(`/webhooks/${id}`)}
    />
  );
}

const ReadOnly = () => (
  <div className={css.page}>
    <Crumb to="/webhooks">{w.title}</Crumb>
    <Note>{w.readOnly}</Note>
  </div>
);
