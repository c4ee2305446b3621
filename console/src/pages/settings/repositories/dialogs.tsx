import { type FormEvent, useRef, useState } from 'react';
import type { RepositoryConnection } from '../../../api/client.ts';
import { t } from '../../../texts/index.ts';
import { Confirm, DialogActions, FormFailure, saidOf, useFaultInFocus } from '../../../ui/form.tsx';
import { Dialog } from '../../../ui/ui.tsx';
import own from '../settings.module.css';
import { PatternFields } from './connect.tsx';
import { CredentialFields } from './credential-fields.tsx';
import { type Credential, missingIn, NO_CREDENTIAL, sentOf } from './credential.ts';
import { useChange, useRemove, useReplace } from './use-connections.ts';

interface Props {
  of: RepositoryConnection;
  onClose: () => void;
}

export function Edit({ of: connection, onClose }: Props) {
  const { settings: texts } = t.repositories;
  const element = useRef<HTMLFormElement>(null);
  const [paths, setPaths] = useState(connection.paths);
  const [push, setPush] = useState(connection.push);
  const [none, setNone] = useState(false);
  const save = useChange(connection, onClose);
  useFaultInFocus(element, none || save.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setNone(paths.length === 0);
    if (paths.length > 0 && !save.isPending) save.mutate({ paths, push });
  };
  return (
    <Dialog open onClose={onClose} title={texts.editTitle(connection.host)}>
      <form ref={element} className={own.form} onSubmit={submit} noValidate>
        <PatternFields
          paths={paths}
          push={push}
          said={(field) => (none && field === 'paths' ? texts.needed : saidOf(save.error, field))}
          onPaths={setPaths}
          onPush={setPush}
        />
        <FormFailure error={save.error} fields={['paths', 'push']} />
        <DialogActions onKeep={onClose} type="submit" disabled={save.isPending}>
          {texts.save}
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Another credential of the same kind. */
export function Replace({ of: connection, onClose }: Props) {
  const { settings: texts } = t.repositories;
  const { host, hosting, kind } = connection;
  const element = useRef<HTMLFormElement>(null);
  const [credential, setCredential] = useState<Credential>({ ...NO_CREDENTIAL, kind });
  const [missing, setMissing] = useState<string[]>([]);
  const replace = useReplace(connection, onClose);
  useFaultInFocus(element, missing.length > 0 ? missing : replace.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const lacks = missingIn(credential);
    setMissing(lacks);
    if (lacks.length === 0 && !replace.isPending) replace.mutate(sentOf(credential));
  };
  return (
    <Dialog open onClose={onClose} title={texts.rotateTitle(host)}>
      <form ref={element} className={own.form} onSubmit={submit} noValidate autoComplete="off">
        <p>{texts.rotateText}</p>
        <CredentialFields
          host={host}
          hosting={hosting}
          credential={credential}
          said={(field) => (missing.includes(field) ? texts.needed : saidOf(replace.error, field))}
          change={(values) => setCredential({ ...credential, ...values })}
        />
        <FormFailure error={replace.error} fields={['token', 'appId', 'installationId', 'privateKey']} />
        <DialogActions onKeep={onClose} type="submit" disabled={replace.isPending}>
          {texts.replace}
        </DialogActions>
      </form>
    </Dialog>
  );
}

export function Remove({ of: connection, onClose }: Props) {
  const { settings: texts } = t.repositories;
  const remove = useRemove(connection, onClose);
  return (
    <Confirm open onClose={onClose} title={texts.removeTitle(connection.host)} action={texts.remove} does={remove}>
      <p>{texts.removeText}</p>
    </Confirm>
  );
}
