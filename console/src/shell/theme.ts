import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';
const NAME = 'millwright.theme';
const listeners = new Set<() => void>();

const current = () => (document.documentElement.dataset.theme as Theme | undefined) ?? 'system';
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
  listeners.forEach((listener) => listener());
}

export const useTheme = () =>
  useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), current);
