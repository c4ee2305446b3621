import { t } from '../../texts/index.ts';
import { Field, form as parts, named, TextField } from '../../ui/form.tsx';
import { TagInput } from '../../ui/tags.tsx';
import { Button, cx, ui } from '../../ui/ui.tsx';
import { type CheckLine, type ChecksDraft, namesOf, newLine } from './checks-draft.ts';
import css from './new-task.module.css';

const MOST = 16;

/** Commands that the service runs itself before the task is done: a line for each. */
export function ChecksFields({
  draft,
  change,
  said,
}: {
  draft: ChecksDraft;
  change: (changes: Partial<ChecksDraft>) => void;
  said: (param: string) => string | null;
}) {
  const { lines, protect, maxRepairs } = draft;
  const texts = t.checksForm;
  const wrong = said('checks');
  const isOf = (field: string) => lines.some((_, n) => said(`checks[${n}].${field}`) !== null);
  const notPaths = isOf('protect');
  const label = isOf('name') ? texts.namePlaceholder : isOf('command') ? texts.command : t.checks.title;
  const names = namesOf(lines);
  const set = (id: string, changes: Partial<CheckLine>) =>
    change({ lines: lines.map((line) => (line.id === id ? { ...line, ...changes } : line)) });
  const field = {
    autoComplete: 'off',
    autoCapitalize: 'off',
    spellCheck: false,
    className: cx(ui.input, 'mono'),
  };
  return (
    <div className={css.column}>
      <p className={parts.hint}>{texts.about}</p>
      {lines.map((line, n) => (
        <div key={line.id} className={css.check}>
          <input
            {...field}
            aria-label={texts.name(n + 1)}
            aria-invalid={said(`checks[${n}].name`) !== null}
            value={line.name}
            maxLength={40}
            placeholder={line.command.trim() === '' ? texts.namePlaceholder : names[n]}
            onChange={({ target }) => set(line.id, { name: target.value })}
          />
          <input
            {...field}
            aria-label={texts.commandOf(n + 1)}
            aria-invalid={said(`checks[${n}].command`) !== null}
            value={line.command}
            maxLength={4000}
            placeholder="npm test"
            // The line is new: one wants to write in it.
            autoFocus={line.command === '' && line.name === ''}
            onChange={({ target }) => set(line.id, { command: target.value })}
          />
          <Button
            look="ghost"
            icon="X"
            aria-label={texts.take(n + 1)}
            onClick={() => change({ lines: lines.filter(({ id }) => id !== line.id) })}
          />
        </div>
      ))}
      {wrong !== null && !notPaths && (
        <p className={parts.bad} role="alert">
          {named(wrong, label)}
        </p>
      )}
      {lines.length < MOST && (
        <div>
          <Button small icon="Plus" onClick={() => change({ lines: [...lines, newLine()] })}>
            {texts.add}
          </Button>
        </div>
      )}
      {lines.length > 0 && (
        <div className={css.options}>
          <Field label={texts.protect} hint={texts.protectHint} said={notPaths ? texts.notPaths : null}>
            {(control) => (
              <TagInput control={control} longest={200} tags={protect} onChange={(next) => change({ protect: next })} />
            )}
          </Field>
          <TextField
            label={texts.maxRepairs}
            hint={texts.maxRepairsHint}
            said={said('maxRepairs')}
            inputMode="numeric"
            placeholder="2"
            value={maxRepairs}
            onChange={(text) => change({ maxRepairs: text })}
          />
        </div>
      )}
    </div>
  );
}
