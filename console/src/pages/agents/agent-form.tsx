import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, Suspense, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { agentQuery, changedAgent } from '../../api/agent-queries.ts';
import { api, type Agent } from '../../api/client.ts';
import { useCan, useOwns } from '../../shell/can.ts';
import { program } from '../../shell/program.ts';
import { Page } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { FormFailure, saidOf, useFaultInFocus } from '../../ui/form.tsx';
import { Back, Crumb, Loaded, Note, records } from '../../ui/records.tsx';
import { Button, Skeleton, toast } from '../../ui/ui.tsx';
import { bodyOf, changesOf, definitionOf, type Draft, draftOf, type Faults, faultsOf, newDraft } from './draft.ts';
import css from './agents.module.css';
import { Limits, Told, Who, Work } from './fields.tsx';
import { hrefOf, LIST } from './places.ts';

const Difference = program(() => import('./difference.tsx'));
const w = t.agents;
/** The fields that show what is said of them. */
const FIELDS = [
  ...['slug', 'name', 'description', 'channels', 'default', 'instructions', 'model', 'effort', 'approvals', 'web'],
  ...[
    'skills',
    'mcpServers',
    'budget',
    'tools',
    'repository',
    'environment',
    'checks',
    'maxRepairs',
    'outputSchema',
    'tags',
  ],
];

export function NewAgentPage() {
  return (
    <Page title={w.createTitle}>
      <Crumb to={LIST}>{w.title}</Crumb>
      {useCan()('projects:write') ? <Form before={null} /> : <Note>{w.readOnly}</Note>}
    </Page>
  );
}

export function EditAgentPage({ slug }: { slug: string }) {
  const query = useQuery(agentQuery(slug));
  return (
    <Page title={w.editTitle(query.data?.name ?? slug)}>
      <Crumb to={hrefOf(slug)}>{query.data?.name ?? slug}</Crumb>
      <Loaded form query={query} gone={<Back to={LIST}>{w.title}</Back>}>
        {(agent) => <FormOf agent={agent} />}
      </Loaded>
    </Page>
  );
}

/** As it was when the form was opened: what is sent are the differences to that, on its version. */
function FormOf({ agent }: { agent: Agent }) {
  const [before] = useState(agent);
  const can = useCan();
  const owns = useOwns();
  const [mayChange] = useState(can('projects:write') && owns(before.createdBy));
  return mayChange ? <Form before={before} /> : <Note>{w.readOnly}</Note>;
}

function Form({ before }: { before: Agent | null }) {
  const [, navigate] = useLocation();
  const element = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState(() => (before === null ? newDraft() : draftOf(before)));
  const [faults, setFaults] = useState<Faults>({});
  const save = useMutation({
    mutationFn: () =>
      before === null ? api.agents.create(bodyOf(draft)) : api.agents.update(before.slug, changesOf(draft, before)),
    onSuccess: (agent) => {
      const { slug, name, version } = agent;
      changedAgent(agent);
      toast(before === null ? w.made(name) : version === before.version ? w.kept(name) : w.saved(name, version));
      navigate(hrefOf(slug), { replace: true });
    },
  });
  const faulty = Object.keys(faults).length > 0;
  useFaultInFocus(element, faulty ? faults : save.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (save.isPending) return;
    const found = faultsOf(draft);
    setFaults(found);
    if (Object.keys(found).length === 0) save.mutate();
  };
  const part = {
    draft,
    change: (changes: Partial<Draft>) => setDraft((now) => ({ ...now, ...changes })),
    said: (field: string) => (faulty ? (faults[field] ?? null) : saidOf(save.error, field)),
  };
  return (
    <form
      ref={element}
      className={css.form}
      onSubmit={submit}
      noValidate
      aria-label={before === null ? w.createTitle : w.editTitle(before.name)}
    >
      <Who {...part} isNew={before === null} />
      <Told {...part} />
      <Limits {...part} />
      <Work {...part} />
      {before !== null && <Changes draft={draft} before={before} />}
      <FormFailure error={faulty ? null : save.error} fields={FIELDS} />
      <div className={records.actions}>
        <Button look="ghost" onClick={() => navigate(before === null ? LIST : hrefOf(before.slug))}>
          {t.common.cancel}
        </Button>
        <Button type="submit" look="primary" disabled={save.isPending}>
          {before === null ? (save.isPending ? w.making : w.make) : save.isPending ? w.saving : w.save}
        </Button>
      </div>
    </form>
  );
}

/** What the next version would say that this one does not. */
function Changes({ draft, before }: { draft: Draft; before: Agent }) {
  const [open, setOpen] = useState(false);
  return (
    <details className={records.more} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{w.what_changes}</summary>
      {open && (
        <Suspense fallback={<Skeleton w="100%" h={80} />}>
          <Difference from={definitionOf(draftOf(before))} to={definitionOf(draft)} none={w.nothingChanges} />
        </Suspense>
      )}
    </details>
  );
}
