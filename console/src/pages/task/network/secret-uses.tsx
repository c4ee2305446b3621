import { useQuery } from '@tanstack/react-query';
import type { Task } from '../../../api/client.ts';
import { secretUsesQuery } from '../../../api/secret-uses-query.ts';
import { t } from '../../../texts/index.ts';
import { Ago } from '../../../ui/ago.tsx';
import { NothingYet } from '../../../ui/nothing.tsx';
import css from './network.module.css';
import { useReadAgain } from './read-again.ts';

/** What the task did with secrets. */
export function SecretUses({ task }: { task: Task }) {
  const texts = t.secretUses;
  const { data: uses, error, refetch } = useQuery(secretUsesQuery(task.id));
  useReadAgain(task, refetch);
  return (
    <section className={css.part}>
      <h3>{texts.title}</h3>
      {uses === undefined && <NothingYet error={error} refetch={refetch} h={32} />}
      {uses?.length === 0 && <p className={css.sub}>{texts.none}</p>}
      {uses !== undefined && uses.length > 0 && (
        <ul className={css.uses} aria-label={texts.title}>
          {uses.map(({ secretId, name, host, requests, refused, masked, lastAt }) => (
            <li key={`${secretId} ${host}`}>
              <div>
                <code>{name}</code> {texts.at(host)}
              </div>
              <div className={css.sub}>
                {texts.requests(requests)}
                {refused > 0 && (
                  <span className={css.refused} title={texts.refusedNote}>
                    {' · '}
                    {texts.refused(refused)}
                  </span>
                )}
                {masked > 0 && (
                  <span title={texts.maskedNote}>
                    {' · '}
                    {texts.masked(masked)}
                  </span>
                )}
                {' · '}
                <Ago at={lastAt} />
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
