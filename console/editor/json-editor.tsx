import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CodeView, Mark, showCode } from './code-view.js';
import { Lines } from '../parts/fields.js';
import { shownPointer } from '../shared/format.js';
import { Loading } from '../parts/states.js';
import { text } from '../strings.js';
import type { Fault } from './faults.js';

/** A place to be shown; a new object each time that it is asked for. */
export interface Place {
  readonly pointer: string;
}

const HEIGHTS = { short: ['120px', '260px'], tall: ['320px', '600px'] } as const;

/**
 * An editor of JSON, with its faults marked in it and listed below. It is loaded when it is first needed; where it cannot be,
 * or cannot be shown, a plain field takes its place.
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
  /** What is marked, where that is not what is listed below. */
  readonly marks?: readonly Mark[];
  readonly place?: Place | undefined;
  readonly isSchema?: boolean;
  readonly height?: 'short' | 'tall';
  /** Where the editor comes from. */
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
        // The policy of the page allows styles in a root of their own alone.
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
  // Before the next key is handled: a text set later would undo what was typed meanwhile, and move the cursor.
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
