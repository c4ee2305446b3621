import { useId } from 'react';
import { t } from '../../../texts/index.ts';
import { form, TextField } from '../../../ui/form.tsx';
import { Button, toastError } from '../../../ui/ui.tsx';
import type { Credential } from './credential.ts';
import css from './hosts.module.css';

interface Props {
  /** Of the host; empty: none is named yet. */
  host: string;
  hosting: 'github' | 'gitlab';
  credential: Credential;
  said: (field: string) => string | null;
  change: (values: Partial<Credential>) => void;
}

/** Never offered again by the browser, and never read by those who look over a shoulder. */
const SECRET = { type: 'password', autoComplete: 'off', spellCheck: false, 'data-1p-ignore': true } as const;

export function CredentialFields(props: Props) {
  return props.credential.kind === 'token' ? <Token {...props} /> : <App {...props} />;
}

function Token({ host, hosting, credential, said, change }: Props) {
  const { settings: texts } = t.repositories;
  return (
    <div className={css.part}>
      <p className={form.hint}>
        {texts.tokenHint[hosting]}{' '}
        {host !== '' && (
          <a href={tokenPage(host, hosting)} target="_blank" rel="noreferrer">
            {texts.makeToken(host)}
          </a>
        )}
      </p>
      <TextField
        {...SECRET}
        label={texts.token}
        hint={texts.never}
        said={said('token')}
        value={credential.token}
        maxLength={2000}
        onChange={(token) => change({ token })}
      />
    </div>
  );
}

function App({ host, credential, said, change }: Props) {
  const { settings: texts } = t.repositories;
  const file = useId();
  return (
    <div className={css.part}>
      <p className={form.hint}>
        {texts.appAbout}{' '}
        {host !== '' && (
          <a href={`https://${host}/settings/apps`} target="_blank" rel="noreferrer">
            {texts.makeApp}
          </a>
        )}
      </p>
      <div className={css.two}>
        <TextField
          label={texts.appId}
          said={said('appId')}
          value={credential.appId}
          autoComplete="off"
          maxLength={100}
          onChange={(appId) => change({ appId })}
        />
        <TextField
          label={texts.installationId}
          hint={texts.installationHint}
          said={said('installationId')}
          value={credential.installationId}
          inputMode="numeric"
          autoComplete="off"
          maxLength={20}
          onChange={(installationId) => change({ installationId })}
        />
      </div>
      <div className={css.key}>
        <TextField
          {...SECRET}
          label={texts.privateKey}
          hint={`${texts.privateKeyHint} ${texts.never}`}
          said={said('privateKey')}
          value={credential.privateKey}
          onChange={(privateKey) => change({ privateKey })}
        />
        <input
          id={file}
          type="file"
          accept=".pem,.key,application/x-pem-file"
          hidden
          onChange={({ target }) => {
            const [chosen] = target.files ?? [];
            // Chosen again it is read again.
            target.value = '';
            chosen?.text().then((privateKey) => change({ privateKey }), toastError);
          }}
        />
        <Button icon="Paperclip" onClick={() => document.getElementById(file)?.click()}>
          {texts.file}
        </Button>
      </div>
    </div>
  );
}

/** Where one makes a token, with what it needs filled in where the host takes that. */
function tokenPage(host: string, hosting: Props['hosting']): string {
  const { product } = t.common;
  const page =
    hosting === 'github'
      ? `settings/personal-access-tokens/new?name=${product}&contents=write&pull_requests=write`
      : `-/user_settings/personal_access_tokens?name=${product}&scopes=api,write_repository`;
  return `https://${host}/${page}`;
}
