// Skills, their versions, and what lies in them.
import { queryOptions } from '@tanstack/react-query';
import { api } from './client.ts';
import { all, download, queryClient } from './queries.ts';

export const skillsQuery = queryOptions({
  queryKey: ['skills', 'list'],
  queryFn: ({ signal }) => all(api.skills.list({ limit: 100 }, { signal })),
  // There is no event for them.
  staleTime: 0,
});

export const skillVersionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['skills', 'versions', id],
    queryFn: ({ signal }) => all(api.skills.versions(id, { limit: 100 }, { signal })),
    staleTime: 0,
  });

/** The zip of a version, which never changes. */
export const skillZipQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ['skills', 'zip', id, version],
    queryFn: async ({ signal }) =>
      new Uint8Array(await (await api.skills.content(id, { version }, { signal })).arrayBuffer()),
    staleTime: Infinity,
    gcTime: 60_000,
  });

/** Resolves when they are read. */
export const readSkillsAnew = () => queryClient.invalidateQueries({ queryKey: ['skills'] });

export const downloadSkill = (id: string, name: string, version: number): void =>
  download(`/v1/skills/${encodeURIComponent(id)}/content?version=${version}`, `${name}-${version}.zip`);
