import { useMutation } from '@tanstack/react-query';
import { api, isPatchOmitted, type Task } from '../../../api/client.ts';
import { downloadText } from '../../../api/queries.ts';
import { t } from '../../../texts/index.ts';
import { Command } from '../../../ui/command.tsx';
import { Button, toastError } from '../../../ui/ui.tsx';
import css from './checks.module.css';

const TYPE = 'application/vnd.in-toto+json';

/** What the checks of the last turn saw, for somebody else. */
export function Proof({ task }: { task: Task }) {
  const texts = t.checksPanel;
  const save = useMutation({
    mutationFn: () => api.tasks.proof(task.id),
    onSuccess: (proof) => downloadText('proof.json', `${JSON.stringify(proof)}\n`, TYPE),
    onError: toastError,
  });
  const patch = task.changes === null || isPatchOmitted(task) ? '' : ' --patch changes.patch';
  return (
    <div className={css.proof}>
      <p>{texts.proof}</p>
      <Button small icon="Download" disabled={save.isPending} onClick={() => save.mutate()}>
        {texts.saveProof}
      </Button>
      <Command line={`mw verify proof.json${patch}`} />
    </div>
  );
}
