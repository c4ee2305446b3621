import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, type Webhook } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { changed, readAnew, webhookQuery, webhooksQuery } from '../../api/webhook-queries.ts';
import { useCan } from '../../shell/can.ts';
import { Page } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Confirm } from '../../ui/form.tsx';
import { fullTime } from '../../ui/format.ts';
import { Back, Badge, Crumb, Fact, Facts, Loaded, Note, records } from '../../ui/records.tsx';
import { Button, Failure, toast, Warning } from '../../ui/ui.tsx';
import { ProjectLink } from '../projects/project-link.tsx';
import { Deliveries } from './deliveries.tsx';
import { Recover } from './recover.tsx';
import { Rotate, SecretOnce } from './secret.tsx';
import { typesInWords } from './types.ts';

const w = t.webhooks;

export function WebhookPage({ id }: { id: string }) {
  const query = useQuery(webhookQuery(id));
  return (
    <Page
      title={query.data === undefined ? w.title : hostOf(query.data.url)}
      sub={query.data && <WebhookBadge {...query.data} />}
    >
      <Crumb to="/webhooks">{w.title}</Crumb>
      <Loaded query={query} gone={<Back to="/webhooks">{w.title}</Back>}>
        {(webhook) => <One webhook={webhook} />}
      </Loaded>
    </Page>
  );
}

export const WebhookBadge = ({ status, disabledReason, failingSince }: Webhook) => {
  if (status === 'enabled') {
    return failingSince === null ? (
      <Badge tone="good">{w.status.enabled}</Badge>
    ) : (
      <Badge tone="warn">{w.failing}</Badge>
    );
  }
  return (
    <Badge tone={disabledReason?.code === 'manual' ? 'quiet' : 'bad'} icon="Square">
      {w.status.disabled}
    </Badge>
  );
};

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url);

function One({ webhook }: { webhook: Webhook }) {
  const can = useCan();
  const { id, url, description, types, projectId, status, disabledReason, createdBy, createdAt } = webhook;
  return (
    <>
      {can('automations:write') ? <Actions webhook={webhook} /> : <Note>{w.readOnly}</Note>}
      {disabledReason !== null && (
        <Warning>
          {disabledReason.message} {w.disabledText}
        </Warning>
      )}
      <Facts>
        <Fact name={w.url}>{url}</Fact>
        <Fact name={w.types}>{typesInWords(types)}</Fact>
        {description !== null && <Fact name={w.description}>{description}</Fact>}
        <Fact name={w.project}>{projectId === null ? w.projectAny : <ProjectLink projectId={projectId} />}</Fact>
        <Fact name={w.secret}>
          <code className="mono">{webhook.secretPrefix}…</code>
          {webhook.previousSecretUntil !== null && (
            <span className={records.under}> {w.secretSince(fullTime(webhook.previousSecretUntil))}</span>
          )}
        </Fact>
        <Fact name={w.answers}>
          <Answers webhook={webhook} />
        </Fact>
        <Fact name={t.records.created}>
          <Ago at={createdAt} /> {t.records.by(createdBy.name)}
        </Fact>
      </Facts>
      <Deliveries webhookId={id} enabled={status === 'enabled'} />
    </>
  );
}

const Answers = ({ webhook: { failingSince, lastSuccessAt } }: { webhook: Webhook }) => (
  <>
    {failingSince !== null && (
      <span className={records.reason}>
        {w.failingSince} <Ago at={failingSince} />
        {' · '}
      </span>
    )}
    {lastSuccessAt === null ? (
      w.noSuccess
    ) : (
      <>
        {w.lastSuccess} <Ago at={lastSuccessAt} />
      </>
    )}
  </>
);

function Actions({ webhook }: { webhook: Webhook }) {
  const { id, url, status } = webhook;
  const [, navigate] = useLocation();
  const [removing, setRemoving] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const test = useMutation({
    mutationFn: () => api.webhooks.test(id),
    onSuccess: () => {
      toast(w.tested);
      readAnew(id);
    },
  });
  const turn = useMutation({
    mutationFn: () => api.webhooks.update(id, { status: status === 'enabled' ? 'disabled' : 'enabled' }),
    onSuccess: (now) => {
      changed(now);
      readAnew(id);
      toast(now.status === 'enabled' ? w.enabled : w.disabled);
    },
  });
  const remove = useMutation({
    mutationFn: () => api.webhooks.delete(id),
    onSuccess: () => {
      queryClient.removeQueries({ queryKey: webhookQuery(id).queryKey });
      void queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
      toast(w.removed);
      navigate('/webhooks', { replace: true });
    },
  });
  const error = test.error ?? turn.error;
  return (
    <>
      <div className={records.filters} role="group" aria-label={t.records.actions}>
        <Button look="primary" icon="Send" disabled={test.isPending} onClick={() => test.mutate()}>
          {w.test}
        </Button>
        <Button icon="Pencil" onClick={() => navigate(`/webhooks/${id}/edit`)}>
          {w.edit}
        </Button>
        <Button
          icon={status === 'enabled' ? 'Square' : 'Check'}
          disabled={turn.isPending}
          onClick={() => turn.mutate()}
        >
          {status === 'enabled' ? w.disable : w.enable}
        </Button>
        <Rotate webhookId={id} onSecret={setSecret} />
        <Recover webhook={webhook} />
        <Button look="danger" icon="Trash" onClick={() => setRemoving(true)}>
          {w.remove}
        </Button>
      </div>
      {error !== null && <Failure error={error} />}
      {secret !== null && <SecretOnce secret={secret} onDone={() => setSecret(null)} />}
      <Confirm open={removing} title={w.removeTitle} action={w.remove} does={remove} onClose={() => setRemoving(false)}>
        <p>{url}</p>
        <p>{w.removeText}</p>
      </Confirm>
    </>
  );
}
