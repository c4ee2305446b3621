import { useMutation, useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { useLocation } from 'wouter';
import { agentQuery, agentVersionsQuery, changedAgent } from '../../api/agent-queries.ts';
import { api, type Agent, type AgentVersion } from '../../api/client.ts';
import { useCan, useOwns } from '../../shell/can.ts';
import { program } from '../../shell/program.ts';
import { Page } from '../../shell/shell.tsx';
import { useParam } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import { Choice, Confirm } from '../../ui/form.tsx';
import { fullTime } from '../../ui/format.ts';
import { Back, Badge, Crumb, Fact, Facts, Loaded, Note, records, Section } from '../../ui/records.tsx';
import { Button, Failure, Skeleton, toast, Warning } from '../../ui/ui.tsx';
import { AgentFacts } from './agent-facts.tsx';
import { Stats } from './agent-stats.tsx';
import css from './agents.module.css';
import { editOf, evaluateOf, LIST, tryOf } from './places.ts';

const Difference = program(() => import('./difference.tsx'));
const w = t.agents;

export function AgentPage({ slug }: { slug: string }) {
  const query = useQuery(agentQuery(slug));
  return (
    <Page title={query.data?.name ?? slug}>
      <Crumb to={LIST}>{w.title}</Crumb>
      <Loaded query={query} gone={<Back to={LIST}>{w.title}</Back>}>
        {(agent) => <One agent={agent} />}
      </Loaded>
    </Page>
  );
}

function One({ agent }: { agent: Agent }) {
  const { slug, name, version, description, channels, archived, default: usual } = agent;
  return (
    <>
      <p className={css.head}>
        {name !== slug && <code className="mono">{slug}</code>}
        <span>{w.version(version)}</span>
        {usual && (
          <Badge tone="good" icon="Check">
            {w.isDefault}
          </Badge>
        )}
        {archived && (
          <Badge tone="quiet" icon="Box">
            {w.archived}
          </Badge>
        )}
      </p>
      {description !== '' && <p>{description}</p>}
      <Actions of={agent} />
      {Object.keys(channels).length > 0 && (
        <Facts>
          <Fact name={w.channels}>
            {Object.entries(channels)
              .map(([channel, at]) => w.channel(channel, at))
              .join(' · ')}
          </Fact>
        </Facts>
      )}
      <Versions of={agent} />
      <Stats slug={slug} />
    </>
  );
}

function Actions({ of: agent }: { of: Agent }) {
  const { slug, name, version, archived, createdBy } = agent;
  const can = useCan();
  const owns = useOwns();
  const [, navigate] = useLocation();
  const [asking, setAsking] = useState(false);
  const archive = useMutation({
    mutationFn: () => api.agents.update(slug, { version, archived: !archived }),
    onSuccess: (changed) => {
      changedAgent(changed);
      setAsking(false);
      toast(changed.archived ? w.archivedNow(name) : w.backNow(name));
    },
  });
  const changes = can('projects:write') && owns(createdBy);
  return (
    <>
      {!changes && <Note>{w.readOnly}</Note>}
      <div className={records.filters} role="group" aria-label={t.records.actions}>
        {can('tasks:write') && !archived && (
          <>
            <Button look="primary" icon="Send" onClick={() => navigate(tryOf(slug))}>
              {w.tryIt}
            </Button>
            <Button icon="Chart" onClick={() => navigate(evaluateOf(slug))}>
              {t.evaluations.begin}
            </Button>
          </>
        )}
        {changes && (
          <>
            <Button icon="Pencil" onClick={() => navigate(editOf(slug))}>
              {w.edit}
            </Button>
            {archived ? (
              <Button icon="Refresh" disabled={archive.isPending} onClick={() => archive.mutate()}>
                {w.unarchive}
              </Button>
            ) : (
              <Button icon="Box" onClick={() => setAsking(true)}>
                {w.archive}
              </Button>
            )}
          </>
        )}
      </div>
      {archived && archive.error !== null && <Failure error={archive.error} />}
      <Confirm
        open={asking}
        title={w.archiveTitle(name)}
        action={w.archive}
        does={archive}
        onClose={() => setAsking(false)}
      >
        <p>{w.archiveText}</p>
      </Confirm>
    </>
  );
}

/** What it is now, what it was, and what is another between two of them. */
function Versions({ of: agent }: { of: Agent }) {
  const { slug, version: newest } = agent;
  const [asked, ask] = useParam('version', '');
  const [against, compare] = useParam('against', '');
  const { data: versions = [], error, refetch } = useQuery(agentVersionsQuery(slug));
  const at = (version: string): Agent | AgentVersion | undefined =>
    version === '' || version === String(newest) ? agent : versions.find((one) => String(one.version) === version);
  const [shown, other] = [at(asked), against === '' ? undefined : at(against)];
  const options = versions.map(({ version, createdBy, createdAt }) => [String(version), w.versionOf(version, createdBy.name, fullTime(createdAt))] as const); // prettier-ignore
  const which = shown?.version ?? newest;
  return (
    <Section
      title={w.what}
      actions={
        versions.length > 1 && (
          <div className={css.which}>
            <Choice
              label={w.shown}
              value={String(which)}
              onChange={(next) => ask(next === String(newest) ? '' : next)}
              options={options}
            />
            <Choice
              label={w.compare}
              value={against}
              onChange={compare}
              options={[['', w.compareNone], ...options.filter(([one]) => one !== String(which))]}
            />
          </div>
        )
      }
    >
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {which !== newest && (
        <Warning>
          {w.older(which, newest)}{' '}
          <Button small onClick={() => ask('')}>
            {w.toNewest}
          </Button>
        </Warning>
      )}
      {shown !== undefined && other !== undefined && (
        <>
          <h3 className={css.between}>{w.difference(other.version, shown.version)}</h3>
          <Suspense fallback={<Skeleton w="100%" h={80} />}>
            <Difference from={other} to={shown} none={w.noDifference} />
          </Suspense>
        </>
      )}
      {shown !== undefined && <AgentFacts of={shown} />}
    </Section>
  );
}
