// A task with those that its agent has made.
import type { Millwright, Task } from '@millwright/sdk';
import type { Line } from './line.js';
import { plain } from './terminal.js';

interface Branch {
  task: Task;
  below: Branch[];
}

/** Prints each on a line, below the one that made it; as JSON one object, with `tasks` in each. */
export async function printTree(line: Line, mw: Millwright, task: Task): Promise<number> {
  const tree = await branchOf(mw, task);
  console.log(line.json ? JSON.stringify(asJson(tree)) : linesOf(tree, '', '').join('\n'));
  return 0;
}

async function branchOf(mw: Millwright, task: Task): Promise<Branch> {
  const made: Task[] = [];
  if (task.children.tasks > 0)
    for await (const one of mw.tasks.list({ parentTaskId: task.id, archived: 'all' })) made.unshift(one);
  return { task, below: await Promise.all(made.map((one) => branchOf(mw, one))) };
}

function linesOf({ task, below }: Branch, mark: string, behind: string): string[] {
  const { id, status, title, statusReason, pendingInteraction } = task;
  const asks = pendingInteraction === null ? '' : `: ${plain(pendingInteraction.question)}`;
  const why = statusReason === null ? '' : ` (${statusReason.code})`;
  const last = below.length - 1;
  return [
    `${id}  ${status.padEnd(16)}${mark}${plain(title)}${why}${asks}`,
    ...below.flatMap((one, at) =>
      linesOf(one, `${behind}${at === last ? '└─ ' : '├─ '}`, `${behind}${at === last ? '   ' : '│  '}`),
    ),
  ];
}

const asJson = ({ task, below }: Branch): object => ({ ...task, tasks: below.map(asJson) });
