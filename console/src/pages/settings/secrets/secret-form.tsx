import { type FormEvent, useRef, useState } from 'react';
import { MillwrightError, type Secret } from '../../../api/client.ts';
import { t } from '../../../texts/index.ts';
import { Choice, DialogActions, FormFailure, saidOf, TextArea, TextField, useFaultInFocus } from '../../../ui/form.tsx';
import { Dialog } from '../../../ui/ui.tsx';
import { ProjectSelect } from '../../projects/project-select.tsx';
import own from '../settings.module.css';
import { BindingsEditor, type Said } from './binding-fields.tsx';
import { type Draft, draftOf, missingIn, newDraft, type Scope } from './draft.ts';
import { useSave } from './use-secrets.ts';
import { LEAST_VALUE, takenFrom, ValueField } from './value-field.tsx';

const FIELDS = ['name', 'value', 'projectId', 'description', 'env', 'bindings'];

/** A new one. `scopes`: whose it may be. */
export const Create = ({ scopes, onClose }: { scopes: Scope[]; onClose: () => void }) => (
  <Dialog open onClose={onClose} title={t.secrets.createTitle}>
    <Form before={null} scopes={scopes} onClose={onClose} />
  </Dialog>
);

export const Edit = ({ of: secret, onClose }: { of: Secret; onClose: () => void }) => (
  <Dialog open onClose={onClose} title={t.secrets.editTitle(secret.name)}>
    <Form before={secret} scopes={[secret.scope]} onClose={onClose} />
  </Dialog>
);

/** What the form itself finds wrong before it sends anything, by the name of the field. */
type Faults = Record<string, string>;

function Form({ before, scopes, onClose }: { before: Secret | null; scopes: Scope[]; onClose: () => void }) {
  const texts = t.secrets;
  const element = useRef<HTMLFormElement>(null);
  const value = useRef<HTMLInputElement>(null);
  const [draft, setDraft] = useState(() => (before === null ? newDraft(scopes[0] ?? 'user') : draftOf(before)));
  const [faults, setFaults] = useState<Faults>({});
  // Whether a value was sent: it is asked for again when the service takes it not.
  const [sent, setSent] = useState(false);
  const save = useSave(before, () => takenFrom(value), onClose);
  const failed = Object.keys(faults).length > 0 ? faults : save.error;
  useFaultInFocus(element, failed);

  const change = (changes: Partial<Draft>) => setDraft((now) => ({ ...now, ...changes }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (save.isPending) return;
    const given = value.current?.value.trim() ?? '';
    const found: Faults = Object.fromEntries(missingIn(draft).map((field) => [field, texts.needed]));
    if (given === '' && sent) found['value'] = texts.valueLost;
    else if (given === '' && before === null) found['value'] = texts.needed;
    else if (given !== '' && given.length < LEAST_VALUE) found['value'] = texts.shortValue(LEAST_VALUE);
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    setSent(given !== '');
    save.mutate(draft);
  };
  const said: Said = (field, exactly = false) => {
    if (Object.keys(faults).length > 0) return faults[field] ?? null;
    const exact = save.error instanceof MillwrightError && save.error.param === field;
    return exactly && !exact ? null : saidOf(save.error, field);
  };
  return (
    <form ref={element} className={own.form} onSubmit={submit} noValidate autoComplete="off">
      <TextField
        label={texts.name}
        hint={texts.nameHint}
        said={said('name')}
        value={draft.name}
        mono
        autoFocus={before === null}
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        maxLength={64}
        onChange={(name) => change({ name })}
      />
      <ValueField
        input={value}
        label={before === null ? texts.value : texts.newValue}
        hint={sent && save.error !== null ? texts.valueLost : before === null ? texts.valueHint : texts.newValueHint}
        said={said('value')}
      />
      {before === null && (
        <Choice
          label={texts.whose}
          hint={texts.whoseHint[draft.scope]}
          said={said('scope')}
          value={draft.scope}
          onChange={(scope) => change({ scope })}
          options={scopes.map((scope) => [scope, texts.scope[scope]] as const)}
        />
      )}
      {before === null && draft.scope === 'project' && (
        <ProjectSelect
          label={texts.project}
          none={texts.noProject}
          said={said('projectId')}
          value={draft.projectId}
          onChange={(projectId) => change({ projectId })}
        />
      )}
      <BindingsEditor bindings={draft.bindings} said={said} onChange={(bindings) => change({ bindings })} />
      <TextField
        label={texts.env}
        hint={texts.envHint}
        said={said('env')}
        value={draft.env}
        mono
        placeholder={draft.name}
        autoComplete="off"
        spellCheck={false}
        maxLength={64}
        onChange={(env) => change({ env })}
      />
      <TextArea
        label={texts.description}
        hint={texts.descriptionHint}
        said={said('description')}
        value={draft.description}
        maxLength={4000}
        onChange={(description) => change({ description })}
      />
      <FormFailure error={save.error} fields={FIELDS} />
      <DialogActions onKeep={onClose} type="submit" disabled={save.isPending}>
        {before === null ? texts.keep : texts.save}
      </DialogActions>
    </form>
  );
}
