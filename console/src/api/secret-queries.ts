// The secrets that the session sees. No answer has a value.
import { queryOptions } from '@tanstack/react-query';
import { api } from './client.ts';
import { all, queryClient } from './queries.ts';

export const secretsQuery = queryOptions({
  queryKey: ['secrets'],
  queryFn: ({ signal }) => all(api.secrets.list({ limit: 100 }, { signal })),
  // There is no event for them, and tasks use them all the time.
  staleTime: 0,
});

export const readSecretsAnew = () => void queryClient.invalidateQueries({ queryKey: secretsQuery.queryKey });
