import { render } from 'preact';
import { App } from './app.js';
import { finishSignIn } from './api/sign-in.js';
import { applyTheme, storedTheme } from './shared/theme.js';

applyTheme(storedTheme());
const place = document.getElementById('console');
if (place !== null) {
  place.replaceChildren();
  void finishSignIn().then(() => render(<App />, place));
}
