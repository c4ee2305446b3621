// What is done with the connections of a workspace to hosts of code.
import { useMutation } from '@tanstack/react-query';
import {
  api,
  type ChangeRepositoryConnection,
  type CreateRepositoryConnection,
  type RepositoryConnection,
} from '../../../api/client.ts';
import { changedConnection, readRepositoriesAnew } from '../../../api/repository-queries.ts';
import { t } from '../../../texts/index.ts';
import { toast, toastError } from '../../../ui/ui.tsx';

/** Asks the host. What it refuses stands at the connection. */
async function ask({ id, host }: RepositoryConnection): Promise<void> {
  const tested = await api.repositoryConnections.test(id);
  changedConnection(tested);
  const { account, lastError } = tested;
  if (lastError !== null) toast(lastError, true);
  else toast(t.repositories.settings.works(host, account ?? ''));
}

export const useTest = (connection: RepositoryConnection) =>
  useMutation({ mutationFn: () => ask(connection), onError: toastError });

// A secret is in the variables of these: nothing keeps them once the form is gone.
const FORGET = { gcTime: 0 };

export const useConnect = (onDone: () => void) =>
  useMutation({
    ...FORGET,
    mutationFn: async (body: CreateRepositoryConnection) => {
      const connection = await api.repositoryConnections.create(body);
      // It is there, whatever the host says.
      await ask(connection).catch(toastError);
    },
    onSuccess: () => {
      readRepositoriesAnew();
      onDone();
    },
  });

export const useChange = ({ id }: RepositoryConnection, onDone: () => void) =>
  useMutation({
    ...FORGET,
    mutationFn: (body: ChangeRepositoryConnection) => api.repositoryConnections.update(id, body),
    onSuccess: (connection) => {
      changedConnection(connection);
      toast(t.repositories.settings.saved);
      onDone();
    },
  });

export const useReplace = ({ id }: RepositoryConnection, onDone: () => void) =>
  useMutation({
    ...FORGET,
    mutationFn: async (body: ChangeRepositoryConnection) => {
      const connection = await api.repositoryConnections.update(id, body);
      await ask(connection).catch(toastError);
    },
    onSuccess: () => {
      readRepositoriesAnew();
      onDone();
    },
  });

export const useRemove = ({ id }: RepositoryConnection, onDone: () => void) =>
  useMutation({
    mutationFn: () => api.repositoryConnections.delete(id),
    onSuccess: () => {
      readRepositoriesAnew();
      toast(t.repositories.settings.removed);
      onDone();
    },
  });
