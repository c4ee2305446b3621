import { useState } from 'react';
import { t } from '../../texts/index.ts';
import { Choice, type Editing, fieldOf, TextField } from '../../ui/form.tsx';
import { records } from '../../ui/records.tsx';
import { Button, Segmented } from '../../ui/ui.tsx';
import { Times } from './automation-facts.tsx';
import css from './automations.module.css';
import { nextTimes, parseCron } from './cron.ts';
import { inWords } from './cron-words.ts';
import { type Draft, hereZone } from './draft.ts';
import { EventFields } from './event-fields.tsx';

const w = t.automationEditor;
const KINDS = ['recurring', 'one_time', 'webhook'] as const;

export function TriggerFields(editing: Editing<Draft>) {
  const { draft, change } = editing;
  return (
    <>
      <div className={css.switch}>
        <Segmented
          label={w.kind}
          value={draft.kind}
          onChange={(kind) => change({ kind })}
          options={KINDS.map((kind) => ({ value: kind, label: t.automations.kind[kind] }))}
        />
      </div>
      {draft.kind === 'recurring' && <Schedule {...editing} />}
      {draft.kind === 'one_time' && <Once {...editing} />}
      {draft.kind === 'webhook' && <EventFields {...editing} />}
    </>
  );
}

/** Shows the next times while one types, by the same rules as the service's. */
function Schedule(editing: Editing<Draft>) {
  const { cron, timezone } = editing.draft;
  const [now] = useState(() => Date.now());
  const parsed = parseCron(cron);
  const times = parsed === null ? [] : nextTimes(parsed, timezone, now, 5);
  return (
    <>
      <div className={css.presets} role="group" aria-label={w.presets}>
        {Object.entries(w.preset).map(([expression, name]) => (
          <Button
            key={expression}
            small
            aria-pressed={cron === expression}
            onClick={() => editing.change({ cron: expression })}
          >
            {name}
          </Button>
        ))}
      </div>
      <div className={records.columns}>
        <TextField
          label={w.cron}
          hint={w.cronHint}
          {...fieldOf(editing, 'cron')}
          mono
          autoComplete="off"
          spellCheck={false}
        />
        <Choice
          label={w.zone}
          {...fieldOf(editing, 'timezone')}
          options={zonesWith(timezone).map((zone) => [zone, zone.replaceAll('_', ' ')] as const)}
        />
      </div>
      <p className={css.words} role="status">
        {parsed === null ? w.cronUnknown : times.length === 0 ? w.cronNever : `${inWords(parsed)}.`}
      </p>
      {times.length > 0 && (
        <section aria-label={w.nextTimes}>
          <Times times={times} timezone={timezone} />
        </section>
      )}
    </>
  );
}

/** Those that the browser knows, and the one that is chosen. */
const zonesWith = (zone: string): string[] => [...new Set(['UTC', zone, ...Intl.supportedValuesOf('timeZone')])].sort();

const Once = (editing: Editing<Draft>) => (
  <TextField label={w.runAt} hint={w.runAtHint(hereZone())} {...fieldOf(editing, 'runAt')} type="datetime-local" />
);
