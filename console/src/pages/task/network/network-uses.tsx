import { useQuery } from '@tanstack/react-query';
import type { NetworkUse, Task } from '../../../api/client.ts';
import { listedAs, networkQuery } from '../../../api/network-queries.ts';
import { t } from '../../../texts/index.ts';
import { bytes } from '../../../ui/format.ts';
import { NothingYet } from '../../../ui/nothing.tsx';
import { AllowHost } from './allow-host.tsx';
import { useReadAgain } from './read-again.ts';
import css from './network.module.css';

/** Which hosts the commands of a task reached, and which they were refused. */
export function NetworkUses({ task }: { task: Task }) {
  const texts = t.network;
  const { data: uses, error, refetch } = useQuery(networkQuery(task.id));
  useReadAgain(task, refetch);
  return (
    <section className={css.part}>
      <h3>{texts.hosts}</h3>
      {uses === undefined && <NothingYet error={error} refetch={refetch} h={32} />}
      {uses?.length === 0 && <p className={css.sub}>{texts.none}</p>}
      {uses !== undefined && uses.length > 0 && (
        <ul className={css.uses} aria-label={texts.hosts}>
          {uses.map((use) => (
            <li key={`${use.host}:${use.port}`}>
              <Host use={use} environment={task.environment} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Host({ use, environment }: { use: NetworkUse; environment: Task['environment'] }) {
  const texts = t.network;
  const { host, port, connections, failed, refused, refusedFor, bytesIn, bytesOut } = use;
  const about = [
    connections > 0 && texts.connections(connections),
    connections > 0 && texts.bytes(bytes(bytesOut), bytes(bytesIn)),
    failed > 0 && texts.failed(failed),
  ].filter((one) => one !== false);
  // Port 0: the sum of what is beyond the list.
  const named = port !== 0;
  return (
    <>
      <div>{named ? listedAs(host, port) : texts.others}</div>
      <div className={css.sub}>
        {about.join(' · ')}
        {refused > 0 && (
          <span className={css.refused} title={environment === null ? texts.operator : undefined}>
            {about.length > 0 && ' · '}
            {texts.refused(refused)}
          </span>
        )}
      </div>
      {named && refusedFor === 'host_not_allowed' && <AllowHost environment={environment} host={host} port={port} />}
    </>
  );
}
