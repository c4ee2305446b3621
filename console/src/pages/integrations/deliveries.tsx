import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import {
  integrationDeliveriesQuery,
  type RunOfAutomation,
  runsOfIntegrationQuery,
} from '../../api/automation-queries.ts';
import type { IntegrationDelivery } from '../../api/client.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Badge, Loaded, records, Section, type Tone } from '../../ui/records.tsx';
import { Button, Failure } from '../../ui/ui.tsx';
import css from './integrations.module.css';

const w = t.integrations;
const TONES: Record<IntegrationDelivery['verdict'], Tone> = {
  accepted: 'good',
  no_automation: 'quiet',
  duplicate: 'quiet',
  handshake: 'quiet',
  bad_signature: 'bad',
  malformed: 'bad',
  unreadable_secret: 'bad',
};

/** What the provider has sent lately, and what became of it. */
export function Deliveries({ slug }: { slug: string }) {
  const query = useQuery(integrationDeliveriesQuery(slug));
  const refresh = (
    <Button small icon="Refresh" disabled={query.isFetching} onClick={() => void query.refetch()}>
      {w.refresh}
    </Button>
  );
  return (
    <Section title={w.deliveries} about={w.deliveriesAbout} actions={refresh}>
      <Loaded query={query}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <p className={records.under}>{w.deliveriesEmpty}</p>
          ) : (
            <ul className={records.rows}>
              {deliveries.map((delivery, index) => (
                <li key={`${delivery.at} ${index}`} className={records.entry}>
                  <Delivery slug={slug} delivery={delivery} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function Delivery({ slug, delivery }: { slug: string; delivery: IntegrationDelivery }) {
  const { at, event, deliveryId, verdict, runIds } = delivery;
  const can = useCan();
  return (
    <>
      <span className={records.main}>
        <span className={records.title}>
          <Badge tone={TONES[verdict]}>{w.verdict[verdict]}</Badge>
          {event === null ? w.unknownEvent : <code className={css.name}>{event}</code>}
        </span>
        <span className={records.under}>
          {w.verdictAbout[verdict]}
          {deliveryId !== null && (
            <>
              {' '}
              <code>{deliveryId}</code>
            </>
          )}
        </span>
        {runIds.length > 0 && can('automations:read') && <Runs slug={slug} runIds={runIds} />}
      </span>
      <span className={records.side}>
        <Ago at={at} />
      </span>
    </>
  );
}

/** Looked up when somebody wants to see them: a delivery names its runs alone. */
function Runs({ slug, runIds }: { slug: string; runIds: string[] }) {
  const [open, setOpen] = useState(false);
  const { data, error, refetch } = useQuery({ ...runsOfIntegrationQuery(slug), enabled: open });
  return (
    <details className={css.runs} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{w.runs(runIds.length)}</summary>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {open && data === undefined && error === null && <p>{w.runsSearch}</p>}
      {data !== undefined && (
        <ul>
          {runIds.map((id) => (
            <li key={id}>
              <Run found={data.get(id)} />
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

function Run({ found }: { found: RunOfAutomation | undefined }) {
  if (found === undefined) return w.runElsewhere;
  const { run, automation } = found;
  return (
    <>
      {t.automations.run[run.status]} {' · '}
      <Link href={`/automations/${automation.id}`} className={records.link ?? ''}>
        {automation.name}
      </Link>
      {run.taskId !== null && (
        <>
          {' · '}
          <Link href={`/tasks/${run.taskId}`} className={records.link ?? ''}>
            {w.openTask}
          </Link>
        </>
      )}
      {run.reason !== null && ` · ${run.reason.message}`}
    </>
  );
}
