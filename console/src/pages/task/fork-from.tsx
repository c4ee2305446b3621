import { Suspense, useState } from 'react';
import { useCan } from '../../shell/can.ts';
import { program } from '../../shell/program.ts';
import { t } from '../../texts/index.ts';
import { Button } from '../../ui/ui.tsx';
import css from './conversation.module.css';

const Fork = program(() => import('./fork.tsx'));

/** Stands at the end of a turn that is over. */
export function ForkFrom({ task, turn }: { task: string; turn: number }) {
  const [open, setOpen] = useState(false);
  if (!useCan()('tasks:write', 'files:read')) return null;
  return (
    <>
      <Button
        small
        look="ghost"
        icon="Branch"
        className={css.fork}
        aria-label={t.task.forkOf(turn)}
        onClick={() => setOpen(true)}
      >
        {t.task.fork}
      </Button>
      <Suspense fallback={null}>{open && <Fork task={task} turn={turn} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
