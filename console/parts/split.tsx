import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { text } from '../strings.js';

const LEAST = 25;
const MOST = 75;
const STEP = 5;

/**
 * Two panes side by side, with a bar between them that can be dragged, or moved with the arrow keys. On narrow screens, one
 * pane is below the other.
 *
 * @param start width of the first pane, in percent
 */
export function Split({
  start = 62,
  children,
}: {
  readonly start?: number;
  readonly children: readonly [ComponentChildren, ComponentChildren];
}) {
  const [percent, setPercent] = useState(start);
  const split = useRef<HTMLDivElement>(null);
  const bounded = (value: number) => setPercent(Math.max(LEAST, Math.min(MOST, Math.round(value))));
  const [left, right] = children;
  return (
    <div class="split" ref={split} style={{ '--left': `${percent}fr`, '--right': `${100 - percent}fr` }}>
      {left}
      <div
        class="splitter"
        role="separator"
        aria-orientation="vertical"
        aria-label={text.panes}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        aria-valuenow={percent}
        tabIndex={0}
        onKeyDown={({ key }) => {
          if (key === 'ArrowLeft') bounded(percent - STEP);
          if (key === 'ArrowRight') bounded(percent + STEP);
        }}
        onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
        onPointerMove={({ currentTarget, pointerId, clientX }) => {
          const area = split.current?.getBoundingClientRect();
          if (area === undefined || !currentTarget.hasPointerCapture(pointerId)) return;
          bounded(((clientX - area.left) / area.width) * 100);
        }}
      />
      {right}
    </div>
  );
}
