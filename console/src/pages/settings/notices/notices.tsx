// What the person who is signed in is told outside of the page, where, and when not.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { noticesQuery } from '../../../api/account-queries.ts';
import { api, type Notices as Settings } from '../../../api/client.ts';
import { queryClient } from '../../../api/queries.ts';
import { useContext } from '../../../shell/can.ts';
import { t } from '../../../texts/index.ts';
import { Check, FormFailure, saidOf, TextField, useFaultInFocus } from '../../../ui/form.tsx';
import { NothingYet } from '../../../ui/nothing.tsx';
import { Note } from '../../../ui/records.tsx';
import { Button, Failure, toast, toastError } from '../../../ui/ui.tsx';
import { Section } from '../section.tsx';
import own from '../settings.module.css';
import css from './notices.module.css';
import { ThisBrowser } from './this-browser.tsx';

const KINDS = ['needsYou', 'finished', 'failed'] as const;
const CHANNELS = ['push', 'email', 'hook'] as const;
type Channel = (typeof CHANNELS)[number];
const FIELDS = ['hookUrl', 'quiet.from', 'quiet.to', 'quiet.timezone'];
const NIGHT = { from: '22:00', to: '07:00' };

export default function Notices() {
  const personal = useContext().credentialType === 'personal_api_key';
  return personal ? <Own /> : <Note>{t.notices.service}</Note>;
}

function Own() {
  const { data: settings, error, refetch } = useQuery(noticesQuery);
  if (settings === undefined) return <NothingYet error={error} refetch={refetch} h={240} />;
  return (
    <>
      <Section title={t.notices.title} about={t.notices.about}>
        {error !== null && <Failure error={error} retry={() => void refetch()} />}
        <Form settings={settings} />
      </Section>
      <ThisBrowser push={settings.push} />
      <Section title={t.notices.test} about={t.notices.testAbout}>
        <Tests settings={settings} />
      </Section>
    </>
  );
}

function Form({ settings }: { settings: Settings }) {
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState(settings);
  const change = (changes: Partial<Settings>) => setDraft((now) => ({ ...now, ...changes }));
  const save = useMutation({
    mutationFn: () => {
      const { needsYou, finished, failed, hookUrl, quiet, detail } = draft;
      return api.notices.update({ needsYou, finished, failed, hookUrl: hookUrl || null, quiet, detail });
    },
    onSuccess: (saved) => {
      queryClient.setQueryData(noticesQuery.queryKey, saved);
      setDraft(saved);
      toast(t.notices.saved);
    },
  });
  useFaultInFocus(form, save.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!save.isPending) save.mutate();
  };
  const { quiet: hours } = draft;
  const quiet = (changes: Partial<NonNullable<Settings['quiet']>>) =>
    hours !== null && change({ quiet: { ...hours, ...changes } });
  const asksBrowser = KINDS.some((kind) => draft[kind].includes('push')) && settings.push.subscriptions === 0;
  return (
    <form ref={form} className={own.form} onSubmit={submit} noValidate>
      <Choices draft={draft} change={change} />
      <p className={css.said}>
        {settings.email === null ? t.notices.noEmail : t.notices.toAddress(settings.email)}
        {asksBrowser && ` ${t.notices.noBrowser}`}
      </p>
      <TextField
        label={t.notices.hookUrl}
        hint={t.notices.hookHint}
        said={saidOf(save.error, 'hookUrl')}
        type="url"
        mono
        autoComplete="off"
        placeholder="https://"
        value={draft.hookUrl ?? ''}
        onChange={(hookUrl) => change({ hookUrl })}
      />
      <Check checked={draft.detail} onChange={(detail) => change({ detail })}>
        {t.notices.detail}
        <small>{t.notices.detailAbout}</small>
      </Check>
      <Check
        checked={draft.quiet !== null}
        onChange={(on) => change({ quiet: on ? (settings.quiet ?? { ...NIGHT, timezone: zoneHere() }) : null })}
      >
        {t.notices.quiet}
        <small>{t.notices.quietAbout}</small>
      </Check>
      {hours !== null && (
        <div className={css.quiet}>
          {(['from', 'to'] as const).map((end) => (
            <TextField
              key={end}
              label={t.notices[end]}
              said={saidOf(save.error, `quiet.${end}`)}
              type="time"
              value={hours[end]}
              onChange={(time) => quiet({ [end]: time })}
            />
          ))}
          <TextField
            label={t.notices.zone}
            said={saidOf(save.error, 'quiet.timezone')}
            spellCheck={false}
            value={hours.timezone}
            onChange={(timezone) => quiet({ timezone })}
          />
        </div>
      )}
      <FormFailure error={save.error} fields={FIELDS} />
      <div>
        <Button type="submit" look="primary" disabled={save.isPending}>
          {save.isPending ? t.notices.saving : t.notices.save}
        </Button>
      </div>
    </form>
  );
}

function Choices({ draft, change }: { draft: Settings; change: (changes: Partial<Settings>) => void }) {
  const set = (kind: (typeof KINDS)[number], channel: Channel, on: boolean) =>
    change({ [kind]: CHANNELS.filter((one) => (one === channel ? on : draft[kind].includes(one))) });
  return (
    <table className={css.choices}>
      <thead>
        <tr>
          <th scope="col">{t.notices.kind}</th>
          {CHANNELS.map((channel) => (
            <th key={channel} scope="col">
              {t.notices.channels[channel]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {KINDS.map((kind) => (
          <tr key={kind}>
            <th scope="row">{t.notices.kinds[kind]}</th>
            {CHANNELS.map((channel) => (
              <td key={channel}>
                <label>
                  <span className="sr">{t.notices.cell(t.notices.kinds[kind], t.notices.by[channel])}</span>
                  <input
                    type="checkbox"
                    checked={draft[kind].includes(channel)}
                    // What was chosen before can be taken back.
                    disabled={channel === 'email' && draft.email === null && !draft[kind].includes(channel)}
                    onChange={({ target }) => set(kind, channel, target.checked)}
                  />
                </label>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Tests({ settings }: { settings: Settings }) {
  const test = useMutation({
    mutationFn: (channel: Channel) => api.notices.test(channel),
    onSuccess: () => toast(t.notices.tested),
    onError: toastError,
  });
  const leads: Record<Channel, boolean> = {
    push: settings.push.subscriptions > 0,
    email: settings.email !== null,
    hook: settings.hookUrl !== null,
  };
  return (
    <div className={css.tests}>
      {CHANNELS.map((channel) => (
        <Button
          key={channel}
          icon="Send"
          disabled={!leads[channel] || test.isPending}
          onClick={() => test.mutate(channel)}
        >
          {t.notices.testBy[channel]}
        </Button>
      ))}
    </div>
  );
}

const zoneHere = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
