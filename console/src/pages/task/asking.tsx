import type { Interaction } from '../../api/client.ts';
import { useAnswer } from '../../api/task-actions.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Failure } from '../../ui/ui.tsx';
import { Approval, type FormProps, WhatWouldBeDone } from './approval.tsx';
import { pressed } from './press.ts';
import { AskedText, Question } from './question.tsx';
import css from './dock.module.css';

type Form = Pick<FormProps, 'taskId' | 'onWriting' | 'close'>;

/** What the agent asks. `form` is null for those who only read. */
export default function Asking({ ask, form }: { ask: Interaction; form: Form | null }) {
  return (
    <section
      className={css.ask}
      data-type={ask.type}
      data-over={form?.close !== undefined}
      aria-label={t.task.asks[ask.type]}
      onKeyDown={pressed}
    >
      <header>
        <Icon name={ask.type === 'approval' ? 'Shield' : 'Message'} size={15} />
        {t.task.asks[ask.type]}
        {ask.toolCall && <code>{ask.toolCall.name}</code>}
        <span className="grow" />
        <span className={css.since}>
          {t.task.since} <Ago at={ask.createdAt} />
        </span>
      </header>
      {form !== null ? (
        <Answer ask={ask} {...form} />
      ) : ask.type === 'approval' ? (
        <WhatWouldBeDone ask={ask} />
      ) : (
        <AskedText ask={ask} />
      )}
    </section>
  );
}

function Answer({ ask, taskId, onWriting, close }: { ask: Interaction } & Form) {
  const answer = useAnswer(taskId, ask.id);
  const Form = ask.type === 'approval' ? Approval : Question;
  const sent = answer.isPending || answer.isSuccess;
  return (
    <>
      <Form ask={ask} taskId={taskId} busy={sent} send={answer.mutate} onWriting={onWriting} close={close} />
      {answer.isError && (
        <div className={css.failure}>
          <Failure error={answer.error} />
        </div>
      )}
    </>
  );
}
