import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { modelsQuery } from '../../api/queries.ts';
import { useContext } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Check, Choice, Field, form as parts, Group, named, TextArea, TextField } from '../../ui/form.tsx';
import { records } from '../../ui/records.tsx';
import { TagInput } from '../../ui/tags.tsx';
import { LIMITS } from '../automations/draft.ts';
import { DefaultChecks } from '../checks/default-checks.tsx';
import { EnvironmentSelect } from '../projects/environment-select.tsx';
import { RepositoryFields } from '../repositories/repository-fields.tsx';
import { McpFields } from '../settings/mcp-fields.tsx';
import { SkillFields } from '../settings/skills/skill-fields.tsx';
import { LIST as SKILLS } from '../settings/skills/places.ts';
import { Pairs } from '../settings/environments/pairs.tsx';
import css from './agents.module.css';
import type { Draft } from './draft.ts';

const w = t.agents;

interface Part {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  /** What is wrong with a field, by the name that the API has for it. */
  said: (field: string) => string | null;
}

export function Who({ draft, change, said, isNew }: Part & { isNew: boolean }) {
  const { workspace } = useContext();
  const administers = workspace.role === 'owner' || workspace.role === 'admin';
  return (
    <section className={records.part} aria-label={w.who}>
      <h2>{w.who}</h2>
      <div className={records.columns}>
        <TextField
          label={w.slug}
          hint={w.slugHint}
          said={said('slug')}
          value={draft.slug}
          mono
          disabled={!isNew}
          autoFocus={isNew}
          placeholder="reviewer"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          maxLength={64}
          onChange={(slug) => change({ slug })}
        />
        <TextField
          label={w.name}
          hint={w.nameHint}
          said={said('name')}
          value={draft.name}
          autoComplete="off"
          maxLength={200}
          onChange={(name) => change({ name })}
        />
      </div>
      <TextField
        label={w.description}
        hint={w.descriptionHint}
        said={said('description')}
        value={draft.description}
        autoComplete="off"
        maxLength={2000}
        onChange={(description) => change({ description })}
      />
      {administers && (
        <>
          <Check checked={draft.default} onChange={(on) => change({ default: on })}>
            {w.makeDefault} <small>{w.defaultHint}</small>
          </Check>
          {said('default') !== null && (
            <p className={parts.bad} role="alert">
              {said('default')}
            </p>
          )}
        </>
      )}
      {!isNew && (
        <Pairs
          {...{ label: w.channels, about: w.channelsAbout, said: said('channels'), add: w.addChannel }}
          {...{ name: w.channelName, value: w.channelVersion, take: w.takeChannel }}
          pairs={draft.channels}
          onChange={(channels) => change({ channels })}
        />
      )}
    </section>
  );
}

export function Told({ draft, change, said }: Part) {
  const { data: models = [] } = useQuery(modelsQuery);
  const efforts = models.find(({ id }) => id === draft.model)?.efforts ?? ['low', 'medium', 'high'];
  return (
    <section className={records.part} aria-label={w.told}>
      <h2>{w.told}</h2>
      <div className={css.instructions}>
        <TextArea
          label={w.instructions}
          hint={w.instructionsHint}
          said={said('instructions')}
          value={draft.instructions}
          placeholder={w.instructionsPlaceholder}
          rows={10}
          onChange={(instructions) => change({ instructions })}
        />
      </div>
      <div className={records.columns}>
        <Choice
          label={w.model}
          said={said('model')}
          value={draft.model}
          onChange={(model) => change({ model, effort: '' })}
          options={[
            ['', w.modelDefault],
            ...models.map(({ id, name }) => [id, name] as const),
            ...(draft.model === '' || models.some(({ id }) => id === draft.model)
              ? []
              : [[draft.model, draft.model] as const]),
          ]}
        />
        <Choice
          label={w.effort}
          said={said('effort')}
          value={draft.effort}
          onChange={(effort) => change({ effort })}
          options={[['', w.effortDefault], ...efforts.map((one) => [one, t.automations.efforts[one]] as const)]}
        />
      </div>
    </section>
  );
}

