// What the commands of a task did with the network. It is read when somebody wants to see it.
import type { Task } from '../../../api/client.ts';
import { NetworkUses } from './network-uses.tsx';
import css from './network.module.css';
import { SecretUses } from './secret-uses.tsx';

export default function Uses({ task }: { task: Task }) {
  return (
    <div className={css.uses}>
      <NetworkUses task={task} />
      <SecretUses task={task} />
    </div>
  );
}
