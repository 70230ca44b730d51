import { rate } from '../shared/format.js';
import { text } from '../strings.js';
import type { RateSample } from './use-purge.js';

const WIDTH = 600;
const HEIGHT = 90;

/** A chart of the deletes per second over time. */
export function RateChart({ rates }: { readonly rates: readonly RateSample[] }) {
  const [first, last] = [rates[0], rates.at(-1)];
  if (first === undefined || last === undefined || rates.length < 2)
    return <p class="quiet">{text.run.rateEmpty}</p>;
  const most = niceCeiling(Math.max(...rates.map(({ perSecond }) => perSecond)));
  const span = Math.max(1, last.at - first.at);
  const x = (at: number) => (((at - first.at) / span) * WIDTH).toFixed(1);
  const y = (perSecond: number) => (HEIGHT - (perSecond / most) * HEIGHT).toFixed(1);
  const points = rates.map(({ at, perSecond }) => `${x(at)},${y(perSecond)}`);
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

/** Rounds up to 1, 2, 5, 10, 20 … */
function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}
