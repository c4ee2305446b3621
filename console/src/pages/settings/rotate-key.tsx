import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Key } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { Field } from '../../ui/form.tsx';
import { Button, Dialog, DialogActions, Failure, ui } from '../../ui/ui.tsx';

const OVERLAPS = [0, 3600, 86_400, 604_800];

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
  const overlaps = key.current ? OVERLAPS.filter((seconds) => seconds > 0) : OVERLAPS;
  const [overlap, setOverlap] = useState(3600);
  const rotate = useMutation({
    mutationFn: () => api.keys.rotate(key.id, { overlapSeconds: overlap }),
    onSuccess: ({ secret }) => onMade(texts.rotatedTitle(key.name), secret),
  });
  return (
    <Dialog open onClose={onClose} title={texts.rotateTitle(key.name)}>
      <p>{texts.rotateText}</p>
      <Field label={texts.overlap}>
        {(control) => (
          <select
            {...control}
            className={ui.select}
            value={overlap}
            onChange={(event) => setOverlap(Number(event.target.value))}
          >
            {overlaps.map((seconds) => (
              <option key={seconds} value={seconds}>
                {texts.overlaps[seconds]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {key.current && <p>{texts.rotateCurrent}</p>}
      {rotate.error !== null && <Failure error={rotate.error} />}
      <DialogActions>
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button look="primary" disabled={rotate.isPending} onClick={() => rotate.mutate()}>
          {texts.rotateAction}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
