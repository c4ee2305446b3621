import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { automationQuery, changed } from '../../api/automation-queries.ts';
import { api, type Automation, type AutomationRun } from '../../api/client.ts';
import { automationsQuery, queryClient } from '../../api/queries.ts';
import { useCan, useOwns } from '../../shell/can.ts';
import { Page } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { Confirm } from '../../ui/form.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { Back, Crumb, Loaded, Note, records, Section } from '../../ui/records.tsx';
import { Button, Failure, toast, Warning } from '../../ui/ui.tsx';
import { AutomationFacts, Upcoming } from './automation-facts.tsx';
import { Runs } from './runs.tsx';
import { StatusBadge } from './trigger.tsx';

const w = t.automations;

export function AutomationPage({ id }: { id: string }) {
  const query = useQuery(automationQuery(id));
  return (
    <Page title={query.data?.name ?? w.title} sub={query.data && <StatusBadge {...query.data} />}>
      <Crumb to="/automations">{w.title}</Crumb>
      <Loaded query={query} gone={<Back to="/automations">{w.title}</Back>}>
        {(automation) => <One automation={automation} />}
      </Loaded>
    </Page>
  );
}

function One({ automation }: { automation: Automation }) {
  const can = useCan();
  const owns = useOwns();
  const { id, pausedReason, consecutiveFailures, content, owner, status } = automation;
  return (
    <>
      {can('automations:write') && owns(owner) ? (
        <Actions automation={automation} />
      ) : (
        <Note>{can('automations:write') ? t.records.notOwner(owner.name) : w.readOnly}</Note>
      )}
      {pausedReason !== null && <Warning>{pausedReason.message}</Warning>}
      {status === 'active' && consecutiveFailures > 0 && <Warning>{w.failures(consecutiveFailures)}</Warning>}
      <AutomationFacts automation={automation} />
      <Upcoming automation={automation} />
      <Section title={w.what}>
        <div className={records.part}>
          <Markdown text={content} />
        </div>
      </Section>
      <Runs automationId={id} />
    </>
  );
}

function Actions({ automation }: { automation: Automation }) {
  const { id, name, status } = automation;
  const [, navigate] = useLocation();
  const [removing, setRemoving] = useState(false);
  const [started, setStarted] = useState<AutomationRun | null>(null);
  const run = useMutation({
    mutationFn: () => api.automations.run(id),
    onSuccess: (made) => {
      setStarted(made);
      void queryClient.invalidateQueries({ queryKey: ['automations'] });
    },
  });
  const turn = useMutation({
    mutationFn: () => (status === 'active' ? api.automations.pause(id) : api.automations.resume(id)),
    onSuccess: (now) => {
      changed(now);
      toast(now.status === 'active' ? w.resumed : w.paused);
    },
  });
  const remove = useMutation({
    mutationFn: () => api.automations.delete(id),
    onSuccess: () => {
      queryClient.removeQueries({ queryKey: automationQuery(id).queryKey });
      void queryClient.invalidateQueries({ queryKey: automationsQuery.queryKey });
      toast(w.removed);
      navigate('/automations', { replace: true });
    },
  });
  const error = run.error ?? turn.error;
  return (
    <>
      <div className={records.filters} role="group" aria-label={t.records.actions}>
        <Button look="primary" icon="Send" disabled={run.isPending} onClick={() => run.mutate()}>
          {run.isPending ? w.running : w.runNow}
        </Button>
        {status !== 'completed' && (
          <Button
            icon={status === 'active' ? 'Square' : 'Clock'}
            disabled={turn.isPending}
            onClick={() => turn.mutate()}
          >
            {status === 'active' ? w.pause : w.resume}
          </Button>
        )}
        <Button icon="Pencil" onClick={() => navigate(`/automations/${id}/edit`)}>
          {w.edit}
        </Button>
        <Button icon="Copy" onClick={() => navigate(`/automations/new?from=${id}`)}>
          {w.copy}
        </Button>
        <Button look="danger" icon="Trash" onClick={() => setRemoving(true)}>
          {w.remove}
        </Button>
      </div>
      {error !== null && <Failure error={error} />}
      {started !== null && <Started run={started} />}
      <Confirm
        open={removing}
        title={w.removeTitle(name)}
        action={w.remove}
        does={remove}
        onClose={() => setRemoving(false)}
      >
        <p>{w.removeText}</p>
      </Confirm>
    </>
  );
}

/** What became of a run by hand: its task, or why there is none. */
function Started({ run: { taskId, reason } }: { run: AutomationRun }) {
  if (taskId === null) return <Warning>{reason?.message ?? w.run.failed}</Warning>;
  return (
    <p className={records.told} role="status">
      {w.started}{' '}
      <Link href={`/tasks/${taskId}`} className={records.link ?? ''}>
        {w.openTask}
      </Link>
    </p>
  );
}
