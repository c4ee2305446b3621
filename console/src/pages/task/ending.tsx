// What stands below the last message: that something goes on, how it ended, and what came of it.
import { WAITS_FOR_TASKS } from '../../api/child-queries.ts';
import { isPatchOmitted, stands, type Task, waitingOf } from '../../api/client.ts';
import { downloadText } from '../../api/queries.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Children } from '../../ui/children.tsx';
import { Code } from '../../ui/code.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Button, cx, Warning } from '../../ui/ui.tsx';
import css from './conversation.module.css';

export function Ending({ task }: { task: Task }) {
  const { status, statusReason: reason } = task;
  switch (status) {
    case 'running':
    case 'awaiting_input':
    case 'queued': {
      if (stands(task)) return <Standing task={task} />;
      if (status === 'awaiting_input') return null;
      // Where the details are folded, as on a phone, they are to be seen all the same.
      if (reason?.code === WAITS_FOR_TASKS) {
        return (
          <section className={css.handed} aria-label={t.children.waits}>
            <div className={css.working} data-status="running">
              <span className={css.pulse} aria-hidden />
              {t.children.waits}
            </div>
            <Children taskId={task.id} />
          </section>
        );
      }
      const recovered = reason?.code === 'recovered';
      const text = status === 'running' ? t.task.working : recovered ? t.task.recovered : t.task.waitsForWorker;
      const waiting = waitingOf(task);
      return (
        <div className={css.working} data-status={status}>
          <span className={css.pulse} aria-hidden />
          {waiting === null ? (
            text
          ) : (
            <span title={waiting.message}>
              {t.task.waitsFor[waiting.code] ?? waiting.message}, {t.task.since} <Ago at={waiting.since} />
            </span>
          )}
        </div>
      );
    }
    case 'failed':
    case 'cancelled':
      return (
        <div className={css.end} data-status={status}>
          <Icon name={status === 'failed' ? 'Alert' : 'Square'} size={15} />
          <div className="grow">
            <strong>{t.common.status[status]}</strong>
            {reason && <p>{reason.message}</p>}
            {reason && status === 'failed' && (
              <p>
                <code>{reason.code}</code>
              </p>
            )}
            <p className={css.hint}>{hintOf(task)}</p>
          </div>
        </div>
      );
    case 'completed':
      return (
        <>
          {isPatchOmitted(task) && <Warning>{t.task.changes.omitted}</Warning>}
          {task.outputSchema !== null && task.result !== null && <Output value={task.result.output} />}
        </>
      );
    default:
      return null;
  }
}

function hintOf({ status, statusReason }: Task): string {
  if (statusReason?.code === 'checks_failed') return t.checks.hint;
  return status === 'failed' && statusReason?.retryable === false ? t.task.hintNotRetryable : t.task.hint;
}

/** Nothing goes on: it is paused, or waits for what blocks it. */
function Standing({ task: { status, statusReason, resumesAt } }: { task: Task }) {
  const paused = status === 'running' ? t.task.pausing : t.task.paused;
  return (
    <div className={css.working} data-status={status}>
      <span>
        {statusReason?.code === 'paused' ? paused : statusReason?.message}
        {resumesAt && (
          <>
            , {t.task.goesOn} <Ago at={resumesAt} />
          </>
        )}
      </span>
    </div>
  );
}

/** The value of the last answer, which fits the schema that the task was given. */
function Output({ value }: { value: unknown }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <section className={cx(css.output, 'box')} aria-label={t.task.output}>
      <header>
        <strong>{t.task.output}</strong>
        <span className="grow" />
        <Button small look="ghost" icon="Download" onClick={() => downloadText('output.json', `${text}\n`)}>
          {t.task.files.download}
        </Button>
      </header>
      <Code plain code={text} language="json" label={t.task.output} />
    </section>
  );
}
