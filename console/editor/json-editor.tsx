import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CodeView, Mark, showCode } from './code-view.js';
import { Lines } from '../parts/fields.js';
import { shownPointer } from '../shared/format.js';
import { Loading } from '../parts/states.js';
import { text } from '../strings.js';
import type { Fault } from './faults.js';

/** A position to scroll to; a new object for each request. */
export interface Place {
  readonly pointer: string;
}

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
  readonly place?: Place | undefined;
  readonly isSchema?: boolean;
  readonly height?: 'short' | 'tall';
  /** Loads the editor. */
  readonly load?: () => Promise<{ readonly showCode: typeof showCode }>;
}) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<CodeView>(undefined);
  const latest = useRef({ value, onInput });
  latest.current = { value, onInput };
  const [state, setState] = useState<'loading' | 'there' | 'failed'>('loading');
  useEffect(() => {
    let isLeft = false;
    load()
      .then((views) => {
        if (isLeft || host.current === null) return;
        // The Content Security Policy of the page only allows styles in a separate shadow root.
        const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
        view.current = views.showCode(root, {
          label,
          isSchema,
          value: latest.current.value,
          heights: HEIGHTS[height],
          onInput: (typed) => latest.current.onInput(typed),
        });
        setState('there');
      })
      .catch(() => isLeft || setState('failed'));
    return () => {
      isLeft = true;
      view.current?.remove();
      view.current = undefined;
    };
  }, []);
  // This happens before the next key is handled: setting the text later would undo what was typed in the meantime, and move the
  // cursor.
  useLayoutEffect(() => view.current?.setValue(value), [value, state]);
  useEffect(() => view.current?.setMarks(marks), [value, JSON.stringify(marks), state]);
  useEffect(() => {
    if (place !== undefined) view.current?.reveal(place);
  }, [place]);
  if (state === 'failed') return <Lines {...{ label, value, onInput }} rows={20} isWide />;
  return (
    <>
      {state === 'loading' && <Loading />}
      <div ref={host} class={`code-host ${height}`} />
      {faults.length > 0 && (
        <ul class="faults" aria-label={text.models.faults}>
          {faults.slice(0, 50).map((fault, index) => (
            <li key={index}>
              <button type="button" class="link" onClick={() => view.current?.reveal(fault)}>
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
