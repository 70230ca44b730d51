import { useEffect, useRef, useState } from 'preact/hooks';
import { Failure, Loading } from '../parts/states.js';
import type { showMerge, showUnified, Side } from './merge-view.js';

/** Below this width, two columns are not readable. */
const NARROW = '(max-width: 720px)';

interface MergeViews {
  readonly showMerge: typeof showMerge;
  readonly showUnified: typeof showUnified;
}

/** Compares two texts side by side, or in one column on a narrow screen. It is loaded when it is first needed. */
export function MergeEditor({
  label,
  older,
  newer,
  load = () => import('./merge-view.js'),
}: {
  readonly label: string;
  readonly older: Side;
  readonly newer: Side;
  /** Loads the views. */
  readonly load?: () => Promise<MergeViews>;
}) {
  const host = useRef<HTMLDivElement>(null);
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(NARROW).matches);
  const [state, setState] = useState<{ readonly error?: unknown; readonly isThere: boolean }>({
    isThere: false,
  });
  useEffect(() => {
    const query = matchMedia(NARROW);
    const update = () => setIsNarrow(query.matches);
    query.addEventListener('change', update);
    return () => query.removeEventListener('change', update);
  }, []);
  useEffect(() => {
    let [remove, isLeft] = [() => {}, false];
    load()
      .then((views) => {
        if (isLeft || host.current === null) return;
        // The Content Security Policy of the page only allows styles in a separate shadow root.
        const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
        remove = isNarrow
          ? views.showUnified(root, older, newer, label)
          : views.showMerge(root, older, newer);
        setState({ isThere: true });
      })
      .catch((error: unknown) => isLeft || setState({ error, isThere: false }));
    return () => {
      isLeft = true;
      remove();
    };
  }, [older.value, newer.value, isNarrow]);
  return (
    <div class="merge">
      {!isNarrow && (
        <p class="sides" aria-hidden="true">
          <span>{older.label}</span>
          <span>{newer.label}</span>
        </p>
      )}
      {state.error !== undefined && <Failure error={state.error} />}
      {!state.isThere && state.error === undefined && <Loading />}
      <div ref={host} class="code-host" role="group" aria-label={label} />
    </div>
  );
}
