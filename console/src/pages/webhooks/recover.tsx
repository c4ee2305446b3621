import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Webhook } from '../../api/client.ts';
import { readAnew } from '../../api/webhook-queries.ts';
import { t } from '../../texts/index.ts';
import { DialogActions, FormFailure, saidOf, TextField } from '../../ui/form.tsx';
import { instantOf, localOf } from '../../ui/format.ts';
import { Button, Dialog, toast } from '../../ui/ui.tsx';

const w = t.webhooks;
const DAY_MS = 86_400_000;

/** Sends again what was missed since a time: since it fails, else for a day. */
export function Recover({ webhook: { id, status, failingSince } }: { webhook: Webhook }) {
  const [open, setOpen] = useState(false);
  const [since, setSince] = useState('');
  const recover = useMutation({
    mutationFn: () => api.webhooks.recover(id, { since: instantOf(since) }),
    onSuccess: (count) => {
      setOpen(false);
      toast(w.recovered(count));
      readAnew(id);
    },
  });
  const ask = () => {
    const from = failingSince === null ? Date.now() - DAY_MS : new Date(failingSince).getTime();
    // A whole minute, which lies before it.
    setSince(localOf(new Date(Math.floor(from / 60_000) * 60_000)));
    setOpen(true);
  };
  return (
    <>
      <Button
        icon="Refresh"
        disabled={status !== 'enabled'}
        title={status === 'enabled' ? undefined : w.disabledText}
        onClick={ask}
      >
        {w.recover}
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title={w.recoverTitle}>
        <p>{w.recoverText}</p>
        <TextField
          label={w.recoverSince}
          said={saidOf(recover.error, 'since')}
          type="datetime-local"
          value={since}
          onChange={setSince}
        />
        <FormFailure error={recover.error} fields={['since']} />
        <DialogActions onKeep={() => setOpen(false)} disabled={recover.isPending} onClick={() => recover.mutate()}>
          {w.recoverDo}
        </DialogActions>
      </Dialog>
    </>
  );
}
