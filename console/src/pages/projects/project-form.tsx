import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { api, type Project } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { t } from '../../texts/index.ts';
import {
  Check,
  DialogActions,
  Field,
  FormFailure,
  Group,
  saidOf,
  TextArea,
  TextField,
  useFaultInFocus,
} from '../../ui/form.tsx';
import { records } from '../../ui/records.tsx';
import { TagInput } from '../../ui/tags.tsx';
import { Dialog } from '../../ui/ui.tsx';
import { defaultsDraftOf, defaultsIn, NO_DEFAULTS } from '../checks/checks-draft.ts';
import { DefaultChecks } from '../checks/default-checks.tsx';
import { EnvironmentSelect } from './environment-select.tsx';

const FIELDS = ['name', 'description', 'tags', 'visibility', 'environment', 'checks', 'maxRepairs'];

interface Props {
  open: boolean;
  onClose: () => void;
  /** What is changed; a new one is made without it. */
  project?: Project;
  onSaved: (project: Project) => void;
}

export const ProjectForm = (props: Props) => (
  <Dialog
    open={props.open}
    onClose={props.onClose}
    title={props.project === undefined ? t.projects.create : t.projects.editTitle}
  >
    <Form {...props} />
  </Dialog>
);

function Form({ project, onClose, onSaved }: Props) {
  const [name, setName] = useState(project?.name ?? '');
  const [description, setDescription] = useState(project?.description ?? '');
  const [visibility, setVisibility] = useState(project?.visibility ?? 'private');
  const [environment, setEnvironment] = useState(project?.environment ?? '');
  const [tags, setTags] = useState(project?.tags ?? []);
  const [before] = useState(project === undefined ? NO_DEFAULTS : defaultsDraftOf(project));
  const [checks, setChecks] = useState(before);
  const form = useRef<HTMLFormElement>(null);
  const save = useMutation({
    mutationFn: () => {
      const same = environment === (project?.environment ?? '');
      const begins = same ? {} : { environment: environment || null };
      const checked = checks === before ? {} : defaultsIn(checks);
      const body = {
        name: name.trim(),
        description: description.trim() || null,
        visibility,
        tags,
        ...begins,
        ...checked,
      };
      return project === undefined ? api.projects.create(body) : api.projects.update(project.id, body);
    },
    onSuccess: (saved) => {
      void queryClient.invalidateQueries({ queryKey: ['projects'] });
      queryClient.setQueryData(['project', saved.id], saved);
      onSaved(saved);
    },
  });
  useFaultInFocus(form, save.error);
  const [unnamed, setUnnamed] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setUnnamed(name.trim() === '');
    if (name.trim() !== '') save.mutate();
  };
  const said = (field: string) => saidOf(save.error, field);
  return (
    <form ref={form} onSubmit={submit} style={{ display: 'grid', gap: 16 }} noValidate>
      <TextField
        label={t.projects.name}
        said={unnamed ? t.projects.noName : said('name')}
        value={name}
        autoFocus
        maxLength={200}
        onChange={setName}
      />
      <TextArea
        label={t.projects.description}
        hint={t.projects.descriptionHint}
        said={said('description')}
        value={description}
        maxLength={4000}
        onChange={setDescription}
      />
      <Group label={t.projects.visibility}>
        {(['private', 'workspace'] as const).map((one) => (
          <Check
            key={one}
            type="radio"
            name="visibility"
            checked={visibility === one}
            onChange={() => setVisibility(one)}
          >
            {t.projects.visible[one]}
            <small>{t.projects.visibleHint[one]}</small>
          </Check>
        ))}
      </Group>
      <Field label={t.projects.tags} hint={t.form.tagHint} said={said('tags')}>
        {(control) => <TagInput control={control} tags={tags} onChange={setTags} />}
      </Field>
      <EnvironmentSelect projectId="" said={said('environment')} value={environment} onChange={setEnvironment} />
      <details className={records.more} open={before.of !== 'inherited' || before.maxRepairs !== ''}>
        <summary>{t.checks.title}</summary>
        <DefaultChecks
          of="project"
          draft={checks}
          change={(values) => setChecks({ ...checks, ...values })}
          said={said}
        />
      </details>
      <FormFailure error={save.error} fields={FIELDS} />
      <DialogActions onKeep={onClose} type="submit" disabled={save.isPending}>
        {project === undefined ? t.projects.make : t.projects.save}
      </DialogActions>
    </form>
  );
}
