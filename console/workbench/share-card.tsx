import { useState } from 'preact/hooks';
import { Copyable } from '../parts/copyable.js';
import { text } from '../strings.js';
import type { Bench } from './bench.js';
import { MAX_SHARED, packed } from './share.js';

/** Creates a link that contains the state of the workbench. @param path the fragment of the page */
export function ShareCard({ bench, path }: { readonly bench: Bench; readonly path: string }) {
  const t = text.workbench;
  const [made, setMade] = useState<{ readonly of: Bench; readonly link: string }>();
  // A link to an earlier state would be mistaken for one to the current state.
  const shared = made?.of === bench ? made.link : undefined;
  const share = () => void packed(bench).then((link) => setMade({ of: bench, link }));
  return (
    <div class="card">
      <button type="button" disabled={bench.text === ''} onClick={share}>
        {t.share}
      </button>{' '}
      <span class="hint">{t.shareHint}</span>
      {shared !== undefined && shared.length > MAX_SHARED && (
        <p class="notice warn" role="alert">
          {t.tooLong(shared.length, MAX_SHARED)}
        </p>
      )}
      {shared !== undefined && shared.length <= MAX_SHARED && (
        <Copyable label={t.link} value={`${location.href.replace(/#.*$/s, '')}${path}?shared=${shared}`} />
      )}
    </div>
  );
}
