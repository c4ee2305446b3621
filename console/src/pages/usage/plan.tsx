import { useQuery } from '@tanstack/react-query';
import type { BillingSummary } from '../../api/client.ts';
import { billingQuery } from '../../api/queries.ts';
import { t } from '../../texts/index.ts';
import { ago, bytes, dayOf, money } from '../../ui/format.ts';
import { NothingYet } from '../../ui/nothing.tsx';
import { Warning } from '../../ui/ui.tsx';
import { Payment } from './payment.tsx';
import own from './usage.module.css';

/** What the workspace may use, and what of it is left. */
export function Plan() {
  const { data, error, refetch } = useQuery(billingQuery);
  if (data === undefined) return <NothingYet error={error} refetch={refetch} h={120} />;
  const { usage, topUp, storage } = data;
  const usedUp = usage.some(({ remainingPercent }) => remainingPercent === 0) && Number(topUp.balance) === 0;
  return (
    <section className={own.plan} aria-label={t.usage.plan.title}>
      <header>
        <h2>{t.usage.plan.name(data.plan.name)}</h2>
        <p>{termsOf(data)}</p>
      </header>
      {usedUp && <Warning>{t.usage.plan.usedUp}</Warning>}
      {data.subscription.status === 'past_due' && data.offers && <Warning>{t.usage.payment.late}</Warning>}
      <Payment {...data} />
      <ul className={own.meters}>
        {usage.map(({ window, remainingPercent, resetsAt }) => (
          <Meter
            key={window}
            label={t.usage.plan.window[window]}
            said={t.usage.plan.left(remainingPercent)}
            note={t.usage.plan.resets(ago(resetsAt))}
            used={100 - remainingPercent}
          />
        ))}
        {usage.length === 0 && <li className={own.note}>{t.usage.plan.noWindows}</li>}
        <Storage storage={storage} />
        {Number(topUp.balance) > 0 && (
          <li>
            <span>{t.usage.plan.topUp}</span>
            <strong className="num">{money(Number(topUp.balance))}</strong>
            <small>{t.usage.plan.topUpNote}</small>
          </li>
        )}
      </ul>
    </section>
  );
}

function termsOf({ subscription, renewal }: BillingSummary): string {
  return [
    t.usage.plan.status[subscription.status],
    subscription.cancelAtPeriodEnd && t.usage.plan.cancels,
    renewal.renewsAt !== null && t.usage.plan.renews(dayOf(renewal.renewsAt)),
    renewal.endsAt !== null && t.usage.plan.ends(dayOf(renewal.endsAt)),
  ]
    .filter(Boolean)
    .join(' · ');
}

function Storage({ storage: { usedBytes, limitBytes } }: Pick<BillingSummary, 'storage'>) {
  if (limitBytes === null) {
    return (
      <li>
        <span>{t.usage.plan.storage}</span>
        <strong className="num">{t.usage.plan.stored(bytes(usedBytes))}</strong>
        <small>{t.usage.plan.noLimit}</small>
      </li>
    );
  }
  const used = limitBytes === 0 ? 100 : Math.min(100, (usedBytes / limitBytes) * 100);
  return (
    <Meter
      label={t.usage.plan.storage}
      said={t.usage.plan.storedOf(bytes(usedBytes), bytes(limitBytes))}
      note=""
      used={used}
    />
  );
}

function Meter({ label, said, note, used }: { label: string; said: string; note: string; used: number }) {
  const color = used >= 100 ? 'var(--red)' : used >= 80 ? 'var(--amber)' : 'var(--accent)';
  return (
    <li>
      <span>{label}</span>
      <strong className="num">{said}</strong>
      <small>{note}</small>
      <div
        className={own.meter}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(used)}
        aria-valuetext={said}
      >
        <i style={{ width: `${used}%`, background: color }} />
      </div>
    </li>
  );
}
