import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Model } from '../../api/client.ts';
import { webQuery } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Choice, Field, TextArea, TextField } from '../../ui/form.tsx';
import { TagInput } from '../../ui/tags.tsx';
import { Segmented, ui } from '../../ui/ui.tsx';
import { AgentSelect } from '../agents/agent-select.tsx';
import { ChecksFields, type ChecksProps, RepairsField } from '../checks/checks-fields.tsx';
import { EnvironmentSelect } from '../projects/environment-select.tsx';
import { ProjectSelect } from '../projects/project-select.tsx';
import { McpFields } from '../settings/mcp-fields.tsx';
import { SkillFields } from '../settings/skills/skill-fields.tsx';
import { type Draft } from './draft.ts';
import css from './new-task.module.css';

interface Props {
  draft: Draft;
  change: (values: Partial<Draft>) => void;
  models: Model[] | undefined;
  model: Model | undefined;
  /** What is wrong with a field, by the service or before. */
  said: (param: string) => string | null;
}

export function Options({ draft, change, models = [], model, said }: Props) {
  const can = useCan();
  const effort = draft.effort || model?.defaultEffort;
  return (
    <>
      <div className={css.options}>
        <Field label={t.newTask.model} said={said('model')}>
          {(control) => (
            <select
              {...control}
              className={ui.select}
              value={draft.model || (model?.id ?? '')}
              onChange={(event) => change({ model: event.target.value, effort: '' })}
            >
              {model === undefined && draft.model !== '' && (
                <option value={draft.model}>{t.newTask.unavailable(draft.model)}</option>
              )}
              {models.map(({ id, name, status }) => (
                <option key={id} value={id} disabled={status !== 'available'}>
                  {status === 'available' ? name : t.newTask.unavailable(name)}
                </option>
              ))}
            </select>
          )}
        </Field>
        {(can('projects:read') || draft.projectId !== '') && (
          <ProjectSelect
            label={t.newTask.project}
            none={t.newTask.noProject}
            said={said('projectId')}
            value={draft.projectId}
            onChange={(projectId) => change({ projectId })}
          />
        )}
        <AgentSelect said={said('agent')} value={draft.agent} onChange={(agent) => change({ agent })} />
        <EnvironmentSelect
          projectId={draft.projectId}
          said={said('environment')}
          value={draft.environment}
          onChange={(environment) => change({ environment })}
        />
        {model !== undefined && model.efforts.length > 0 && effort && (
          <Group label={t.newTask.effort} said={said('effort')}>
            <Segmented
              label={t.newTask.effort}
              value={effort}
              onChange={(next) => change({ effort: next })}
              options={model.efforts.map((value) => ({ value, label: t.newTask.efforts[value] }))}
            />
          </Group>
        )}
        <Field label={t.newTask.approvals} said={said('approvals')}>
          {(control) => (
            <select
              {...control}
              className={ui.select}
              value={draft.approvals}
              onChange={(event) => change({ approvals: event.target.value as Draft['approvals'] })}
            >
              {(['none', 'writes', 'secrets'] as const).map((value) => (
                <option key={value} value={value}>
                  {t.newTask.approve[value]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <WebField draft={draft} change={change} said={said} />
        <Group label={t.form.whenBlocked} said={said('whenBlocked')}>
          <Segmented
            label={t.form.whenBlocked}
            value={draft.whenBlocked}
            onChange={(whenBlocked) => change({ whenBlocked })}
            options={(['fail', 'wait'] as const).map((value) => ({ value, label: t.form.blocked[value] }))}
          />
        </Group>
      </div>
      <p className={css.about}>
        {model?.description} {t.newTask.approvalsAre[draft.approvals]}
        {draft.whenBlocked === 'wait' && ` ${t.form.waitHint}`}
      </p>
      <Budget draft={draft} change={change} said={said} />
      <SkillFields skills={draft.skills} onChange={(skills) => change({ skills })} said={said('skills')} />
      <McpFields
        servers={draft.mcpServers}
        onChange={(mcpServers) => change({ mcpServers })}
        said={said('mcpServers')}
      />
      <Fold title={t.checks.title} filled={draft.checks.lines.length > 0}>
        <Checks
          draft={draft.checks}
          change={(values) => change({ checks: { ...draft.checks, ...values } })}
          said={said}
        />
      </Fold>
      <More draft={draft} change={change} said={said} />
    </>
  );
}

/** Where no task may read pages there is nothing to choose. */
function WebField({ draft, change, said }: Part) {
  const { data: web } = useQuery(webQuery);
  if (web == null) return null;
  return (
    <Choice
      label={t.web.label}
      hint={t.web.hint(web)}
      said={said('web')}
      value={draft.web ? 'yes' : 'no'}
      onChange={(which) => change({ web: which === 'yes' })}
      options={[
        ['yes', t.web.may],
        ['no', t.web.mayNot],
      ]}
    />
  );
}

const Group = ({ label, said, children }: { label: string; said: string | null; children: ReactNode }) => (
  <div className={css.group}>
    <span>{label}</span>
    {children}
    {said !== null && (
      <p className={css.said} role="alert">
        {said}
      </p>
    )}
  </div>
);

/** Unfolded at first when something stands in it. */
function Fold({ title, filled, children }: { title: string; filled: boolean; children: ReactNode }) {
  const [open] = useState(filled);
  return (
    <details className={css.more} open={open}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

const Checks = (props: ChecksProps) => (
  <div className={css.column}>
    <ChecksFields {...props} />
    {props.draft.lines.length > 0 && <RepairsField {...props} />}
  </div>
);

type Part = Pick<Props, 'draft' | 'change' | 'said'>;

const LIMITS = [
  ['maxSteps', 'budget.maxSteps'],
  ['maxTokens', 'budget.maxTokens'],
  ['maxMinutes', 'budget.maxDurationSeconds'],
  ['maxCost', 'budget.maxCost'],
] as const;

function Budget({ draft: { budget }, change, said }: Part) {
  return (
    <Fold title={t.newTask.budget} filled={Object.values(budget).some((value) => value !== '')}>
      <div className={css.options}>
        {LIMITS.map(([name, param]) => (
          <TextField
            key={name}
            label={t.newTask[name]}
            said={said(param)}
            inputMode="decimal"
            placeholder={t.newTask.noLimit}
            value={budget[name]}
            onChange={(text) => change({ budget: { ...budget, [name]: text } })}
          />
        ))}
      </div>
    </Fold>
  );
}

function More({ draft: { tags, outputSchema }, change, said }: Part) {
  return (
    <Fold title={t.newTask.more} filled={tags.length > 0 || outputSchema !== ''}>
      <div className={css.column}>
        <Field label={t.newTask.tags} hint={t.form.tagHint} said={said('tags')}>
          {(control) => <TagInput control={control} tags={tags} onChange={(next) => change({ tags: next })} />}
        </Field>
        <TextArea
          label={t.newTask.schema}
          hint={t.newTask.schemaHint}
          said={said('outputSchema')}
          mono
          value={outputSchema}
          spellCheck={false}
          placeholder='{"type": "object", "properties": {"answer": {"type": "string"}}}'
          onChange={(outputSchema) => change({ outputSchema })}
        />
      </div>
    </Fold>
  );
}
