import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { changed } from '../../api/webhook-queries.ts';
import { t } from '../../texts/index.ts';
import { Choice, DialogActions, form as parts } from '../../ui/form.tsx';
import { Button, copy, Dialog, Failure } from '../../ui/ui.tsx';

const w = t.webhooks;

/** On the page itself: a click beside a dialog would lose it. */
export const SecretOnce = ({ secret, onDone }: { secret: string; onDone: () => void }) => (
  <section className={parts.secret} aria-label={w.secretTitle}>
    <strong>{w.secretTitle}</strong>
    <p>{w.secretOnce}</p>
    <output>{secret}</output>
    <div>
      <Button icon="Copy" autoFocus onClick={() => void copy(secret)}>
        {w.copySecret}
      </Button>
      <Button look="ghost" onClick={onDone}>
        {w.secretDone}
      </Button>
    </div>
  </section>
);

export function Rotate({ webhookId, onSecret }: { webhookId: string; onSecret: (secret: string) => void }) {
  const [open, setOpen] = useState(false);
  const [overlap, setOverlap] = useState('86400');
  const rotate = useMutation({
    mutationFn: () => api.webhooks.rotateSecret(webhookId, { overlapSeconds: Number(overlap) }),
    onSuccess: ({ webhook, secret }) => {
      changed(webhook);
      setOpen(false);
      onSecret(secret);
    },
  });
  return (
    <>
      <Button icon="Key" onClick={() => setOpen(true)}>
        {w.rotate}
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title={w.rotateTitle}>
        <p>{w.rotateText}</p>
        <Choice label={w.overlap} value={overlap} onChange={setOverlap} options={Object.entries(w.overlaps)} />
        {rotate.error !== null && <Failure error={rotate.error} />}
        <DialogActions onKeep={() => setOpen(false)} disabled={rotate.isPending} onClick={() => rotate.mutate()}>
          {w.rotateDo}
        </DialogActions>
      </Dialog>
    </>
  );
}
