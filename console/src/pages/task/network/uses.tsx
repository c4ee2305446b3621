// What the commands of a task did with the network. It is read when somebody wants to see it.
import type { Task } from '../../../api/client.ts';
import { SecretUses } from './secret-uses.tsx';

export default function Uses({ task }: { task: Task }) {
  return <SecretUses task={task} />;
}
