// Below the conversation, always in view: what the agent asks, or a place to write to it.
import type { Interaction, Task } from '../../api/client.ts';
import { useAnswer } from '../../api/task-actions.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Failure } from '../../ui/ui.tsx';
import { Approval, WhatWouldBeDone } from './approval.tsx';
import { Composer } from './composer.tsx';
import { AskedText, Question } from './question.tsx';
import css from './dock.module.css';

export function Dock({ task }: { task: Task }) {
  const ask = task.pendingInteraction;
  if (!useCan()('tasks:write')) {
    return (
      <div className={css.dock}>
        {ask && (
          <section className={css.ask} data-type={ask.type} aria-label={t.task.asks[ask.type]}>
            <AskHead ask={ask} />
            {ask.type === 'approval' ? <WhatWouldBeDone ask={ask} /> : <AskedText ask={ask} />}
          </section>
        )}
        <p className={css.readOnly}>{t.task.readOnly}</p>
      </div>
    );
  }
  return (
    <div className={css.dock}>
      {ask ? <Asking key={ask.id} taskId={task.id} ask={ask} /> : <Composer task={task} />}
    </div>
  );
}

function Asking({ taskId, ask }: { taskId: string; ask: Interaction }) {
  const answer = useAnswer(taskId, ask.id);
  const Form = ask.type === 'approval' ? Approval : Question;
  return (
    <section className={css.ask} data-type={ask.type} aria-label={t.task.asks[ask.type]}>
      <AskHead ask={ask} />
      <Form ask={ask} taskId={taskId} busy={answer.isPending} send={answer.mutate} />
      {answer.isError && (
        <div className={css.failure}>
          <Failure error={answer.error} />
        </div>
      )}
    </section>
  );
}

const AskHead = ({ ask }: { ask: Interaction }) => (
  <header>
    <Icon name={ask.type === 'approval' ? 'Shield' : 'Message'} size={15} />
    {t.task.asks[ask.type]}
    {ask.toolCall && <code>{ask.toolCall.name}</code>}
    <span className="grow" />
    <span className={css.since}>
      {t.task.since} <Ago at={ask.createdAt} />
    </span>
  </header>
);
