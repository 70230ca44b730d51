/** `system` follows the settings of the machine. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'ngsi-ld-gateway.theme';

/** The theme that was chosen in this browser. */
export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    // The storage may be switched off.
    return 'system';
  }
}

/** Shows the page in a theme, and keeps the choice in this browser. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    if (theme === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // It holds for this page, then.
  }
}
