import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { connectionsQuery, repositoriesQuery } from '../../api/repository-queries.ts';
import { useConnectHindrance } from '../../shell/administration.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Icon } from '../../ui/icon.tsx';
import css from './repositories.module.css';

/** One line that leads to the first connection, in a workspace that has no repository yet. */
export function NothingConnected() {
  const connects = useConnectHindrance() === null;
  const enabled = useCan()('projects:read');
  const connections = useQuery({ ...connectionsQuery, enabled });
  const usable = useQuery({ ...repositoriesQuery(''), enabled });
  // Those of the operator are good too.
  if (connections.data?.length !== 0 || usable.data?.items.length !== 0 || usable.data.partial === true) return null;
  return (
    <p className={css.empty}>
      <Icon name="PullRequest" size={15} />
      {connects ? (
        <Link href="/settings?part=repositories">{t.repositories.empty}</Link>
      ) : (
        <span>{t.repositories.emptyAsk}</span>
      )}
    </p>
  );
}
