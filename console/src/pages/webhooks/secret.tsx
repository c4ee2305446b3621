import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { changed } from '../../api/webhook-queries.ts';
import { t } from '../../texts/index.ts';
import { Choice, DialogActions } from '../../ui/form.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Button, Dialog, Failure } from '../../ui/ui.tsx';

const w = t.webhooks;

export const SecretOnce = (props: { secret: string; onDone: () => void }) => (
  <Secret title={w.secretTitle} about={w.secretOnce} done={w.secretDone} autoFocus {...props} />
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
