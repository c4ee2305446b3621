import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { decideDevice, lookAtDevice } from '../../api/device.ts';
import { t } from '../../texts/index.ts';
import { fullTime } from '../../ui/format.ts';
import { Button, cx, Failure, ui } from '../../ui/ui.tsx';
import css from './device-page.module.css';

/** Where a person lets a command in: by the code that its terminal shows. */
export default function DevicePage() {
  const [code, setCode] = useState('');
  const look = useMutation({ mutationFn: () => lookAtDevice(code) });
  const decide = useMutation({ mutationFn: (approved: boolean) => decideDevice(code, approved) });
  useEffect(() => {
    document.title = t.device.title;
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    look.mutate();
  };
  const done = decide.isSuccess && (decide.variables ? t.device.approved : t.device.denied);
  return (
    <div className={css.page}>
      <h1>{t.device.title}</h1>
      {done !== false ? (
        <p role="status">{done}</p>
      ) : look.data === undefined ? (
        <form className={css.form} onSubmit={submit}>
          <p>{t.device.text}</p>
          <label className={css.field}>
            <span>{t.device.code}</span>
            <input
              className={cx(ui.input, 'mono')}
              value={code}
              onChange={(event) => setCode(event.target.value)}
              placeholder="BCDF-GHJK"
              autoFocus
              autoComplete="off"
              autoCapitalize="characters"
              spellCheck={false}
              required
              aria-invalid={look.isError}
            />
          </label>
          {look.isError && <Failure error={look.error} />}
          <Button type="submit" look="primary" disabled={look.isPending || code.trim() === ''}>
            {look.isPending ? t.device.looking : t.device.look}
          </Button>
        </form>
      ) : (
        <section className={css.form} aria-label={t.device.asks}>
          <p>{t.device.asks}</p>
          <dl className={css.facts}>
            <dt>{t.device.from}</dt>
            <dd>{look.data.address ?? t.device.unknown}</dd>
            <dt>{t.device.at}</dt>
            <dd>{fullTime(look.data.createdAt)}</dd>
            <dt>{t.device.ends}</dt>
            <dd>{look.data.keyExpiresAt === null ? t.device.never : fullTime(look.data.keyExpiresAt)}</dd>
            <dt>{t.device.scopes}</dt>
            <dd className="mono">{look.data.scopes.join(', ')}</dd>
          </dl>
          {decide.isError && <Failure error={decide.error} />}
          <div className={css.buttons}>
            <Button look="primary" disabled={decide.isPending} onClick={() => decide.mutate(true)}>
              {t.device.approve}
            </Button>
            <Button disabled={decide.isPending} onClick={() => decide.mutate(false)}>
              {t.device.deny}
            </Button>
          </div>
        </section>
      )}
    </div>
  );
}
