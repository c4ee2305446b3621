import { useMutation } from '@tanstack/react-query';
import { checksOf } from '../../../api/check-queries.ts';
import { api, isFinal, isPatchOmitted, type Task } from '../../../api/client.ts';
import { downloadText } from '../../../api/queries.ts';
import { useRunChecks } from '../../../api/task-actions.ts';
import { useCan } from '../../../shell/can.ts';
import { t } from '../../../texts/index.ts';
import { Command } from '../../../ui/command.tsx';
import { Button, toastError } from '../../../ui/ui.tsx';
import css from './checks.module.css';

const TYPE = 'application/vnd.in-toto+json';

/** What can be done with checks that have ended. */
export function Foot({ task }: { task: Task }) {
  const writes = useCan()('tasks:write');
  const run = useRunChecks(task.id);
  const { status } = checksOf(task);
  const proven = status === 'passed' || status === 'failed';
  const again = writes && isFinal(task.status);
  if (!proven && !again) return null;
  return (
    <div className={css.foot}>
      {proven && <Proof task={task} />}
      {again && (
        <Button
          small
          icon="Refresh"
          disabled={run.isPending}
          onClick={() => run.mutate(undefined, { onError: toastError })}
        >
          {t.checksPanel.again}
        </Button>
      )}
    </div>
  );
}

/** What the checks of the last turn saw, for somebody else. */
function Proof({ task }: { task: Task }) {
  const texts = t.checksPanel;
  const save = useMutation({
    mutationFn: () => api.tasks.proof(task.id),
    onSuccess: (proof) => downloadText('proof.json', `${JSON.stringify(proof)}\n`, TYPE),
    onError: toastError,
  });
  const patch = task.changes === null || isPatchOmitted(task) ? '' : ' --patch changes.patch';
  return (
    <>
      <p>{texts.proof}</p>
      <Command line={`mw verify proof.json${patch}`} />
      <Button small icon="Download" disabled={save.isPending} onClick={() => save.mutate()}>
        {texts.saveProof}
      </Button>
    </>
  );
}
