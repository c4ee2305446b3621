import { Store, useStore } from '../api/store.ts';

export type Theme = 'system' | 'light' | 'dark';
const NAME = 'millwright.theme';
const shown = new Store((document.documentElement.dataset.theme as Theme | undefined) ?? 'system');

export const nextTheme = (theme: Theme): Theme =>
  theme === 'system' ? 'light' : theme === 'light' ? 'dark' : 'system';

export function setTheme(theme: Theme) {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(NAME, theme);
  } catch {
    // It then holds for this page.
  }
  shown.set(theme);
}

export const useTheme = () => useStore(shown);
