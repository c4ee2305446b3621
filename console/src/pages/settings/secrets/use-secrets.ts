// What is done with secrets. A value is never among the variables of a mutation: the library would keep them.
import { useMutation } from '@tanstack/react-query';
import { api, type Secret } from '../../../api/client.ts';
import { readSecretsAnew } from '../../../api/secret-queries.ts';
import { t } from '../../../texts/index.ts';
import { toast } from '../../../ui/ui.tsx';
import { changesOf, type Draft, sentOf } from './draft.ts';

/** `before`: null for a new one. `takeValue` gives the value and empties its field; null: there is none. */
export const useSave = (before: Secret | null, takeValue: () => string | null, onDone: () => void) =>
  useMutation({
    mutationFn: (draft: Draft) => {
      const value = takeValue();
      if (before !== null)
        return api.secrets.update(before.id, { ...changesOf(draft, before), ...(value !== null && { value }) });
      const { scope, projectId } = draft;
      const whose = { scope, ...(scope === 'project' && { projectId }) };
      return api.secrets.create({ ...sentOf(draft), ...whose, value: value ?? '' });
    },
    // An answer may be lost on its way, and the change be made.
    onSettled: readSecretsAnew,
    onSuccess: ({ name }) => {
      toast(before === null ? t.secrets.kept(name) : t.secrets.saved(name));
      onDone();
    },
  });

export const useRemove = ({ id, name }: Secret, onDone: () => void) =>
  useMutation({
    mutationFn: () => api.secrets.delete(id),
    onSettled: readSecretsAnew,
    onSuccess: () => {
      toast(t.secrets.removed(name));
      onDone();
    },
  });
