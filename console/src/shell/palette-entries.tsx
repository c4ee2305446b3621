import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { foundQuery } from '../api/list-queries.ts';
import { automationsQuery, projectsQuery } from '../api/queries.ts';
import { signOut } from '../api/session.ts';
import { t } from '../texts/index.ts';
import { Ago } from '../ui/ago.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { copy, Kbd, StatusDot, toastError } from '../ui/ui.tsx';
import { useCan } from './can.ts';
import { useLater } from './later.ts';
import { usePages } from './pages.ts';
import { setTheme, THEME_ICONS, THEMES } from './theme.tsx';

export interface Entry {
  id: string;
  label: string;
  icon: ReactNode;
  /** Stands at the end of the line. */
  side?: ReactNode;
  run: () => void;
}
export interface Group {
  title: string;
  entries: Entry[];
}

/** Of each kind, while something is typed. */
const MOST = 5;

const icon = (name: IconName) => <Icon name={name} size={15} />;
const keys = (text: string) => text.split(' ').map((key) => <Kbd key={key}>{key}</Kbd>);
/** Every word stands somewhere in the name, at the beginning of a word. */
const fits = (name: string, words: string[]) => {
  const parts = name.toLowerCase().split(/[\s/_-]+/);
  return words.every((word) => parts.some((part) => part.startsWith(word)));
};

export function usePaletteEntries(
  text: string,
  showHelp: () => void,
): { groups: Group[]; busy: boolean; error: unknown } {
  const can = useCan();
  const [, navigate] = useLocation();
  const pages = usePages();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const asked = useLater(text.trim());
  const reads = can('tasks:read');
  const found = useQuery({ ...foundQuery(asked), enabled: reads });
  const { data: projects = [] } = useQuery({ ...projectsQuery, enabled: can('projects:read') });
  const { data: automations = [] } = useQuery({ ...automationsQuery, enabled: can('automations:read') });
  const go = (path: string) => () => navigate(path);

  const actions: Entry[] = [
    can('tasks:write') && {
      id: 'new',
      label: t.palette.newTask,
      icon: icon('Plus'),
      side: keys('C'),
      run: go('/new'),
    },
    reads && {
      id: 'needs-you',
      label: t.palette.needsYou,
      icon: <StatusDot status="awaiting_input" />,
      run: go('/tasks?status=awaiting_input'),
    },
    { id: 'link', label: t.palette.copyLink, icon: icon('Link'), run: () => void copy(location.href) },
    ...THEMES.map((theme) => ({
      id: theme,
      label: t.shell.theme[theme],
      icon: icon(THEME_ICONS[theme]),
      run: () => setTheme(theme),
    })),
    { id: 'keys', label: t.palette.shortcuts, icon: icon('Keyboard'), side: keys('?'), run: showHelp },
    {
      id: 'out',
      label: t.palette.signOut,
      icon: icon('LogOut'),
      run: () => void signOut().catch(toastError),
    },
  ].filter((entry) => entry !== false);
  const places: Entry[] = pages.map(({ name, icon: image, keys: pressed }) => ({
    id: `page ${name}`,
    label: t.shell.pages[name],
    icon: icon(image),
    side: keys(pressed.toUpperCase()),
    run: go(`/${name}`),
  }));
  // What was found for other words is not offered for these: Enter would open it.
  const current = asked === text.trim() && !found.isPlaceholderData;
  const tasks: Entry[] = (reads && current ? (found.data ?? []) : []).map(({ id, title, status, updatedAt }) => ({
    id,
    label: title,
    icon: <StatusDot status={status} />,
    side: <Ago at={updatedAt} />,
    run: go(`/tasks/${id}`),
  }));
  if (words.length > 0 && tasks.length > 0) {
    const q = text.trim();
    tasks.push({
      id: 'all',
      label: t.palette.allFound(q),
      icon: icon('Search'),
      run: go(`/tasks?${new URLSearchParams({ q, archived: 'all' }).toString()}`),
    });
  }
  const inProjects = projects.flatMap(({ id, name }): Entry[] => [
    { id, label: name, icon: icon('Folder'), run: go(`/tasks?project=${id}`) },
    ...(can('tasks:write') && words.length > 0
      ? [{ id: `new ${id}`, label: t.palette.newInProject(name), icon: icon('Plus'), run: go(`/new?project=${id}`) }]
      : []),
  ]);
  const ofAutomations = automations.map(({ id, name }): Entry => ({
    id,
    label: name,
    icon: icon('Calendar'),
    run: go(`/automations/${id}`),
  }));
  const named = (entries: Entry[]) =>
    entries.filter(({ label }) => fits(label, words)).slice(0, words.length > 0 ? MOST : 0);

  const { groups } = t.palette;
  const all: Group[] =
    words.length === 0
      ? [
          { title: groups.recent, entries: tasks.slice(0, MOST) },
          { title: groups.actions, entries: actions.slice(0, 3) },
          { title: groups.pages, entries: places },
        ]
      : [
          { title: groups.pages, entries: named(places) },
          { title: groups.actions, entries: named(actions) },
          { title: groups.projects, entries: named(inProjects) },
          { title: groups.automations, entries: named(ofAutomations) },
          { title: groups.tasks, entries: tasks },
        ];
  return {
    groups: all.filter(({ entries }) => entries.length > 0),
    busy: reads && (found.isFetching || asked !== text.trim()),
    error: found.error,
  };
}
