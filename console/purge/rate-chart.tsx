import { rate } from '../shared/format.js';
import { text } from '../strings.js';
import type { RateSample } from './use-purge.js';

const WIDTH = 600;
const HEIGHT = 90;

/** The deletes per second over time, as a line. */
export function RateChart({ rates }: { readonly rates: readonly RateSample[] }) {
  const first = rates[0];
  const last = rates.at(-1);
  if (first === undefined || last === undefined || rates.length < 2)
    return <p class="quiet">{text.run.rateEmpty}</p>;
  const most = niceCeiling(Math.max(...rates.map(({ perSecond }) => perSecond)));
  const span = Math.max(1, last.at - first.at);
  const points = rates.map(({ at, perSecond }) => {
    const x = ((at - first.at) / span) * WIDTH;
    return `${x.toFixed(1)},${(HEIGHT - (perSecond / most) * HEIGHT).toFixed(1)}`;
  });
  return (
    <figure class="chart">
      <div class="scale" aria-hidden="true">
        <span>{rate(most)}</span>
        <span>0</span>
      </div>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line class="grid-line" x1="0" x2={WIDTH} y1="0.5" y2="0.5" />
        <line class="grid-line" x1="0" x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        <polygon class="area" points={`0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`} />
        <polyline class="line" points={points.join(' ')} />
      </svg>
    </figure>
  );
}

/** The next of 1, 2, 5, 10, 20 … */
function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}
