import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { WebhookDelivery } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { deliveriesQuery, type DeliveryFilter, readAnew, webhookQuery } from '../../api/webhook-queries.ts';
import { useParam } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Badge, Pages, records, Section, type Tone } from '../../ui/records.tsx';
import { Button, cx, Empty, ui } from '../../ui/ui.tsx';
import { Delivery } from './delivery.tsx';
import { TEST, TYPES } from './types.ts';
import css from './webhooks.module.css';

const w = t.webhooks;
const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
const TONES: Record<WebhookDelivery['status'], Tone> = {
  pending: 'busy',
  delivered: 'good',
  failed: 'bad',
  cancelled: 'quiet',
};

const LIVE_MS = 2000;
/** There is no event for a first attempt: the list polls for its 15 seconds and a little more. */
const FIRST_MS = 700;
const FIRST_ATTEMPT_MS = 20_000;

export function Deliveries({ webhookId, enabled }: { webhookId: string; enabled: boolean }) {
  const [status, setStatus] = useParam('status', '');
  const [type, setType] = useParam('type', '');
  const [taskId, setTask] = useParam('task', '');
  const [opened, setOpened] = useParam('delivery', '');
  const [live, setLive] = useState(false);
  const filter: DeliveryFilter = { ...(status && { status }), ...(type && { type }), ...(taskId && { taskId }) };
  const query = useInfiniteQuery({
    ...deliveriesQuery(webhookId, filter),
    refetchInterval: ({ state }) => {
      if (live) return LIVE_MS;
      return state.data?.pages[0]?.items.some(isUnderWay) === true ? FIRST_MS : false;
    },
  });
  const underWay = query.data?.pages.some(({ items }) => items.some(isUnderWay)) === true;
  // What an attempt brought about stands above the list, too.
  const was = useRef(false);
  useEffect(() => {
    if (was.current && !underWay) void queryClient.invalidateQueries({ queryKey: webhookQuery(webhookId).queryKey });
    was.current = underWay;
  }, [underWay]);
  const filtered = status !== '' || type !== '' || taskId !== '';
  return (
    <Section
      title={w.deliveries}
      actions={
        <>
          <Button
            small
            aria-pressed={live}
            title={w.liveAbout}
            className={cx(live && css.live)}
            onClick={() => setLive(!live)}
          >
            {w.live}
          </Button>
          <Button small icon="Refresh" disabled={query.isFetching} onClick={() => readAnew(webhookId)}>
            {w.refresh}
          </Button>
        </>
      }
    >
      <div className={records.filters}>
        <select
          className={ui.select}
          aria-label={w.filterStatus}
          value={status}
          onChange={(event) => setStatus(event.target.value)}
        >
          <option value="">{w.anyStatus}</option>
          {STATUSES.map((one) => (
            <option key={one} value={one}>
              {w.delivery[one]}
            </option>
          ))}
        </select>
        <select
          className={ui.select}
          aria-label={w.filterType}
          value={type}
          onChange={(event) => setType(event.target.value)}
        >
          <option value="">{w.anyType}</option>
          {[...TYPES, TEST].map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        {taskId !== '' && (
          <Button small icon="X" onClick={() => setTask('')}>
            {w.clearTask}
          </Button>
        )}
      </div>
      <Pages query={query} empty={filtered ? <Empty icon="Search" title={w.deliveriesNone} /> : NOTHING}>
        {(delivery) => (
          <li key={delivery.id}>
            <Row
              delivery={delivery}
              open={opened === delivery.id}
              onTurn={() => setOpened(opened === delivery.id ? '' : delivery.id)}
            />
            {opened === delivery.id && (
              <Delivery delivery={delivery} enabled={enabled} onOfTask={() => setTask(delivery.taskId ?? '')} />
            )}
          </li>
        )}
      </Pages>
    </Section>
  );
}

const NOTHING = (
  <Empty icon="Send" title={w.deliveriesEmpty}>
    {w.deliveriesEmptyText}
  </Empty>
);

const isUnderWay = ({ status, attempts, createdAt }: WebhookDelivery) =>
  status === 'pending' && attempts === 0 && Date.now() - new Date(createdAt).getTime() < FIRST_ATTEMPT_MS;

function Row({ delivery, open, onTurn }: { delivery: WebhookDelivery; open: boolean; onTurn: () => void }) {
  const { eventType, status, attempts, lastAttempt, nextAttemptAt, redelivery, createdAt } = delivery;
  return (
    <button type="button" className={records.entry} aria-expanded={open} onClick={onTurn}>
      <Icon name={open ? 'ChevronDown' : 'ChevronRight'} size={14} style={{ color: 'var(--faint)', flex: 'none' }} />
      <span className={records.main}>
        <span className={records.title}>
          <Badge tone={TONES[status]}>{w.delivery[status]}</Badge>
          {eventType}
        </span>
        <span className={records.under}>
          {lastAttempt === null
            ? w.noAttempt
            : (lastAttempt.error ?? (lastAttempt.status === null ? '' : w.answered(lastAttempt.status)))}
          {attempts > 1 && ` · ${w.attempts(attempts)}`}
          {redelivery && ` · ${w.again}`}
          {nextAttemptAt !== null && attempts > 0 && (
            <>
              {' · '}
              {w.nextAttempt} <Ago at={nextAttemptAt} />
            </>
          )}
        </span>
      </span>
      <span className={records.side}>
        <Ago at={createdAt} />
      </span>
    </button>
  );
}
