import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { integrationsQuery } from '../../api/automation-queries.ts';
import { api, type Integration } from '../../api/client.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { type Editing, Field, fieldOf, FormFailure, saidOf, TextArea, TextField } from '../../ui/form.tsx';
import { Loaded, records } from '../../ui/records.tsx';
import { Button, ui, Warning } from '../../ui/ui.tsx';
import css from './automations.module.css';
import type { Draft } from './draft.ts';

const w = t.automationEditor;

/** Which event of which integration, and what its payload must be. */
export function EventFields(editing: Editing<Draft>) {
  const can = useCan();
  const query = useQuery({ ...integrationsQuery, enabled: can('integrations:read') });
  return (
    <>
      {can('integrations:read') ? (
        <Loaded query={query}>{(integrations) => <Chooser {...editing} integrations={integrations} />}</Loaded>
      ) : (
        <TextField
          label={w.event}
          hint={`${w.noIntegrations} ${w.eventHint}`}
          {...fieldOf(editing, 'triggerEvent')}
          mono
          spellCheck={false}
        />
      )}
      <TextField
        label={w.filter}
        hint={w.filterHint}
        {...fieldOf(editing, 'filter')}
        mono
        placeholder={w.filterPlaceholder}
        autoComplete="off"
        spellCheck={false}
      />
      {editing.draft.filter.trim() !== '' && <Trial {...editing} />}
    </>
  );
}

function Chooser({ draft, change, error, integrations }: Editing<Draft> & { integrations: Integration[] }) {
  const [slug, setSlug] = useState(() => draft.triggerEvent.split('.')[0] ?? '');
  const chosen = integrations.find((one) => one.slug === slug);
  const groups = [
    { label: w.connected, of: integrations.filter(({ connected }) => connected) },
    { label: w.notConnected, of: integrations.filter(({ connected }) => !connected) },
  ];
  return (
    <>
      <div className={records.columns}>
        <Field label={w.integration}>
          {(control) => (
            <select
              {...control}
              className={ui.select}
              value={slug}
              onChange={(event) => {
                setSlug(event.target.value);
                change({ triggerEvent: '' });
              }}
            >
              <option value="">{w.integrationNone}</option>
              {groups.map(
                ({ label, of }) =>
                  of.length > 0 && (
                    <optgroup key={label} label={label}>
                      {of.map((one) => (
                        <option key={one.slug} value={one.slug}>
                          {one.name}
                        </option>
                      ))}
                    </optgroup>
                  ),
              )}
            </select>
          )}
        </Field>
        <Field
          label={w.event}
          hint={chosen?.triggerEvents.find(({ name }) => name === draft.triggerEvent)?.description}
          said={saidOf(error, 'triggerEvent')}
        >
          {(control) => (
            <select
              {...control}
              className={ui.select}
              value={draft.triggerEvent}
              onChange={(event) => change({ triggerEvent: event.target.value })}
            >
              <option value="">{w.eventNone}</option>
              {chosen && <Events of={chosen} chosen={draft.triggerEvent} />}
            </select>
          )}
        </Field>
      </div>
      {chosen?.connected === false && (
        <Warning>
          {w.connectFirst(chosen.name)}{' '}
          <Link href={`/integrations/${slug}`} className={records.link ?? ''}>
            {w.howToConnect}
          </Link>
        </Warning>
      )}
    </>
  );
}

/** Those with several actions stand together, below all of them at once. */
function Events({ of: { triggerEvents }, chosen }: { of: Integration; chosen: string }) {
  const names = triggerEvents.map(({ name }) => name);
  const groups = Object.entries(Object.groupBy(names, (name) => (name.split('.').length > 2 ? headOf(name) : '')));
  const patterns = groups.map(([head]) => `${head}.*`);
  return (
    <>
      {/* One that the catalogue has no longer. */}
      {chosen !== '' && !names.includes(chosen) && !patterns.includes(chosen) && (
        <option value={chosen}>{chosen}</option>
      )}
      {groups.map(([head, events = []]) =>
        head === '' ? (
          events.map((name) => <option key={name}>{name}</option>)
        ) : (
          <optgroup key={head} label={head}>
            <option value={`${head}.*`}>{w.anyAction(head)}</option>
            {events.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </optgroup>
        ),
      )}
    </>
  );
}

const headOf = (name: string) => name.slice(0, name.lastIndexOf('.'));

/** Whether an event would start a run, as the service sees it; nothing is made. */
function Trial({ draft: { triggerEvent, filter } }: Editing<Draft>) {
  const [text, setText] = useState('');
  const trial = useMutation({
    mutationFn: () => {
      const samplePayload = payloadOf(text);
      if (samplePayload === null) throw new Error(w.sampleWrong);
      return api.automations.rehearse({ name: w.tryTitle, content: w.tryTitle, triggerEvent, filter, samplePayload });
    },
  });
  const { reset } = trial;
  // The verdict is of what was tried.
  useEffect(reset, [filter, triggerEvent, text, reset]);
  return (
    <details className={records.more}>
      <summary>{w.tryTitle}</summary>
      <div className={css.try}>
        <TextArea
          label={w.sample}
          mono
          value={text}
          placeholder={'{"action": "opened"}'}
          spellCheck={false}
          onChange={setText}
        />
        <FormFailure error={trial.error} fields={[]} />
        {trial.data && (
          <p className={css.verdict} role="status">
            {trial.data.wouldRun === true ? w.wouldRun : w.wouldNotRun}
          </p>
        )}
        <Button disabled={trial.isPending || text.trim() === ''} onClick={() => trial.mutate()}>
          {w.tryIt}
        </Button>
      </div>
    </details>
  );
}

function payloadOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
