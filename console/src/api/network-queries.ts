// What a task did with the network, and how one allows it more.
import { queryOptions } from '@tanstack/react-query';
import { api } from './client.ts';
import { changedEnvironment } from './environment-queries.ts';
import { all } from './queries.ts';

export const networkQuery = (taskId: string) =>
  queryOptions({
    queryKey: ['network', taskId],
    queryFn: ({ signal }) => all(api.tasks.network(taskId, { limit: 100 }, { signal })),
    staleTime: 0,
  });

/** As a list of hosts has it: the usual ports go without saying. */
export const listedAs = (host: string, port: number): string =>
  port === 443 || port === 80 || port === 0 ? host : `${host}:${port}`;

/** Puts a host to those of the newest version of an environment: a new version has it. Null: it was there already. */
export async function allowHost(slug: string, host: string): Promise<number | null> {
  // What somebody else has added meanwhile stays.
  const { allowHosts } = await api.environments.get(slug);
  if (allowHosts.includes(host)) return null;
  const changed = await api.environments.update(slug, { allowHosts: [...allowHosts, host] });
  changedEnvironment(changed);
  return changed.version;
}
