import { render } from 'preact';
import { App } from './app.js';
import { applyTheme, storedTheme } from './shared/theme.js';

applyTheme(storedTheme());
const place = document.getElementById('console');
if (place !== null) {
  place.replaceChildren();
  render(<App />, place);
}
