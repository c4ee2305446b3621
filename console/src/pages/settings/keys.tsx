import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { keysQuery } from '../../api/account-queries.ts';
import { api, type Key } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { useContext } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Choice, Confirm, DialogActions, form } from '../../ui/form.tsx';
import { NothingYet } from '../../ui/nothing.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Button, Dialog, Failure, toast, Warning } from '../../ui/ui.tsx';
import { isInvited } from './invited.ts';
import { KeyFacts } from './key-facts.tsx';
import { NewKey } from './new-key.tsx';
import { isWithin } from './scopes.ts';
import { Section } from './section.tsx';
import own from './settings.module.css';

export function Keys() {
  const { credentialType } = useContext();
  const { keys: texts } = t.settings;
  if (credentialType === 'service') {
    return (
      <Section title={texts.title} about={texts.about}>
        <p className={form.hint}>{texts.service}</p>
      </Section>
    );
  }
  return <OwnKeys />;
}

type Asked = { what: 'create' } | { what: 'rotate' | 'revoke'; key: Key } | null;

function OwnKeys() {
  const context = useContext();
  const { scopes, credential } = context;
  const { keys: texts } = t.settings;
  const { data: keys, error, refetch } = useQuery(keysQuery);
  const [asked, setAsked] = useState<Asked>(null);
  // Nowhere else: it is gone with the page.
  const [made, setMade] = useState<{ title: string; secret: string } | null>(null);
  const close = () => setAsked(null);
  const show = (title: string, secret: string) => {
    setMade({ title, secret });
    close();
    void queryClient.invalidateQueries({ queryKey: keysQuery.queryKey });
  };
  return (
    <Section
      title={texts.title}
      about={texts.about}
      action={
        <Button look="primary" icon="Plus" onClick={() => setAsked({ what: 'create' })}>
          {texts.create}
        </Button>
      }
    >
      {keys?.length === 1 && isInvited(context) && <Warning>{texts.invited}</Warning>}
      {made !== null && <Secret {...made} onDone={() => setMade(null)} />}
      {keys === undefined && <NothingYet error={error} refetch={refetch} h={120} />}
      {keys !== undefined && (
        <ul className={own.rows}>
          {keys.map((key) => (
            <Row
              key={key.id}
              of={key}
              rotate={() => setAsked({ what: 'rotate', key })}
              revoke={() => setAsked({ what: 'revoke', key })}
            />
          ))}
        </ul>
      )}
      <NewKey
        open={asked?.what === 'create'}
        title={texts.createTitle}
        most={{ scopes, expiresAt: credential.expiresAt }}
        scopesHint={texts.scopesHint}
        make={(body) => api.keys.create(body)}
        onClose={close}
        onMade={show}
      />
      {asked !== null && asked.what === 'rotate' && <RotateKey of={asked.key} onClose={close} onMade={show} />}
      {asked !== null && asked.what === 'revoke' && <Revoke of={asked.key} onClose={close} />}
    </Section>
  );
}

function Row({ of: key, rotate, revoke }: { of: Key; rotate: () => void; revoke: () => void }) {
  const context = useContext();
  const { keys: texts } = t.settings;
  return (
    <li className={own.row}>
      <KeyFacts of={key} />
      {isWithin(key, context) ? (
        <div className={own.actions}>
          <Button small icon="Refresh" aria-label={texts.rotateName(key.name)} onClick={rotate}>
            {texts.rotate}
          </Button>
          <Button small look="danger" aria-label={texts.revokeName(key.name)} onClick={revoke}>
            {texts.revoke}
          </Button>
        </div>
      ) : (
        <small className={own.weak}>{texts.wider}</small>
      )}
    </li>
  );
}

function RotateKey({
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

function Revoke({ of: key, onClose }: { of: Key; onClose: () => void }) {
  const { keys: texts } = t.settings;
  const revoke = useMutation({
    mutationFn: () => api.keys.delete(key.id),
    onSuccess: () => {
      toast(texts.revoked(key.name));
      onClose();
      // Of the session's own key it finds that nobody is signed in any more.
      void queryClient.invalidateQueries({ queryKey: keysQuery.queryKey });
    },
  });
  return (
    <Confirm open onClose={onClose} title={texts.revokeTitle(key.name)} action={texts.revokeAction} does={revoke}>
      <p>{texts.revokeText}</p>
      {key.current && <p>{texts.revokeCurrent}</p>}
    </Confirm>
  );
}
