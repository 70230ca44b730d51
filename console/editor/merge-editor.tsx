import { useEffect, useState } from 'preact/hooks';
import { Failure, Loading } from '../parts/states.js';
import type { showMerge, showUnified, Side } from './merge-view.js';
import { useLazyView } from './use-lazy-view.js';

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
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const update = () => setIsNarrow(query.matches);
    query.addEventListener('change', update);
    return () => query.removeEventListener('change', update);
  }, []);
  const { host, view, error } = useLazyView(
    load,
    (views, root) => ({
      remove: isNarrow ? views.showUnified(root, older, newer, label) : views.showMerge(root, older, newer),
    }),
    [older.value, newer.value, isNarrow],
  );
  return (
    <div class="merge">
      {!isNarrow && (
        <p class="sides" aria-hidden="true">
          <span>{older.label}</span>
          <span>{newer.label}</span>
        </p>
      )}
      {error !== undefined && <Failure error={error} />}
      {view === undefined && error === undefined && <Loading />}
      <div ref={host} class="code-host" role="group" aria-label={label} />
    </div>
  );
}
