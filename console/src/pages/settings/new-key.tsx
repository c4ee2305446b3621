import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { AuthContext, CreateKey, Key } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { Check, Choice, DialogActions, form, FormFailure, Group, named, saidOf, TextField } from '../../ui/form.tsx';
import { fullTime } from '../../ui/format.ts';
import { Button, Dialog } from '../../ui/ui.tsx';
import { ALL_SCOPES, type Scope } from './scopes.ts';
import own from './settings.module.css';

const DAY_MS = 86_400_000;
const DAYS = [1, 7, 30, 90, 365];
/** As long as it may: the default of the service. */
const AS_LONG = 'as-long';

interface Props {
  /** What the key may have at most. */
  most: Pick<AuthContext, 'scopes'> & { expiresAt: string | null };
  scopesHint: string;
  make: (body: CreateKey) => Promise<{ key: Key; secret: string }>;
  onClose: () => void;
  onMade: (title: string, secret: string) => void;
}

export const NewKey = ({ open, title, ...props }: Props & { open: boolean; title: string }) => (
  <Dialog open={open} onClose={props.onClose} title={title}>
    <Form {...props} />
  </Dialog>
);

function Form({ most, scopesHint, make, onClose, onMade }: Props) {
  const { keys: texts } = t.settings;
  const mine = ALL_SCOPES.filter((scope) => most.scopes.includes(scope));
  const days = daysUntil(most.expiresAt);
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState(days.includes(30) ? '30' : AS_LONG);
  const [scopes, setScopes] = useState<Scope[]>(mine.filter((scope) => scope.endsWith(':read')));
  const [missing, setMissing] = useState<'name' | 'scopes' | null>(null);
  const create = useMutation({
    mutationFn: () => {
      const ends = expiry === AS_LONG ? undefined : new Date(Date.now() + Number(expiry) * DAY_MS).toISOString();
      return make({ name: name.trim(), scopes, ...(ends && { expiresAt: ends }) });
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
          ...days.map((one) => [String(one), texts.expiry[one] ?? ''] as const),
          [AS_LONG, most.expiresAt === null ? texts.never : texts.asThis(fullTime(most.expiresAt))],
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
          <p className={form.hint}>{scopesHint}</p>
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

/** What ends before that. */
function daysUntil(end: string | null): number[] {
  if (end === null) return DAYS;
  const left = new Date(end).getTime() - Date.now();
  return DAYS.filter((days) => days * DAY_MS < left);
}
