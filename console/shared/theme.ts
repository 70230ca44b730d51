import { StoredText } from './storage.js';

/** `system` follows the settings of the operating system. */
export type Theme = 'system' | 'light' | 'dark';

const chosen = new StoredText(() => localStorage, 'ngsi-ld-gateway.theme');

/** Returns the theme chosen in this browser. */
export function storedTheme(): Theme {
  const theme = chosen.get();
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

/** Applies a theme, and stores the choice in this browser. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  chosen.set(theme === 'system' ? undefined : theme);
}
