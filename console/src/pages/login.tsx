import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { find, provider, providerLink, signIn, takeCode, takeRefusal } from '../api/session.ts';
import { ThemeButton } from '../shell/theme.tsx';
import { t } from '../texts/index.ts';
import { Command } from '../ui/command.tsx';
import { Button, cx, Failure, ui, Warning } from '../ui/ui.tsx';
import css from './login.module.css';

/** Taken once, before anything is drawn: it leaves the address. */
const code = takeCode();
const refusal = takeRefusal();

/** At the start: by the code of the link that led here, else by the session that the browser has. */
export function useSignInByLink(): { error: unknown } {
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    // Of a link that was used before, somebody who is signed in notices nothing.
    const enter = (by: string) =>
      signIn({ code: by }).then(
        () => setError(null),
        (refused: unknown) => (setError(refused), find()),
      );
    if (code === null) void find();
    else void enter(code);
    // A link that is put into the address of this very page loads nothing.
    const onHash = () => {
      const another = takeCode();
      if (another !== null) void enter(another);
    };
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, []);
  return { error };
}

const KEY = /^mw_[ps]k_[0-9A-Za-z]{49}$/;

export function LoginPage({ ended, linkError }: { ended: boolean; linkError: unknown }) {
  const [key, setKey] = useState('');
  const [shown, setShown] = useState(false);
  const login = useMutation({
    mutationFn: async (text: string) => {
      if (!KEY.test(text)) throw new Error(t.login.form);
      await signIn({ key: text });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    login.mutate(key.trim());
  };
  useEffect(() => {
    document.title = t.login.title;
  }, []);
  return (
    <main className={css.login}>
      <ThemeButton className={css.theme} />
      <form className={css.card} onSubmit={submit}>
        <img src="/console/favicon.svg" alt="" width={40} height={40} />
        <div>
          <h1>{t.login.title}</h1>
          <p>{t.login.text}</p>
        </div>
        {ended && <Warning>{t.login.ended}</Warning>}
        {refusal !== null && <Warning>{t.login.refused[refusal] ?? t.login.refusedOtherwise}</Warning>}
        {provider !== null && (
          <>
            <a className={css.provider} href={providerLink()}>
              {t.login.by(provider)}
            </a>
            <p className={css.or}>{t.login.or}</p>
          </>
        )}
        {linkError !== null && !login.isError && <Failure error={linkError} />}
        <label className={css.field}>
          <span>{t.login.key}</span>
          <span className={css.row}>
            <input
              className={cx(ui.input, 'mono')}
              type={shown ? 'text' : 'password'}
              value={key}
              onChange={(event) => setKey(event.target.value)}
              placeholder="mw_pk_…"
              // Not while somebody may write on: their words are no key.
              autoFocus={!ended && provider === null}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              required
              aria-invalid={login.isError}
            />
            <Button
              look="ghost"
              icon={shown ? 'EyeOff' : 'Eye'}
              aria-label={shown ? t.login.hide : t.login.show}
              onClick={() => setShown(!shown)}
            />
          </span>
        </label>
        {login.isError && <Failure error={login.error} />}
        <Button type="submit" look="primary" disabled={login.isPending || key.trim() === ''}>
          {login.isPending ? t.login.signingIn : t.login.signIn}
        </Button>
        <details className={css.help}>
          <summary>{t.login.where}</summary>
          <p>{t.login.operator}</p>
          <Command line={t.login.command} />
          <p>{t.login.link}</p>
          <Command line={t.login.linkCommand} />
          <p>{t.login.narrow}</p>
        </details>
      </form>
    </main>
  );
}
