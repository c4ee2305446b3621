import { type FormEvent, useRef, useState } from 'react';
import { t } from '../../../texts/index.ts';
import {
  Choice,
  DialogActions,
  Field,
  FormFailure,
  form,
  saidOf,
  TextField,
  useFaultInFocus,
} from '../../../ui/form.tsx';
import { TagInput } from '../../../ui/tags.tsx';
import { Dialog, Segmented } from '../../../ui/ui.tsx';
import own from '../settings.module.css';
import { CredentialFields } from './credential-fields.tsx';
import { type Credential, missingIn, NO_CREDENTIAL, sentOf } from './credential.ts';
import css from './hosts.module.css';
import { useConnect } from './use-connections.ts';

type At = 'github' | 'gitlab' | 'other';
type Hosting = 'github' | 'gitlab';
const KNOWN = { github: 'github.com', gitlab: 'gitlab.com', other: null } as const;
const FIELDS = ['host', 'hosting', 'api', 'token', 'appId', 'installationId', 'privateKey', 'paths', 'push'];

/** A new connection. What stands in it goes with it. */
export const Connect = ({ open, onClose }: { open: boolean; onClose: () => void }) => (
  <Dialog open={open} onClose={onClose} title={t.repositories.settings.connectTitle}>
    <Form onClose={onClose} />
  </Dialog>
);

function Form({ onClose }: { onClose: () => void }) {
  const { settings: texts } = t.repositories;
  const element = useRef<HTMLFormElement>(null);
  const [at, setAt] = useState<At>('github');
  const [named, setNamed] = useState('');
  const [chosen, setChosen] = useState<Hosting>('github');
  const [api, setApi] = useState('');
  const [credential, setCredential] = useState<Credential>(NO_CREDENTIAL);
  const [paths, setPaths] = useState(['**']);
  const [push, setPush] = useState(['millwright/*']);
  const [missing, setMissing] = useState<string[]>([]);
  const connect = useConnect(onClose);
  const hosting = at === 'other' ? chosen : at;
  const host = KNOWN[at] ?? named.trim();
  const kind = hosting === 'github' ? credential.kind : 'token';
  useFaultInFocus(element, missing.length > 0 ? missing : connect.error);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const lacks = [...(host === '' ? ['host'] : []), ...missingIn({ ...credential, kind })];
    setMissing(lacks);
    if (lacks.length > 0 || connect.isPending) return;
    const place = at === 'other' ? { hosting, ...(api.trim() !== '' && { api: api.trim() }) } : {};
    connect.mutate({ host, ...place, ...sentOf({ ...credential, kind }), ...(paths.length > 0 && { paths }), push });
  };
  const said = (field: string) => (missing.includes(field) ? texts.needed : saidOf(connect.error, field));
  return (
    <form ref={element} className={own.form} onSubmit={submit} noValidate autoComplete="off">
      <div className={css.group}>
        <span>{texts.host}</span>
        <Segmented
          label={texts.host}
          value={at}
          onChange={setAt}
          options={(['github', 'gitlab', 'other'] as const).map((value) => ({ value, label: texts.hosts[value] }))}
        />
      </div>
      {at === 'other' && (
        <div className={css.two}>
          <TextField
            label={texts.hostName}
            hint={texts.hostHint}
            said={said('host')}
            value={named}
            placeholder="git.acme.example"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={255}
            onChange={setNamed}
          />
          <Choice
            label={texts.hosting}
            said={said('hosting')}
            value={chosen}
            onChange={setChosen}
            options={[
              ['github', texts.servers.github],
              ['gitlab', texts.servers.gitlab],
            ]}
          />
          <TextField
            label={texts.api}
            hint={texts.apiHint}
            said={said('api')}
            type="url"
            value={api}
            placeholder="https://"
            spellCheck={false}
            maxLength={2048}
            onChange={setApi}
          />
        </div>
      )}
      {at !== 'other' && said('host') !== null && <p className={form.bad}>{said('host')}</p>}
      {hosting === 'github' && (
        <div className={css.group}>
          <span>{texts.means}</span>
          <Segmented
            label={texts.means}
            value={credential.kind}
            onChange={(next) => setCredential({ ...credential, kind: next })}
            options={[
              { value: 'token', label: texts.ways.token },
              { value: 'github_app', label: texts.ways.app },
            ]}
          />
        </div>
      )}
      <CredentialFields
        host={host}
        hosting={hosting}
        credential={{ ...credential, kind }}
        said={said}
        change={(values) => setCredential({ ...credential, ...values })}
      />
      <PatternFields paths={paths} push={push} said={said} onPaths={setPaths} onPush={setPush} />
      <FormFailure error={connect.error} fields={FIELDS} />
      <DialogActions onKeep={onClose} type="submit" disabled={connect.isPending}>
        {connect.isPending ? texts.connecting : texts.create}
      </DialogActions>
    </form>
  );
}

/** For which repositories it is, and which branches tasks may push to. */
export function PatternFields({
  paths,
  push,
  said,
  onPaths,
  onPush,
}: {
  paths: string[];
  push: string[];
  said: (field: string) => string | null;
  onPaths: (paths: string[]) => void;
  onPush: (push: string[]) => void;
}) {
  const { settings: texts } = t.repositories;
  return (
    <>
      <Field label={texts.paths} hint={texts.pathsHint} said={said('paths')}>
        {(control) => <TagInput control={control} longest={200} tags={paths} onChange={onPaths} />}
      </Field>
      <Field label={texts.push} hint={texts.pushHint} said={said('push')}>
        {(control) => <TagInput control={control} longest={200} tags={push} onChange={onPush} />}
      </Field>
    </>
  );
}
