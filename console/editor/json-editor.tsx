import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Marker, showCode } from './code-view.js';
import { TextArea } from '../parts/fields.js';
import { shownPointer } from '../shared/format.js';
import { Loading } from '../parts/states.js';
import { text } from '../strings.js';
import type { TextError, Position } from './errors.js';
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
  errors,
  marks = errors,
  place,
  isSchema = true,
  height = 'tall',
  load = () => import('./code-view.js'),
}: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly errors: readonly TextError[];
  /** The marked errors, if they differ from the listed ones. */
  readonly marks?: readonly Marker[];
  /** A position to scroll to; a new object for each request. */
  readonly place?: Position | undefined;
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
  if (error !== undefined) return <TextArea {...{ label, value, onInput }} rows={20} isWide />;
  return (
    <>
      {view === undefined && <Loading />}
      <div ref={host} class={`code-host ${height}`} />
      {errors.length > 0 && (
        <ul class="faults" aria-label={text.models.faults}>
          {errors.slice(0, 50).map((one, index) => (
            <li key={index}>
              <button type="button" class="link" onClick={() => view?.reveal(one)}>
                <code>{positionText(one)}</code>
              </button>{' '}
              {one.detail}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function positionText({ pointer, line, column }: TextError): string {
  if (line !== undefined) return `${line}:${column ?? 1}`;
  return shownPointer(pointer ?? '');
}
