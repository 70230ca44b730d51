import { rate } from '../shared/format.js';
import { text } from '../strings.js';
import type { AverageRate, RateSample } from './rates.js';

const WIDTH = 600;
const HEIGHT = 90;

interface RateChartProps {
  readonly rates: readonly RateSample[];
  /** The rate before the page was opened: its average is drawn as a dashed line, up to where the solid line begins. */
  readonly before: AverageRate | undefined;
}

/** A chart of the deletes per second over time. */
export function RateChart({ rates, before }: RateChartProps) {
  const last = rates.at(-1);
  if (last === undefined || (rates.length < 2 && before === undefined))
    return <p class="quiet">{text.run.rateEmpty}</p>;
  const from = before?.from ?? rates[0]?.at ?? last.at;
  const all = [...rates.map(({ perSecond }) => perSecond), before?.perSecond ?? 0];
  const most = niceCeiling(Math.max(...all));
  const span = Math.max(1, last.at - from);
  const x = (at: number) => (((at - from) / span) * WIDTH).toFixed(1);
  const y = (perSecond: number) => (HEIGHT - (perSecond / most) * HEIGHT).toFixed(1);
  const points = rates.map(({ at, perSecond }) => `${x(at)},${y(perSecond)}`);
  const start = x(rates[0]?.at ?? last.at);
  return (
    <figure class="chart">
      <div class="scale" aria-hidden="true">
        <span>{rate(most)}</span>
        <span>0</span>
      </div>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line class="grid-line" x1="0" x2={WIDTH} y1="0.5" y2="0.5" />
        <line class="grid-line" x1="0" x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        {before !== undefined && (
          <line class="before" x1="0" x2={start} y1={y(before.perSecond)} y2={y(before.perSecond)} />
        )}
        <polygon class="area" points={`${start},${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`} />
        <polyline class="line" points={points.join(' ')} />
      </svg>
      {before !== undefined && (
        <figcaption class="quiet">{text.run.rateBefore(rate(before.perSecond))}</figcaption>
      )}
    </figure>
  );
}

/** Rounds up to 1, 2, 5, 10, 20 … */
function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}
