import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Key } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { Choice, DialogActions } from '../../ui/form.tsx';
import { Dialog, Failure } from '../../ui/ui.tsx';

export function RotateKey({
  of: key,
  onClose,
  onMade,
}: {
  of: Key;
  onClose: () => void;
  onMade: (title: string, secret: string) => void;
}) {
  const { keys: texts } = t.settings;
  // Without an overlap the session would end before its new secret could be read.
  const overlaps = Object.entries(texts.overlaps).filter(([seconds]) => !key.current || seconds !== '0');
  const [overlap, setOverlap] = useState('3600');
  const rotate = useMutation({
    mutationFn: () => api.keys.rotate(key.id, { overlapSeconds: Number(overlap) }),
    onSuccess: ({ secret }) => onMade(texts.rotatedTitle(key.name), secret),
  });
  return (
    <Dialog open onClose={onClose} title={texts.rotateTitle(key.name)}>
      <p>{texts.rotateText}</p>
      <Choice label={texts.overlap} value={overlap} onChange={setOverlap} options={overlaps} />
      {key.current && <p>{texts.rotateCurrent}</p>}
      {rotate.error !== null && <Failure error={rotate.error} />}
      <DialogActions onKeep={onClose} disabled={rotate.isPending} onClick={() => rotate.mutate()}>
        {texts.rotateAction}
      </DialogActions>
    </Dialog>
  );
}
