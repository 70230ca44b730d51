import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Mark, showCode } from './code-view.js';
import { Lines } from '../parts/fields.js';
import { shownPointer } from '../shared/format.js';
import { Loading } from '../parts/states.js';
import { text } from '../strings.js';
import type { Fault, Place } from './faults.js';
import { useLazyView } from './use-lazy-view.js';

const HEIGHTS = { short: ['120px', '260px'], tall: ['320px', '600px'] } as const;

/**
 * A JSON editor that marks errors and lists them below. The editor is loaded when it is first needed. If it cannot be loaded or
 * shown, a plain text field replaces it.
 */
export function JsonEditor({
  label,
  value,
  onInput,
  faults,
  marks = faults,
  place,
  isSchema = true,
  height = 'tall',
  load = () => import('./code-view.js'),
}: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly faults: readonly Fault[];
  /** The marked errors, if they differ from the listed ones. */
  readonly marks?: readonly Mark[];
  /** A position to scroll to; a new object for each request. */
  readonly place?: Place | undefined;
  readonly isSchema?: boolean;
  readonly height?: 'short' | 'tall';
  /** Loads the editor. */
  readonly load?: () => Promise<{ readonly showCode: typeof showCode }>;
}) {
  const latest = useRef({ value, onInput });
  latest.current = { value, onInput };
  const { host, view, error } = useLazyView(
    load,
    (views, root) =>
      views.showCode(root, {
        label,
        isSchema,
        value: latest.current.value,
        heights: HEIGHTS[height],
        onInput: (typed) => latest.current.onInput(typed),
      }),
    [],
  );
  // This happens before the next key is handled: setting the text later would undo what was typed in the meantime, and move the
  // cursor.
  useLayoutEffect(() => view?.setValue(value), [value, view]);
  useEffect(() => view?.setMarks(marks), [value, JSON.stringify(marks), view]);
  useEffect(() => {
    if (place !== undefined) view?.reveal(place);
  }, [place]);
  if (error !== undefined) return <Lines {...{ label, value, onInput }} rows={20} isWide />;
  return (
    <>
      {view === undefined && <Loading />}
      <div ref={host} class={`code-host ${height}`} />
      {faults.length > 0 && (
        <ul class="faults" aria-label={text.models.faults}>
          {faults.slice(0, 50).map((fault, index) => (
            <li key={index}>
              <button type="button" class="link" onClick={() => view?.reveal(fault)}>
                <code>{placeOf(fault)}</code>
              </button>{' '}
              {fault.detail}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function placeOf({ pointer, line, column }: Fault): string {
  if (line !== undefined) return `${line}:${column ?? 1}`;
  return shownPointer(pointer ?? '');
}
