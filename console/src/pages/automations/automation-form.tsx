import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { Automation } from '../../api/client.ts';
import { modelsQuery, webQuery } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import {
  Choice,
  type Editing,
  fieldOf,
  FormFailure,
  saidOf,
  TextArea,
  TextField,
  useFaultInFocus,
} from '../../ui/form.tsx';
import { records } from '../../ui/records.tsx';
import { Button } from '../../ui/ui.tsx';
import { AgentSelect } from '../agents/agent-select.tsx';
import { DefaultChecks } from '../checks/default-checks.tsx';
import { EnvironmentSelect } from '../projects/environment-select.tsx';
import { ProjectSelect } from '../projects/project-select.tsx';
import { RepositoryFields } from '../repositories/repository-fields.tsx';
import { SecretNames } from '../settings/secrets/secret-names.tsx';
import { McpFields } from '../settings/mcp-fields.tsx';
import { SkillFields } from '../settings/skills/skill-fields.tsx';
import { type Draft, LIMITS } from './draft.ts';
import { TriggerFields } from './trigger-fields.tsx';

const w = t.automationEditor;
const FIELDS = [
  ...['name', 'content', 'cron', 'timezone', 'runAt', 'triggerEvent', 'filter'],
  ...['skills', 'mcpServers', 'secrets', 'model', 'effort', 'approvals', 'whenBlocked', 'web', 'overlap'],
  ...['budget', 'checks', 'maxRepairs'],
];
/** Those of what only some sessions may see. */
const SEEN = ['projectId', 'repository', 'environment', 'agent'];

export function AutomationForm({
  first,
  action: [action, pending],
  save,
  onDraft,
  onSaved,
  onCancel,
}: {
  first: Draft;
  action: [string, string];
  save: (draft: Draft) => Promise<Automation>;
  onDraft?: ((draft: Draft) => void) | undefined;
  onSaved: (automation: Automation) => void;
  onCancel: () => void;
}) {
  const reads = useCan()('projects:read');
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState(first);
  const mutation = useMutation({ mutationFn: save, onSuccess: onSaved });
  useFaultInFocus(form, mutation.error);
  useEffect(() => {
    // What was just sent is no draft any more.
    if (!mutation.isSuccess) onDraft?.(draft);
  }, [draft]);
  const editing: Editing<Draft> = {
    draft,
    change: (changes) => setDraft((now) => ({ ...now, ...changes })),
    error: mutation.error,
  };
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (!mutation.isPending) mutation.mutate(draft);
  };
  return (
    <form
      ref={form}
      className={records.form}
      onSubmit={submit}
      onKeyDown={(event) => {
        if (!(event.ctrlKey || event.metaKey) || event.key !== 'Enter') return;
        event.preventDefault();
        submit();
      }}
    >
      <TextField label={w.name} {...fieldOf(editing, 'name')} placeholder={w.namePlaceholder} autoFocus />
      <section className={records.part} aria-label={w.when}>
        <h2>{w.when}</h2>
        <TriggerFields {...editing} />
      </section>
      <section className={records.part} aria-label={w.task}>
        <h2>{w.task}</h2>
        <TaskFields {...editing} />
      </section>
      <FormFailure error={mutation.error} fields={reads ? [...FIELDS, ...SEEN] : FIELDS} />
      <div className={records.actions}>
        <Button look="ghost" onClick={onCancel}>
          {t.common.cancel}
        </Button>
        <Button type="submit" look="primary" keys="Ctrl ↵" disabled={mutation.isPending}>
          {mutation.isPending ? pending : action}
        </Button>
      </div>
    </form>
  );
}

