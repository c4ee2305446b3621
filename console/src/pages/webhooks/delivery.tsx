import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, type WebhookDelivery, type WholeWebhookDelivery } from '../../api/client.ts';
import { deliveryQuery, readAnew } from '../../api/webhook-queries.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Code } from '../../ui/code.tsx';
import { duration, fullTime } from '../../ui/format.ts';
import { Loaded, records } from '../../ui/records.tsx';
import { Button, CopyButton, Failure, toast } from '../../ui/ui.tsx';
import css from './webhooks.module.css';

const w = t.webhooks;

/** Every attempt of it, and what was sent. */
export function Delivery({
  delivery,
  enabled,
  onOfTask,
}: {
  delivery: WebhookDelivery;
  enabled: boolean;
  onOfTask: () => void;
}) {
  const { id, webhookId, eventId, taskId } = delivery;
  const can = useCan();
  const query = useQuery(deliveryQuery(webhookId, delivery));
  const redeliver = useMutation({
    mutationFn: () => api.webhooks.redeliver(webhookId, id),
    onSuccess: () => {
      toast(w.redelivered);
      readAnew(webhookId);
    },
  });
  return (
    <div className={css.delivery}>
      <div className={records.filters}>
        {can('automations:write') && (
          <Button
            small
            icon="Refresh"
            disabled={redeliver.isPending || !enabled}
            title={enabled ? undefined : w.disabledText}
            onClick={() => redeliver.mutate()}
          >
            {w.redeliver}
          </Button>
        )}
        {taskId !== null && (
          <>
            {can('tasks:read') && (
              <Link href={`/tasks/${taskId}`} className={records.link ?? ''}>
                {w.openTask}
              </Link>
            )}
            <Button small look="ghost" onClick={onOfTask}>
              {w.ofTask}
            </Button>
          </>
        )}
        <span className="grow" />
        <code className={css.id}>
          <span className="sr">{w.eventId} </span>
          {eventId}
        </code>
      </div>
      {redeliver.error !== null && <Failure error={redeliver.error} />}
      <Loaded query={query}>{(whole) => <Whole delivery={whole} />}</Loaded>
    </div>
  );
}

const Whole = ({ delivery: { attemptLog, body } }: { delivery: WholeWebhookDelivery }) => (
  <>
    <h3 className={css.heading}>{w.attemptLog}</h3>
    {attemptLog.length === 0 ? (
      <p className={records.under}>{w.noAttempt}</p>
    ) : (
      <ol className={css.attempts}>
        {attemptLog.map(({ at, durationMs, status, error, response }) => (
          <li key={at}>
            <span>
              <b className={status !== null && status < 300 ? css.good : css.bad}>
                {status === null ? (error ?? '') : w.answered(status)}
              </b>
              {' · '}
              {duration(durationMs)}
              {' · '}
              <time dateTime={at}>{fullTime(at)}</time>
            </span>
            {response !== null && response !== '' && (
              <Code code={response} language={null} label={w.response} plain max />
            )}
          </li>
        ))}
      </ol>
    )}
    <div className={records.filters}>
      <h3 className={css.heading}>{w.body}</h3>
      <span className="grow" />
      <CopyButton text={body}>{w.bodyAsSent}</CopyButton>
    </div>
    <Code code={readable(body)} language="json" label={w.body} max />
  </>
);

/** With line breaks, to be read. What is signed is the string as it was sent. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
