import type { ComponentProps } from 'react';
import { Store, useStore } from '../api/store.ts';
import { t } from '../texts/index.ts';
import { Button } from '../ui/ui.tsx';
import { remember } from './url.ts';

export const THEME_ICONS = { system: 'Monitor', light: 'Sun', dark: 'Moon' } as const;
export type Theme = keyof typeof THEME_ICONS;
export const THEMES = Object.keys(THEME_ICONS) as Theme[];
const shown = new Store((document.documentElement.dataset.theme as Theme | undefined) ?? 'system');

export function setTheme(theme: Theme) {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  remember('theme', theme);
  shown.set(theme);
}

export const useTheme = () => useStore(shown);

/** Turns to the next one. */
export function ThemeButton(props: ComponentProps<typeof Button>) {
  const theme = useTheme();
  const name = t.shell.theme[theme];
  return (
    <Button
      look="ghost"
      icon={THEME_ICONS[theme]}
      aria-label={`${name}. ${t.shell.theme.change}`}
      title={name}
      onClick={() => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system')}
      {...props}
    />
  );
}
