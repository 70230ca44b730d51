import { useEffect, useState } from 'preact/hooks';
import { Copyable } from '../parts/copyable.js';
import { text } from '../strings.js';
import type { Bench } from './bench.js';
import { MAX_SHARED, packed } from './share.js';

/** Makes a link that holds what is on the workbench. @param path the fragment of the page */
export function ShareCard({ bench, path }: { readonly bench: Bench; readonly path: string }) {
  const t = text.workbench;
  const [shared, setShared] = useState<string>();
  // A link to what was there before would be taken for one to what is there now.
  useEffect(() => setShared(undefined), [bench]);
  return (
    <div class="card">
      <button type="button" disabled={bench.text === ''} onClick={() => void packed(bench).then(setShared)}>
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
