import { t } from '../../../texts/index.ts';
import { Choice, Field, form as parts, Group, named, TextField } from '../../../ui/form.tsx';
import { records } from '../../../ui/records.tsx';
import { TagInput } from '../../../ui/tags.tsx';
import { Button, cx, ui } from '../../../ui/ui.tsx';
import { type Draft, newLine } from './draft.ts';
import css from './environments.module.css';

interface Part {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  /** What is wrong with a field, by the name that the API has for it. */
  said: (field: string) => string | null;
}

const Said = ({ label, said }: { label: string; said: string | null }) =>
  said !== null && (
    <p className={parts.bad} role="alert">
      {named(said, label)}
    </p>
  );

/** Commands of bash: one may have several lines. */
export function Setup({ draft: { setup }, change, said }: Part) {
  const texts = t.environments;
  const wrong = said('setup');
  return (
    <Group label={texts.setup}>
      <p className={parts.hint}>{texts.setupAbout}</p>
      {setup.map((line, n) => (
        <div key={line.id} className={css.command}>
          <textarea
            className={cx(ui.input, css.lines, 'mono')}
            aria-label={texts.command(n + 1)}
            aria-invalid={said(`setup[${n}]`) !== null}
            rows={Math.min(12, line.text.split('\n').length)}
            value={line.text}
            placeholder="npm ci"
            autoCapitalize="off"
            spellCheck={false}
            onChange={({ target }) =>
              change({ setup: setup.map((one) => (one.id === line.id ? { ...one, text: target.value } : one)) })
            }
          />
          <Button
            look="ghost"
            icon="X"
            aria-label={texts.takeCommand(n + 1)}
            onClick={() => change({ setup: setup.filter(({ id }) => id !== line.id) })}
          />
        </div>
      ))}
      <Said label={texts.setup} said={wrong} />
      <div>
        <Button small icon="Plus" onClick={() => change({ setup: [...setup, newLine()] })}>
          {texts.addCommand}
        </Button>
      </div>
    </Group>
  );
}

export function Refreshing({ draft: { refresh, files, onFailure }, change, said }: Part) {
  const texts = t.environments;
  const ofFiles = said('refresh.onLockfile') ?? (refresh === 'onLockfile' ? said('refresh') : null);
  return (
    <>
      <div className={records.columns}>
        <Choice
          label={texts.refresh}
          said={refresh === 'onLockfile' ? null : said('refresh')}
          value={refresh}
          onChange={(next) => change({ refresh: next })}
          options={(['never', 'daily', 'onLockfile'] as const).map((one) => [one, texts.refreshes[one]] as const)}
        />
        <Choice
          label={texts.onFailure}
          said={said('onFailure')}
          value={onFailure}
          onChange={(next) => change({ onFailure: next })}
          options={(['fail', 'lastGood'] as const).map((one) => [one, texts.onFailures[one]] as const)}
        />
      </div>
      {refresh === 'onLockfile' && (
        <Field label={texts.files} hint={texts.filesHint} said={ofFiles}>
          {(control) => (
            <TagInput control={control} longest={200} tags={files} onChange={(next) => change({ files: next })} />
          )}
        </Field>
      )}
    </>
  );
}

const LIMITS = [
  ['memory', 'resources.memoryBytes', 'memoryField'],
  ['disk', 'resources.diskBytes', 'diskField'],
  ['seconds', 'resources.wallClockSeconds', 'secondsField'],
] as const;

export function Limits({ draft, change, said }: Part) {
  const texts = t.environments;
  return (
    <Group label={texts.resources}>
      <p className={parts.hint}>{texts.limitHint}</p>
      <div className={records.columns}>
        {LIMITS.map(([name, field, label]) => (
          <TextField
            key={name}
            label={texts[label]}
            said={said(name) ?? said(field)}
            value={draft[name]}
            inputMode="numeric"
            autoComplete="off"
            maxLength={12}
            onChange={(text) => change({ [name]: text })}
          />
        ))}
      </div>
    </Group>
  );
}
