/** `system` follows the settings of the operating system. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'ngsi-ld-gateway.theme';

/** Returns the theme chosen in this browser. */
export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    // Storage may be disabled.
    return 'system';
  }
}

/** Applies a theme, and stores the choice in this browser. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    if (theme === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // The theme then only applies to this page.
  }
}
