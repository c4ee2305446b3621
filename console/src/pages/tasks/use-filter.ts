import { useSearchParams } from 'wouter';
import type { TaskStatus } from '../../api/client.ts';
import type { TaskFilter } from '../../api/queries.ts';

export const STATUSES: readonly TaskStatus[] = [
  'awaiting_input', 'running', 'queued', 'completed', 'failed', 'cancelled',
]; // prettier-ignore

export type Changes = Partial<Record<'status' | 'project' | 'automation' | 'tag' | 'q' | 'archived' | 'sort', string>>;
export type Change = (changes: Changes, how?: { replace: boolean }) => void;

/** What the address narrows the list to. A change is a step that the back button takes back; what is typed replaces. */
export function useFilter(): { filter: TaskFilter; change: Change; narrowed: boolean; clear: () => void } {
  const [params, set] = useSearchParams();
  const said = (params.get('status') ?? '').split(',');
  const archived = params.get('archived');
  const filter: TaskFilter = {
    status: STATUSES.filter((one) => said.includes(one)),
    projectId: params.get('project') ?? '',
    automationId: params.get('automation') ?? '',
    tag: params.get('tag') ?? '',
    q: (params.get('q') ?? '').trim().slice(0, 200),
    archived: archived === 'true' || archived === 'all' ? archived : 'false',
    sort: params.get('sort') === 'updatedAt' ? 'updatedAt' : 'createdAt',
  };
  const change: Change = (changes, { replace } = { replace: false }) =>
    set(
      (old) => {
        const next = new URLSearchParams(old);
        for (const [name, value] of Object.entries(changes)) {
          if (value === '') next.delete(name);
          else next.set(name, value);
        }
        return next;
      },
      { replace },
    );
  const { status, projectId, automationId, tag, q } = filter;
  const narrowed = status.length > 0 || `${projectId}${automationId}${tag}${q}` !== '' || filter.archived !== 'false';
  const clear = () => change({ status: '', project: '', automation: '', tag: '', q: '', archived: '' });
  return { filter, change, narrowed, clear };
}
