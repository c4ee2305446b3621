import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type BillingSummary } from '../../api/client.ts';
import { useConnectHindrance } from '../../shell/administration.ts';
import { t } from '../../texts/index.ts';
import { Button, toastError } from '../../ui/ui.tsx';
import own from './usage.module.css';

const SUBSCRIBED: BillingSummary['subscription']['status'][] = ['trialing', 'active', 'past_due', 'paused'];

/** Ways to the pages of the payment provider: for owners and admins, and where something is sold. */
export function Payment({ offers, subscription }: BillingSummary) {
  const hindered = useConnectHindrance() !== null;
  const [chosen, setTopUp] = useState<string>();
  const leave = useMutation({
    mutationFn: (ask: () => Promise<{ url: string }>) => ask(),
    onSuccess: ({ url }) => window.location.assign(url),
    onError: toastError,
  });
  if (offers === undefined || hindered) return null;
  // Until the browser has left: a second click would make a second page.
  const busy = leave.isPending || leave.isSuccess;
  const topUp = chosen ?? offers.topUps[0];
  const upgrades = offers.plans.includes('paid') && !SUBSCRIBED.includes(subscription.status);
  return (
    <div className={own.payment}>
      {upgrades && (
        <Button
          look="primary"
          disabled={busy}
          onClick={() => leave.mutate(() => api.billing.checkout({ plan: 'paid' }))}
        >
          {t.usage.payment.upgrade}
        </Button>
      )}
      {topUp !== undefined && (
        <span className={own.topUp}>
          <select aria-label={t.usage.payment.amount} value={topUp} onChange={(event) => setTopUp(event.target.value)}>
            {offers.topUps.map((amount) => (
              <option key={amount} value={amount}>
                {t.usage.payment.usd(amount)}
              </option>
            ))}
          </select>
          <Button disabled={busy} onClick={() => leave.mutate(() => api.billing.checkout({ topUp }))}>
            {t.usage.payment.topUp}
          </Button>
        </span>
      )}
      <Button disabled={busy} onClick={() => leave.mutate(() => api.billing.portal())}>
        {t.usage.payment.manage}
      </Button>
      <small>{t.usage.payment.note}</small>
    </div>
  );
}
