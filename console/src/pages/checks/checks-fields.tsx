import { t } from '../../texts/index.ts';
import { Field, form as parts, named, TextField } from '../../ui/form.tsx';
import { TagInput } from '../../ui/tags.tsx';
import { Button, cx, ui } from '../../ui/ui.tsx';
import { type CheckLine, type ChecksDraft, filledIn, namesOf, newLine } from './checks-draft.ts';
import css from './checks-form.module.css';

const MOST = 16;
/** So many of a command are seen at once. */
const LINES = 8;
/** As the service has it. */
const USUAL_SECONDS = 600;

export interface ChecksProps<Draft extends ChecksDraft = ChecksDraft> {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  /** What is wrong with a field, by its name in the API. */
  said: (param: string) => string | null;
}

/** Commands that the service runs itself before the task is done: a line for each. */
export function ChecksFields({ draft, change, said }: ChecksProps) {
  const { lines, protect } = draft;
  const texts = t.checksForm;
  const wrong = said('checks');
  // The service counts those that it was sent.
  const sent = filledIn(lines);
  const saidOf = (line: CheckLine, field: string) => said(`checks[${sent.indexOf(line)}].${field}`);
  const isOf = (field: string) => lines.some((line) => saidOf(line, field) !== null);
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
        <div key={line.id} className={css.line}>
          <input
            {...field}
            aria-label={texts.name(n + 1)}
            aria-invalid={saidOf(line, 'name') !== null}
            value={line.name}
            maxLength={40}
            placeholder={line.command.trim() === '' ? texts.namePlaceholder : names[n]}
            onChange={({ target }) => set(line.id, { name: target.value })}
          />
          <textarea
            {...field}
            aria-label={texts.commandOf(n + 1)}
            aria-invalid={saidOf(line, 'command') !== null}
            value={line.command}
            rows={Math.min(LINES, line.command.split('\n').length)}
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
          {line.more !== undefined && <More {...line.more} />}
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
        <Field label={texts.protect} hint={texts.protectHint} said={notPaths ? texts.notPaths : null}>
          {(control) => (
            <TagInput control={control} longest={200} tags={protect} onChange={(next) => change({ protect: next })} />
          )}
        </Field>
      )}
    </div>
  );
}

export const RepairsField = ({ draft, change, said }: ChecksProps) => (
  <TextField
    label={t.checksForm.maxRepairs}
    hint={t.checksForm.maxRepairsHint}
    said={said('maxRepairs')}
    inputMode="numeric"
    placeholder="2"
    value={draft.maxRepairs}
    onChange={(text) => change({ maxRepairs: text })}
  />
);

/** What the form does not ask for stays, and is said. */
function More({ required, network, timeoutSeconds, protect }: NonNullable<CheckLine['more']>) {
  const texts = t.checksForm.more;
  const said = [
    !required && texts.optional,
    network && texts.network,
    timeoutSeconds !== USUAL_SECONDS && texts.seconds(timeoutSeconds),
    protect.length > 0 && texts.protects(protect.join(', ')),
  ].filter(Boolean);
  return said.length > 0 && <p className={parts.hint}>{said.join(', ')}</p>;
}
