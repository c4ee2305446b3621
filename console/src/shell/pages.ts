import type { IconName } from '../ui/icon.tsx';
import type { t } from '../texts/index.ts';
import { useCan } from './can.ts';

type Can = ReturnType<typeof useCan>;
interface Page {
  name: keyof typeof t.shell.pages;
  icon: IconName;
  /** That lead there. */
  keys: string;
  visible: (can: Can) => boolean;
}

const PAGES: Page[] = [
  { name: 'tasks', icon: 'Inbox', keys: 'g t', visible: (can) => can('tasks:read') },
  { name: 'agents', icon: 'Brain', keys: 'g e', visible: (can) => can('projects:read') },
  { name: 'automations', icon: 'Calendar', keys: 'g a', visible: (can) => can('automations:read') },
  { name: 'integrations', icon: 'Zap', keys: 'g i', visible: (can) => can('integrations:read') },
  { name: 'webhooks', icon: 'Send', keys: 'g w', visible: (can) => can('automations:read') },
  { name: 'usage', icon: 'Chart', keys: 'g u', visible: (can) => can('billing:read') },
  { name: 'projects', icon: 'Folder', keys: 'g p', visible: (can) => can('projects:read') },
  { name: 'settings', icon: 'Settings', keys: 'g ,', visible: () => true },
];

/** Those that the session's key may see. */
export function usePages(): Page[] {
  const can = useCan();
  return PAGES.filter(({ visible }) => visible(can));
}
