import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Automation } from '../../api/client.ts';
import { modelsQuery, webQuery } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { count } from '../../ui/format.ts';
import { Fact, Facts, records, Section } from '../../ui/records.tsx';
import { cx } from '../../ui/ui.tsx';
import { ChecksFact } from '../checks/checks-fact.tsx';
import { McpFact } from '../settings/mcp-fact.tsx';
import { ProjectLink } from '../projects/project-link.tsx';
import { hrefOf as agentOf } from '../agents/places.ts';
import { hrefOf } from '../settings/environments/places.ts';
import css from './automations.module.css';
import { triggerOf } from './trigger.tsx';

const w = t.automations;
const limits = t.automationEditor.limits;

/** How it is started, and how its tasks are done. */
export function AutomationFacts({ automation }: { automation: Automation }) {
  const { kind, cron, filter, model, effort, approvals, whenBlocked, web, overlap } = automation;
  const { owner, createdAt, updatedAt, projectId, environment, secrets } = automation;
  const { data: models = [] } = useQuery(modelsQuery);
  const { data: access } = useQuery(webQuery);
  return (
    <Facts>
      <Fact name={w.kind[kind]}>
        {triggerOf(automation)}
        {cron !== null && <code className={css.cron}>{cron}</code>}
      </Fact>
      {filter !== null && (
        <Fact name={w.filterFact}>
          <code className={css.code}>{filter}</code>
        </Fact>
      )}
      <Fact name={t.records.project}>
        {projectId === null ? t.records.noProject : <ProjectLink projectId={projectId} />}
      </Fact>
      {automation.repository !== null && <RepositoryFacts of={automation.repository} />}
      {automation.agent !== null && <AgentFact of={automation.agent} />}
      {environment !== null && <EnvironmentFact of={environment} />}
      {automation.skills !== null && (
        <Fact name={t.skillField.label}>{automation.skills.join(', ') || t.skillField.none}</Fact>
      )}
      <McpFact of={automation.mcpServers} />
      <Fact name={w.secrets}>
        {secrets === null
          ? w.secretsUsual[kind === 'webhook' ? 'event' : 'schedule']
          : secrets.join(', ') || w.noSecrets}
      </Fact>
      <Fact name={w.model}>
        {model === null ? w.modelDefault : (models.find(({ id }) => id === model)?.name ?? model)}
      </Fact>
      <Fact name={w.effort}>{effort === null ? w.effortDefault : w.efforts[effort]}</Fact>
      <Fact name={w.approvals}>{w.approval[approvals]}</Fact>
      {access != null && (
        <Fact name={t.web.label}>
          {web === null ? t.web.usual[kind === 'webhook' ? 'event' : 'schedule'] : t.web.ofAutomation[`${web}`]}
        </Fact>
      )}
      <Fact name={t.form.whenBlocked}>{t.form.blocked[whenBlocked]}</Fact>
      <Fact name={w.budget}>{budgetWords(automation.budget)}</Fact>
      <Fact name={t.checks.title}>
        <ChecksFact of="automation" {...automation} />
      </Fact>
      <Fact name={w.overlapFact}>{t.automationEditor.overlaps[overlap]}</Fact>
      <Fact name={w.owner}>{owner.name}</Fact>
      <Fact name={t.records.created}>
        <Ago at={createdAt} />
        {updatedAt !== createdAt && (
          <>
            {' · '}
            {t.records.changed.toLowerCase()} <Ago at={updatedAt} />
          </>
        )}
      </Fact>
    </Facts>
  );
}

function AgentFact({ of }: { of: string }) {
  const reads = useCan()('projects:read');
  const [slug = ''] = of.split('@');
  return <Fact name={t.agentField.label}>{reads ? <Link href={agentOf(slug)}>{of}</Link> : of}</Fact>;
}

function EnvironmentFact({ of }: { of: NonNullable<Automation['environment']> }) {
  const reads = useCan()('projects:read');
  const words = w.environment(of);
  return (
    <Fact name={t.environmentField.label}>
      {reads ? <Link href={hrefOf(of.slug, of.version ?? undefined)}>{words}</Link> : words}
    </Fact>
  );
}

function RepositoryFacts({ of: { url, ref, push } }: { of: NonNullable<Automation['repository']> }) {
  const { repository } = w;
  return (
    <>
      <Fact name={repository.name}>{url.replace(/^https?:\/\//, '')}</Fact>
      <Fact name={repository.branch}>{ref ?? repository.defaultBranch}</Fact>
      <Fact name={repository.pushed}>
        {push === null ? repository.notPushed : <code className={css.code}>{push.branch}</code>}
      </Fact>
      {push !== null && (
        <Fact name={repository.pullRequest}>
          {push.pullRequest === null ? repository.noPullRequest : repository.opened(push.pullRequest)}
        </Fact>
      )}
    </>
  );
}

export function budgetWords(budget: Automation['budget']): string {
  if (budget === null) return t.automationEditor.unlimited;
  const given = ([...Object.entries(limits)] as [keyof typeof limits, string][]).flatMap(([name, label]) => {
    const value = budget[name];
    return value === null ? [] : [`${typeof value === 'number' ? count(value) : value} ${label}`];
  });
  return given.length === 0 ? t.automationEditor.unlimited : given.join(', ');
}

/** When it comes next, by the clocks of its zone. */
export function Upcoming({ automation: { upcomingRunsAt, timezone } }: { automation: Automation }) {
  if (upcomingRunsAt.length === 0) return null;
  return (
    <Section title={w.upcoming} about={timezone !== null && w.upcomingIn(timezone)}>
      <Times times={upcomingRunsAt} timezone={timezone ?? undefined} />
    </Section>
  );
}

export function Times({ times, timezone }: { times: (string | number)[]; timezone: string | undefined }) {
  const format = new Intl.DateTimeFormat(undefined, {
    timeZone: timezone,
    weekday: 'short',
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  });
  return (
    <ol className={cx(css.times, 'box')}>
      {times.map((time) => {
        const at = new Date(time);
        return (
          <li key={at.getTime()}>
            <time dateTime={at.toISOString()}>{format.format(at)}</time>
            <span className={records.under}>
              <Ago at={at.toISOString()} />
            </span>
          </li>
        );
      })}
    </ol>
  );
}