export function Limits({ draft, change, said }: Part) {
  const { deny, budget } = draft;
  const names = [...new Set([...Object.keys(w.toolNames), ...deny])];
  return (
    <section className={records.part} aria-label={w.may}>
      <h2>{w.may}</h2>
      <p className={parts.hint}>{w.mayAbout}</p>
      <Group label={w.tools}>
        <p className={parts.hint}>{w.toolsHint}</p>
        <div className={parts.choices}>
          {names.map((name) => (
            <Check
              key={name}
              checked={deny.includes(name)}
              onChange={(on) => change({ deny: on ? [...deny, name] : deny.filter((one) => one !== name) })}
            >
              <code>{name}</code> <small>{w.toolNames[name]}</small>
            </Check>
          ))}
        </div>
        {said('tools') !== null && (
          <p className={parts.bad} role="alert">
            {named(said('tools') ?? '', w.tools)}
          </p>
        )}
      </Group>
      <div className={records.columns}>
        <Choice
          label={w.approvals}
          said={said('approvals')}
          value={draft.approvals}
          onChange={(approvals) => change({ approvals })}
          options={(['none', 'secrets', 'writes'] as const).map((one) => [one, t.automations.approval[one]])}
        />
        <Choice
          label={w.web}
          said={said('web')}
          value={draft.web}
          onChange={(web) => change({ web })}
          options={(['usual', 'off'] as const).map((one) => [one, w.webs[one]])}
        />
      </div>
      <Group label={w.budget}>
        <div className={records.columns}>
          {LIMITS.map((limit) => (
            <TextField
              key={limit}
              label={t.automationEditor.limits[limit]}
              said={said(`budget.${limit}`)}
              inputMode={limit === 'maxCost' ? 'decimal' : 'numeric'}
              placeholder={t.automationEditor.unlimited}
              value={budget[limit]}
              onChange={(text) => change({ budget: { ...budget, [limit]: text } })}
            />
          ))}
        </div>
      </Group>
    </section>
  );
}

export function Work({ draft, change, said }: Part) {
  return (
    <section className={records.part} aria-label={w.works}>
      <h2>{w.works}</h2>
      <p className={parts.hint}>{w.worksAbout}</p>
      <RepositoryFields
        draft={draft.repository}
        change={(values) => change({ repository: { ...draft.repository, ...values } })}
        said={said}
        about={draft.name || draft.slug}
        ofRuns
      />
      <SkillFields
        skills={draft.skills}
        onChange={(skills) => change({ skills })}
        said={said('skills')}
        otherwise={
          <Group label={t.skillField.label}>
            <p className={parts.hint}>
              {w.noSkills} <Link href={SKILLS}>{w.toSkills}</Link>
            </p>
          </Group>
        }
      />
      <McpFields
        servers={draft.mcpServers}
        onChange={(mcpServers) => change({ mcpServers })}
        said={said('mcpServers')}
      />
      <EnvironmentSelect
        projectId=""
        inherits
        said={said('environment')}
        value={draft.environment}
        onChange={(environment) => change({ environment })}
      />
      <Group label={t.checks.title}>
        <DefaultChecks
          of="environment"
          draft={draft.checks}
          change={(values) => change({ checks: { ...draft.checks, ...values } })}
          said={said}
        />
      </Group>
      <Field label={w.tags} hint={t.form.tagHint} said={said('tags')}>
        {(control) => <TagInput control={control} tags={draft.tags} onChange={(tags) => change({ tags })} />}
      </Field>
      <details className={records.more} open={draft.outputSchema !== ''}>
        <summary>{w.schema}</summary>
        <TextArea
          label={w.schema}
          hint={w.schemaHint}
          said={said('outputSchema')}
          mono
          value={draft.outputSchema}
          spellCheck={false}
          placeholder='{"type": "object", "properties": {"verdict": {"type": "string"}}}'
          onChange={(outputSchema) => change({ outputSchema })}
        />
      </details>
    </section>
  );
}
