import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { runsQuery, tasksOfAutomationQuery } from '../../api/automation-queries.ts';
import type { AutomationRun, Task } from '../../api/client.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { fullTime } from '../../ui/format.ts';
import { Badge, Pages, records, Section, type Tone } from '../../ui/records.tsx';
import { StatusLabel } from '../../ui/ui.tsx';

const w = t.automations;
const TONES: Record<AutomationRun['status'], Tone> = {
  waiting: 'busy',
  started: 'good',
  skipped: 'quiet',
  failed: 'bad',
};

/** What it has done, newest first: why a run made no task stands below it. */
export function Runs({ automationId }: { automationId: string }) {
  const can = useCan();
  const query = useInfiniteQuery(runsQuery(automationId));
  const { data: tasks = [] } = useQuery({ ...tasksOfAutomationQuery(automationId), enabled: can('tasks:read') });
  const some = query.data !== undefined && query.data.pages.some(({ items }) => items.length > 0);
  const all = can('tasks:read') && some && (
    <Link href={`/tasks?automation=${automationId}`} className={records.link ?? ''}>
      {w.allTasks}
    </Link>
  );
  return (
    <Section title={w.runs} actions={all}>
      <Pages query={query} empty={<p className={records.under}>{w.runsEmpty}</p>}>
        {(run) => (
          <li key={run.id} className={records.entry}>
            <Run run={run} task={tasks.find(({ id }) => id === run.taskId)} linked={can('tasks:read')} />
          </li>
        )}
      </Pages>
    </Section>
  );
}

function Run({ run, task, linked }: { run: AutomationRun; task: Task | undefined; linked: boolean }) {
  const { status, trigger, reason, taskId, createdAt } = run;
  const from = trigger.event ?? w.triggers[trigger.type];
  return (
    <>
      <span className={records.main}>
        <span className={records.title}>
          <Badge tone={TONES[status]}>{w.run[status]}</Badge>
          {taskId !== null && linked && (
            <Link href={`/tasks/${taskId}`} className={records.link ?? ''}>
              {task?.title ?? w.openTask}
            </Link>
          )}
          {status === 'started' && taskId === null && <span className={records.under}>{w.noTask}</span>}
        </span>
        <span className={records.under}>
          {from}
          {trigger.scheduledAt !== null && ` · ${w.due(fullTime(trigger.scheduledAt))}`}
        </span>
        {reason !== null && <span className={records.under}>{reason.message}</span>}
      </span>
      <span className={records.side}>
        {task !== undefined && <StatusLabel status={task.status} />}
        <Ago at={createdAt} />
      </span>
    </>
  );
}
