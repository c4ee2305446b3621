import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { api, type Environment } from '../../../api/client.ts';
import { changedEnvironment, environmentQuery } from '../../../api/environment-queries.ts';
import { t } from '../../../texts/index.ts';
import { Field, FormFailure, Group, saidOf, TextField, useFaultInFocus } from '../../../ui/form.tsx';
import { Back, Crumb, Loaded, Note, records } from '../../../ui/records.tsx';
import { TagInput } from '../../../ui/tags.tsx';
import { Button, toast } from '../../../ui/ui.tsx';
import { DefaultChecks } from '../../checks/default-checks.tsx';
import { BranchPicker, RepositoryPicker } from '../../repositories/repository-picker.tsx';
import { isAddress } from '../../repositories/repository-draft.ts';
import { McpFields } from '../mcp-fields.tsx';
import { SecretNames } from '../secrets/secret-names.tsx';
import { changesOf, type Draft, draftOf, type Faults, faultsOf, newDraft, sentOf } from './draft.ts';
import css from './environments.module.css';
import { Limits, Refreshing, Setup } from './fields.tsx';
import { hrefOf, LIST } from './places.ts';
import { Pairs } from './pairs.tsx';
import { useEnvironmentHindrance } from './rights.ts';

/** The fields that show what is said of them. */
const FIELDS = ['slug', 'name', 'repository', 'setup', 'variables', 'tools', 'allowHosts', 'secrets', 'resources', 'refresh', 'onFailure', 'checks', 'maxRepairs', 'mcpServers']; // prettier-ignore
const LONGEST_HOST = 261;

export function NewEnvironment() {
  const hindrance = useEnvironmentHindrance();
  return (
    <>
      <Crumb to={LIST}>{t.environments.title}</Crumb>
      {hindrance === null ? <Form before={null} /> : <Note>{t.environments.readOnly[hindrance]}</Note>}
    </>
  );
}

export function EditEnvironment({ slug }: { slug: string }) {
  const texts = t.environments;
  const hindrance = useEnvironmentHindrance();
  const query = useQuery(environmentQuery(slug));
  return (
    <>
      <Crumb to={hrefOf(slug)}>{query.data?.name ?? slug}</Crumb>
      {hindrance !== null ? (
        <Note>{texts.readOnly[hindrance]}</Note>
      ) : (
        <Loaded form query={query} gone={<Back to={LIST}>{texts.title}</Back>}>
          {(environment) => <FormOf environment={environment} />}
        </Loaded>
      )}
    </>
  );
}

/** As it was when the form was opened: what is sent are the differences to that. */
function FormOf({ environment }: { environment: Environment }) {
  const [before] = useState(environment);
  return <Form before={before} />;
}

function Form({ before }: { before: Environment | null }) {
  const texts = t.environments;
  const [, navigate] = useLocation();
  const element = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState(() => (before === null ? newDraft() : draftOf(before)));
  const [faults, setFaults] = useState<Faults>({});
  const save = useMutation({
    mutationFn: () =>
      before === null
        ? api.environments.create({ slug: draft.slug.trim(), ...sentOf(draft) })
        : api.environments.update(before.slug, changesOf(draft, before)),
    onSuccess: (environment) => {
      const { slug, name, version } = environment;
      changedEnvironment(environment);
      toast(
        before === null ? texts.made(name) : version === before.version ? texts.same(name) : texts.saved(name, version),
      );
      navigate(hrefOf(slug), { replace: true });
    },
  });
  const faulty = Object.keys(faults).length > 0;
  useFaultInFocus(element, faulty ? faults : save.error);
  const change = (changes: Partial<Draft>) => setDraft((now) => ({ ...now, ...changes }));
  const said = (field: string) => (faulty ? (faults[field] ?? null) : saidOf(save.error, field));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (save.isPending) return;
    const found = faultsOf(draft);
    setFaults(found);
    if (Object.keys(found).length === 0) save.mutate();
  };
  const part = { draft, change, said };
  return (
    <form ref={element} className={css.form} onSubmit={submit} noValidate aria-label={titleOf(before)}>
      <h2>{titleOf(before)}</h2>
      <div className={records.columns}>
        <TextField
          label={texts.slug}
          hint={texts.slugHint}
          said={said('slug')}
          value={draft.slug}
          mono
          disabled={before !== null}
          autoFocus={before === null}
          placeholder="node-22"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          maxLength={64}
          onChange={(slug) => change({ slug })}
        />
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          said={said('name')}
          value={draft.name}
          autoComplete="off"
          maxLength={200}
          onChange={(name) => change({ name })}
        />
      </div>
      <div className={records.columns}>
        <RepositoryPicker
          value={draft.url}
          hint={texts.repositoryHint}
          said={said('repository.url') ?? (said('repository.ref') === null ? said('repository') : null)}
          onChange={(url) => change({ url, ref: '' })}
        />
        {isAddress(draft.url) && (
          <BranchPicker
            url={draft.url}
            value={draft.ref}
            said={said('repository.ref')}
            onChange={(ref) => change({ ref })}
          />
        )}
      </div>
      <Setup {...part} />
      <Pairs
        {...{ label: texts.variables, about: texts.variablesAbout, said: said('variables'), add: texts.addVariable }}
        {...{ name: texts.variable, value: texts.variableValue, take: texts.takeVariable }}
        pairs={draft.variables}
        onChange={(variables) => change({ variables })}
      />
      <Field label={texts.hosts} hint={texts.hostsHint} said={said('allowHosts')}>
        {(control) => (
          <TagInput
            control={control}
            longest={LONGEST_HOST}
            tags={draft.allowHosts}
            onChange={(allowHosts) => change({ allowHosts })}
          />
        )}
      </Field>
      <SecretNames
        label={texts.secrets}
        hint={texts.secretsHint}
        names={draft.secrets}
        onChange={(secrets) => change({ secrets })}
        said={said('secrets')}
      />
      <Refreshing {...part} />
      <Limits {...part} />
      <Pairs
        {...{ label: texts.tools, about: texts.toolsAbout, said: said('tools'), add: texts.addTool }}
        {...{ name: texts.tool, value: texts.toolVersion, take: texts.takeTool }}
        pairs={draft.tools}
        onChange={(tools) => change({ tools })}
      />
      <McpFields
        servers={draft.mcpServers}
        onChange={(mcpServers) => change({ mcpServers })}
        said={said('mcpServers')}
      />
      <Group label={t.checks.title}>
        <DefaultChecks
          of="environment"
          draft={draft.checks}
          change={(changes) => setDraft((now) => ({ ...now, checks: { ...now.checks, ...changes } }))}
          said={said}
        />
      </Group>
      <FormFailure error={save.error} fields={FIELDS} />
      <div className={records.actions}>
        <Button look="ghost" onClick={() => navigate(before === null ? LIST : hrefOf(before.slug))}>
          {t.common.cancel}
        </Button>
        <Button type="submit" look="primary" disabled={save.isPending}>
          {before === null ? (save.isPending ? texts.making : texts.make) : save.isPending ? texts.saving : texts.save}
        </Button>
      </div>
    </form>
  );
}

const titleOf = (before: Environment | null) =>
  before === null ? t.environments.createTitle : t.environments.editTitle(before.name);
