import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, type AuthContext } from '../../api/client.ts';
import { useContext } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Check, Choice, DialogActions, form, FormFailure, Group, named, saidOf, TextField } from '../../ui/form.tsx';
import { fullTime } from '../../ui/format.ts';
import { Button, Dialog } from '../../ui/ui.tsx';
import { ALL_SCOPES, type Scope } from './scopes.ts';
import own from './settings.module.css';

const DAY_MS = 86_400_000;
const DAYS = [1, 7, 30, 90, 365];
/** As long as the key of the session: the default of the service. */
const AS_THIS = 'as-this';

interface Props {
  onClose: () => void;
  onMade: (title: string, secret: string) => void;
}

export const NewKey = ({ open, ...props }: Props & { open: boolean }) => (
  <Dialog open={open} onClose={props.onClose} title={t.settings.keys.createTitle}>
    <Form {...props} />
  </Dialog>
);

function Form({ onClose, onMade }: Props) {
  const context = useContext();
  const { expiresAt } = context.credential;
  const { keys: texts } = t.settings;
  const mine = ALL_SCOPES.filter((scope) => context.scopes.includes(scope));
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState(daysWithin(context).includes(30) ? '30' : AS_THIS);
  const [scopes, setScopes] = useState<Scope[]>(mine.filter((scope) => scope.endsWith(':read')));
  const [missing, setMissing] = useState<'name' | 'scopes' | null>(null);
  const create = useMutation({
    mutationFn: () => {
      const ends = expiry === AS_THIS ? undefined : new Date(Date.now() + Number(expiry) * DAY_MS).toISOString();
      return api.keys.create({ name: name.trim(), scopes, ...(ends && { expiresAt: ends }) });
    },
    onSuccess: ({ key, secret }) => onMade(texts.madeTitle(key.name), secret),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const lacks = name.trim() === '' ? 'name' : scopes.length === 0 ? 'scopes' : null;
    setMissing(lacks);
    if (lacks === null) create.mutate();
  };
  const said = (field: string) => saidOf(create.error, field);
  const scopesSaid = missing === 'scopes' ? texts.noScopes : said('scopes');
  return (
    <form className={own.form} onSubmit={submit} noValidate>
      <TextField
        label={texts.name}
        hint={texts.nameHint}
        said={missing === 'name' ? texts.noName : said('name')}
        value={name}
        autoFocus
        autoComplete="off"
        maxLength={100}
        onChange={setName}
      />
      <Choice
        label={texts.expires}
        said={said('expiresAt')}
        value={expiry}
        onChange={setExpiry}
        options={[
          ...daysWithin(context).map((days) => [String(days), texts.expiry[days] ?? ''] as const),
          [AS_THIS, expiresAt === null ? texts.never : texts.asThis(fullTime(expiresAt))],
        ]}
      />
      <Group label={texts.scopes}>
        <span className={own.presets}>
          <Button small onClick={() => setScopes(mine.filter((scope) => scope.endsWith(':read')))}>
            {texts.onlyRead}
          </Button>
          <Button small onClick={() => setScopes(mine)}>
            {texts.everything}
          </Button>
        </span>
        <div className={own.choices}>
          {mine.map((scope) => (
            <Check
              key={scope}
              checked={scopes.includes(scope)}
              onChange={(checked) => setScopes(mine.filter((one) => (one === scope ? checked : scopes.includes(one))))}
            >
              <code>{scope}</code>
            </Check>
          ))}
        </div>
        {scopesSaid === null ? (
          <p className={form.hint}>{texts.scopesHint}</p>
        ) : (
          <p className={form.bad} role="alert">
            {named(scopesSaid, texts.scopes)}
          </p>
        )}
      </Group>
      <FormFailure error={create.error} fields={['name', 'expiresAt', 'scopes']} />
      <DialogActions onKeep={onClose} type="submit" disabled={create.isPending}>
        {texts.createAction}
      </DialogActions>
    </form>
  );
}

/** What ends before the key of the session does. */
function daysWithin({ credential: { expiresAt } }: AuthContext): number[] {
  if (expiresAt === null) return DAYS;
  const left = new Date(expiresAt).getTime() - Date.now();
  return DAYS.filter((days) => days * DAY_MS < left);
}
