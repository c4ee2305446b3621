// What the pages read. Nothing is asked again and again: events say when something has changed (`api/live.ts`).
import {
  infiniteQueryOptions,
  keepPreviousData,
  notifyManager,
  QueryClient,
  queryOptions,
} from '@tanstack/react-query';
import { api, type Message, type TaskStatus } from './client.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    // The SDK tries again; a return of the service asks for all of it anew.
    queries: { staleTime: 30_000, retry: false, refetchOnWindowFocus: false, networkMode: 'always' },
    mutations: { retry: false, networkMode: 'always' },
  },
});

// What an event changes is drawn before the next frame: what was being written of it may be taken away with that frame.
notifyManager.setScheduler(queueMicrotask);

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => api.models.list({ signal }),
});

/** The servers whose tools tasks may have. */
export const mcpServersQuery = queryOptions({
  queryKey: ['mcp-servers'],
  queryFn: ({ signal }) => api.mcpServers.list({ signal }),
});

/** Which pages of the web agents may read; null: none. It changes when the service is started anew. */
export const webQuery = queryOptions({
  queryKey: ['web'],
  queryFn: ({ signal }) => api.web.read({ signal }),
  staleTime: Infinity,
});

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: ({ signal }) => all(api.projects.list({ limit: 50 }, { signal })),
});

/** All of them: a workspace has at most a few hundred. */
export const automationsQuery = queryOptions({
  queryKey: ['automations', 'list'],
  queryFn: ({ signal }) => all(api.automations.list({}, { signal })),
});

export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: ({ signal }) => api.members.list({ signal }),
});

export const billingQuery = queryOptions({
  queryKey: ['billing'],
  queryFn: ({ signal }) => api.billing.summary({ signal }),
});

export interface TaskFilter {
  status: TaskStatus[];
  projectId?: string | undefined;
  automationId?: string | undefined;
  tag?: string | undefined;
  q?: string | undefined;
  archived: 'false' | 'true' | 'all';
  sort: 'createdAt' | 'updatedAt';
}

export const tasksQuery = (filter: TaskFilter) =>
  infiniteQueryOptions({
    queryKey: ['tasks', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const { status, projectId, automationId, tag, q, archived, sort } = filter;
      const query = {
        limit: 50,
        archived,
        sort,
        ...(status.length > 0 && { status }),
        ...(projectId && { projectId }),
        ...(automationId && { automationId }),
        ...(tag && { tag }),
        ...(q && { q }),
      };
      return api.tasks.list(query, { signal }).page(pageParam);
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  });

/** The tasks that wait for a person, newest first; at most a hundred. */
export const waitingQuery = queryOptions({
  queryKey: ['tasks', 'waiting'],
  queryFn: async ({ signal }) =>
    (await api.tasks.list({ status: 'awaiting_input', parentTaskId: 'any', limit: 100 }, { signal }).page()).items,
});

export const taskQuery = (taskId: string) =>
  queryOptions({ queryKey: ['task', taskId], queryFn: ({ signal }) => api.tasks.get(taskId, { signal }) });

export interface Conversation {
  /** Oldest first. */
  messages: Message[];
  /** Where what came before the first of them is read; null when there is nothing. */
  older: string | null;
}

const MESSAGES = 100;

/** Its end. Kept up by the task's events, so it is never read again by itself. */
export const conversationQuery = (taskId: string) =>
  queryOptions({
    queryKey: ['conversation', taskId],
    queryFn: async ({ signal }): Promise<Conversation> => {
      const { items, nextCursor } = await api.tasks
        .messages(taskId, { order: 'desc', limit: MESSAGES }, { signal })
        .page();
      return { messages: items.reverse(), older: nextCursor };
    },
    staleTime: Infinity,
    structuralSharing: false,
  });

/** `before` is called when they are there, and not drawn yet. */
export async function readOlder(taskId: string, before: () => void): Promise<void> {
  const { queryKey } = conversationQuery(taskId);
  const known = queryClient.getQueryData(queryKey);
  if (known === undefined || known.older === null) return;
  const { items, nextCursor } = await api.tasks.messages(taskId, { order: 'desc', limit: MESSAGES }).page(known.older);
  before();
  queryClient.setQueryData(
    queryKey,
    (now) => now && { messages: [...items.reverse(), ...now.messages], older: nextCursor },
  );
}

export const taskFilesQuery = (taskId: string) =>
  queryOptions({
    queryKey: ['task-files', taskId],
    queryFn: ({ signal }) => all(api.tasks.files(taskId, { limit: 100 }, { signal })),
  });

/** The text of a file, which never changes. */
export const textQuery = (fileId: string, most = 2_000_000) =>
  queryOptions({
    queryKey: ['text', fileId, most],
    queryFn: async ({ signal }) => {
      const whole = await (await api.files.content(fileId, { signal })).blob();
      return { text: await whole.slice(0, most).text(), cut: whole.size > most };
    },
    staleTime: Infinity,
  });

/** A list that is short enough to be read whole. */
export async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}

/** The browser saves it: the cookie goes along by itself. */
export function download(path: string, name: string): void {
  const link = document.createElement('a');
  link.href = path;
  link.download = name;
  link.click();
}
/** So is a text that the page has. */
export function downloadText(name: string, text: string, type = 'application/octet-stream'): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  download(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
export const downloadFile = ({ id, name }: { id: string; name: string }): void =>
  download(`/v1/files/${encodeURIComponent(id)}/content`, name);