function TaskFields(editing: Editing<Draft>) {
  const { draft, change, error } = editing;
  const can = useCan();
  const { data: models = [] } = useQuery(modelsQuery);
  const efforts = models.find(({ id }) => id === draft.model)?.efforts ?? ['low', 'medium', 'high'];
  return (
    <>
      <TextArea label={w.content} hint={w.contentHint} {...fieldOf(editing, 'content')} rows={8} />
      {can('projects:read') && (
        <RepositoryFields
          draft={draft.repository}
          change={(values) => change({ repository: { ...draft.repository, ...values } })}
          said={(param) => saidOf(error, param)}
          about={draft.name}
          ofRuns
        />
      )}
      <div className={records.columns}>
        <Choice
          label={w.model}
          said={saidOf(error, 'model')}
          value={draft.model}
          onChange={(model) => change({ model, effort: '' })}
          options={[
            ['', t.automations.modelDefault],
            ...models.map(({ id, name }) => [id, name] as const),
            ...(draft.model === '' || models.some(({ id }) => id === draft.model)
              ? []
              : [[draft.model, draft.model] as const]),
          ]}
        />
        <Choice
          label={w.effort}
          {...fieldOf(editing, 'effort')}
          options={[
            ['', t.automations.effortDefault],
            ...efforts.map((effort) => [effort, t.automations.efforts[effort]] as const),
          ]}
        />
        {can('projects:read') && (
          <ProjectSelect label={w.project} none={w.projectNone} {...fieldOf(editing, 'projectId')} />
        )}
        <EnvironmentSelect projectId={draft.projectId} inherits {...fieldOf(editing, 'environment')} />
        <AgentSelect inherits {...fieldOf(editing, 'agent')} />
        <Choice
          label={w.approvals}
          {...fieldOf(editing, 'approvals')}
          options={[
            ['none', w.approval.none],
            ['writes', w.approval.writes],
            ['secrets', w.approval.secrets],
          ]}
        />
        <Choice
          label={t.form.whenBlocked}
          hint={t.form.waitHint}
          {...fieldOf(editing, 'whenBlocked')}
          options={[
            ['fail', t.form.blocked.fail],
            ['wait', t.form.blocked.wait],
          ]}
        />
        <WebField {...editing} />
        <Choice
          label={w.overlap}
          {...fieldOf(editing, 'overlap')}
          value={draft.overlap || (draft.kind === 'webhook' ? 'allow' : 'skip')}
          options={[
            ['skip', w.overlaps.skip],
            ['queue', w.overlaps.queue],
            ['allow', w.overlaps.allow],
          ]}
        />
      </div>
      <SkillFields
        skills={draft.skills}
        onChange={(skills) => editing.change({ skills })}
        said={saidOf(editing.error, 'skills')}
      />
      <McpFields
        servers={draft.mcpServers}
        onChange={(mcpServers) => editing.change({ mcpServers })}
        said={saidOf(editing.error, 'mcpServers')}
      />
      <SecretFields {...editing} />
      <Budget {...editing} />
      <Checks {...editing} />
    </>
  );
}

/** Where no task may read pages there is nothing to choose. */
function WebField({ draft: { kind, web }, change, error }: Editing<Draft>) {
  const { data: access } = useQuery(webQuery);
  if (access == null) return null;
  const starts = kind === 'webhook' ? 'event' : 'schedule';
  return (
    <Choice
      label={t.web.label}
      hint={`${t.web.hint(access)}${starts === 'event' ? ` ${t.web.eventHint}` : ''}`}
      said={saidOf(error, 'web')}
      value={web === null ? 'usual' : web ? 'yes' : 'no'}
      onChange={(which) => change({ web: which === 'usual' ? null : which === 'yes' })}
      options={[
        ['usual', t.web.usual[starts]],
        ['yes', t.web.ofAutomation.true],
        ['no', t.web.ofAutomation.false],
      ]}
    />
  );
}

/** Of an event's task they decide what it reaches, too. */
function SecretFields({ draft: { kind, secrets }, change, error }: Editing<Draft>) {
  const starts = kind === 'webhook' ? 'event' : 'schedule';
  return (
    <>
      <Choice
        label={w.secrets}
        value={secrets === null ? 'usual' : 'named'}
        onChange={(which) => change({ secrets: which === 'usual' ? null : [] })}
        options={[
          ['usual', t.automations.secretsUsual[starts]],
          ['named', w.secretsNamed],
        ]}
      />
      {secrets !== null && (
        <SecretNames
          label={w.secretNames}
          hint={w.secretsHint[starts]}
          names={secrets}
          onChange={(names) => change({ secrets: names })}
          said={saidOf(error, 'secrets')}
        />
      )}
    </>
  );
}

function Budget({ draft: { budget }, change, error }: Editing<Draft>) {
  const [open, setOpen] = useState(() => Object.values(budget).some((value) => value !== ''));
  return (
    <details
      className={records.more}
      open={open || saidOf(error, 'budget') !== null}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>{w.budget}</summary>
      <div className={records.columns}>
        {LIMITS.map((limit) => (
          <TextField
            key={limit}
            label={w.limits[limit]}
            said={saidOf(error, `budget.${limit}`)}
            inputMode={limit === 'maxCost' ? 'decimal' : 'numeric'}
            placeholder={w.unlimited}
            value={budget[limit]}
            onChange={(text) => change({ budget: { ...budget, [limit]: text } })}
          />
        ))}
      </div>
    </details>
  );
}

function Checks({ draft: { checks }, change, error }: Editing<Draft>) {
  const [open] = useState(checks.of !== 'inherited' || checks.maxRepairs !== '');
  return (
    <details className={records.more} open={open}>
      <summary>{t.checks.title}</summary>
      <DefaultChecks
        of="automation"
        draft={checks}
        change={(values) => change({ checks: { ...checks, ...values } })}
        said={(param) => saidOf(error, param)}
      />
    </details>
  );
}
