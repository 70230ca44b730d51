import { render } from 'preact';
import { App } from './app.js';
import { finishSignIn } from './api/sign-in.js';
import { restoreDrafts } from './shared/drafts.js';
import { applyTheme, storedTheme } from './shared/theme.js';

applyTheme(storedTheme());
restoreDrafts();
const place = document.getElementById('console');
if (place !== null) {
  place.replaceChildren();
  void finishSignIn().then(() => render(<App />, place));
}
