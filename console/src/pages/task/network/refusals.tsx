import { useQuery } from '@tanstack/react-query';
import { taskQuery } from '../../../api/queries.ts';
import { exactly } from '../../../ui/code.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { AllowHost } from './allow-host.tsx';
import css from './network.module.css';
import { fieldsOf, textOf } from '../steps.ts';

/** What a command was refused by the network: a `data` part `network` behind its call (reference §6). */
export default function Refusals({ taskId, data }: { taskId: string; data: unknown }) {
  const { data: environment = null } = useQuery({ ...taskQuery(taskId), select: (task) => task.environment });
  const { refused } = fieldsOf(data);
  return (
    <ul className={css.refusals}>
      {(Array.isArray(refused) ? refused.map(fieldsOf) : []).map(({ host, port, code, reason }, n) => (
        <li key={n}>
          <p className={css.quiet}>
            <Icon name="Shield" size={13} /> {exactly(textOf(reason))}
          </p>
          {code === 'host_not_allowed' && typeof host === 'string' && typeof port === 'number' && (
            <AllowHost environment={environment} host={host} port={port} />
          )}
        </li>
      ))}
    </ul>
  );
}
