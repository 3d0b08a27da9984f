import type { Theme } from './view.ts';

const key = 'homeostat.theme';

/** The theme of the last visit. Browsers may deny the storage; then it is that of the system. */
export function storedTheme(window: Pick<Window, 'localStorage'>): Theme {
  try {
    const stored = window.localStorage.getItem(key);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system';
  }
}

/** Keeps the theme for the next visit, where the browser has a storage. */
export function storeTheme(window: Pick<Window, 'localStorage'>, theme: Theme): void {
  try {
    window.localStorage.setItem(key, theme);
  } catch {
    // Denied, or full: the page works without it.
  }
}
