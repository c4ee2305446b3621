// Lines for the terminal of somebody who has the repository.
import type { Task } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { Command } from '../../ui/command.tsx';
import css from './task.module.css';

export function ApplyLocally({ task, patch }: { task: Task | undefined; patch: string }) {
  const push = task?.repository?.push;
  const branch = push?.url == null ? null : word(push.branch);
  const { applyBranch, applyPatch, applyFiles, apply } = t.task.changes;
  return (
    <section className={css.apply} aria-label={apply}>
      {branch !== null && <Line text={applyBranch} line={`git fetch origin ${branch} && git checkout ${branch}`} />}
      <Line text={applyPatch} line={`git apply -- ${word(patch)}`} />
      {task && <Line text={applyFiles} line={`mw files ${task.id} --out .`} />}
    </section>
  );
}

const Line = ({ text, line }: { text: string; line: string }) => (
  <div>
    <p>{text}</p>
    <Command line={line} />
  </div>
);

/** For the shell of the person who pastes it. The name is the agent's choice: it must not become a command. */
function word(name: string): string {
  // eslint-disable-next-line no-control-regex -- A line end would begin another command.
  const clean = name.replace(/[\u0000-\u001f\u007f]/g, '_');
  return /^[\w.+@/-]+$/.test(clean) ? clean : `'${clean.replaceAll("'", "'\\''")}'`;
}
