import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import type { CreateWebhook } from '../../api/client.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import {
  Check,
  type Editing,
  fieldOf,
  form as parts,
  FormFailure,
  Group,
  named,
  TextField,
  useFaultInFocus,
} from '../../ui/form.tsx';
import { records } from '../../ui/records.tsx';
import { Button } from '../../ui/ui.tsx';
import { ProjectSelect } from '../projects/project-select.tsx';
import { isCovered, KINDS, TYPES, withoutCovered } from './types.ts';
import css from './webhooks.module.css';

const w = t.webhooks;
const FIELDS = ['url', 'types', 'description', 'projectId'];

interface Draft {
  url: string;
  types: string[];
  description: string;
  projectId: string;
}

export function WebhookForm({
  first,
  action: [action, pending],
  save,
  onCancel,
}: {
  first: Draft;
  action: [string, string];
  save: (given: CreateWebhook) => Promise<void>;
  onCancel: () => void;
}) {
  const can = useCan();
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState(first);
  const { error, isPending, mutate } = useMutation({
    mutationFn: () =>
      save({
        url: draft.url.trim(),
        // The service says which there are.
        types: draft.types as CreateWebhook['types'],
        description: draft.description.trim() || null,
        projectId: draft.projectId || null,
      }),
  });
  const editing: Editing<Draft> = {
    draft,
    change: (changes) => setDraft((now) => ({ ...now, ...changes })),
    error,
  };
  useFaultInFocus(form, error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isPending) mutate();
  };
  return (
    <form ref={form} className={records.form} onSubmit={submit}>
      <TextField
        label={w.url}
        hint={w.urlHint}
        {...fieldOf(editing, 'url')}
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        placeholder="https://"
        autoFocus
      />
      <Types {...fieldOf(editing, 'types')} />
      <div className={records.columns}>
        <TextField label={w.description} {...fieldOf(editing, 'description')} placeholder={w.descriptionPlaceholder} />
        {can('projects:read') && (
          <ProjectSelect label={w.project} none={w.projectAny} {...fieldOf(editing, 'projectId')} />
        )}
      </div>
      <FormFailure error={error} fields={FIELDS} />
      <div className={records.actions}>
        <Button look="ghost" onClick={onCancel}>
          {t.common.cancel}
        </Button>
        <Button type="submit" look="primary" disabled={isPending}>
          {isPending ? pending : action}
        </Button>
      </div>
    </form>
  );
}

/** What one of them says of others is shown: all of a kind, and everything. */
function Types({ said, value, onChange }: ReturnType<typeof fieldOf<Draft, 'types'>>) {
  const chosen = new Set(value);
  const turn = (type: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(type);
    else next.delete(type);
    onChange(withoutCovered(next));
  };
  const box = (type: string, words: string) => {
    const covered = isCovered(type, chosen);
    return (
      <Check key={type} checked={covered || chosen.has(type)} disabled={covered} onChange={(on) => turn(type, on)}>
        {words}
        {!type.endsWith('*') && <small>{type}</small>}
      </Check>
    );
  };
  const all = { task: w.taskAll, check: w.checkAll, automation: w.automationAll };
  return (
    <div className={records.part}>
      <Group label={w.types}>
        <p className={parts.hint}>{w.typesHint}</p>
        {box('*', w.everythingLabel)}
        {KINDS.map((kind) => (
          <div key={kind} className={css.kind}>
            {box(`${kind}.*`, all[kind])}
            <div className={css.types}>
              {TYPES.filter((type) => type.startsWith(`${kind}.`)).map((type) => box(type, w.typeWords[type] ?? type))}
            </div>
          </div>
        ))}
      </Group>
      {said !== null && (
        <p className={parts.bad} role="alert">
          {named(said, w.types)}
        </p>
      )}
    </div>
  );
}
