/** One line of a plot. */
export interface Curve {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** The reference of a comparison is dashed, and has the colour of the curve before it. */
  readonly isLimit?: boolean;
}

/** Curves over the same axes. */
export interface Plot {
  /** The name of its file, without extension. */
  readonly name: string;
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly curves: readonly Curve[];
}

/** Maps a value to its position on an axis, from 0 to 1, and has the labelled values. */
interface Axis {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

const WIDTH = 720;
const HEIGHT = 300;
const LEFT = 70;
const TOP = 40;
const LEGEND_TOP = TOP + HEIGHT + 60;
const ROW = 20;
/** Readable on white and on black. */
const COLORS = ['#2f7fd8', '#d9730d', '#1a9e62', '#a45bd1', '#c2476b'];
const STYLE =
  'svg{color:#1f2328;font:13px system-ui,sans-serif}@media(prefers-color-scheme:dark){svg{color:#e6edf3}}' +
  'text{fill:currentColor}';

/** Draws a plot as SVG. An axis is logarithmic if its values differ by a factor of 10 or more. */
export function svgOf({ title, x, y, curves }: Plot): string {
  const points = curves.flatMap((curve) => curve.points);
  const xAxis = axisOf(points.map(([value]) => value));
  const yAxis = axisOf(points.map(([, value]) => value));
  const xAt = (value: number) => round(LEFT + xAxis.at(value) * WIDTH);
  const yAt = (value: number) => round(TOP + (1 - yAxis.at(value)) * HEIGHT);
  const colors = colorsOf(curves);
  const drawn = curves.map(({ points: own, isLimit = false }, index) => {
    const color = colors[index] ?? '';
    const path = own.map(([px, py]) => `${xAt(px)},${yAt(py)}`).join(' ');
    const dots = own.map(([px, py]) => `<circle cx="${xAt(px)}" cy="${yAt(py)}" r="3" fill="${color}"/>`);
    return `<polyline points="${path}" ${stroke(color, isLimit)}/>${dots.join('')}`;
  });
  const legend = curves.map(({ name, isLimit = false }, index) => {
    const top = LEGEND_TOP + index * ROW;
    const sample = `<path d="M${LEFT} ${top}h36" ${stroke(colors[index] ?? '', isLimit)}/>`;
    return sample + text(LEFT + 46, top + 4, name);
  });
  const height = LEGEND_TOP + curves.length * ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + 30} ${height}" role="img">`,
    `<title>${escaped(title)}</title><style>${STYLE}</style>`,
    text(LEFT, 18, title, 'font-weight="600"'),
    ...xAxis.ticks.map(
      (value) =>
        grid(xAt(value), TOP, 'v', HEIGHT) + text(xAt(value), TOP + HEIGHT + 18, short(value), MIDDLE),
    ),
    ...yAxis.ticks.map(
      (value) => grid(LEFT, yAt(value), 'h', WIDTH) + text(LEFT - 8, yAt(value) + 4, short(value), END),
    ),
    text(LEFT + WIDTH / 2, TOP + HEIGHT + 38, x, MIDDLE),
    text(0, 0, y, `${MIDDLE} transform="translate(14 ${TOP + HEIGHT / 2}) rotate(-90)"`),
    ...drawn,
    ...legend,
    '</svg>\n',
  ].join('\n');
}

const MIDDLE = 'text-anchor="middle"';
const END = 'text-anchor="end"';

function axisOf(values: readonly number[]): Axis {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (least > 0 && most / least >= 10) {
    const [from, to] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
    const ticks = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
    return { at: (value) => (Math.log10(value) - from) / (to - from), ticks };
  }
  const step = stepOf(most);
  const ticks = Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step);
  return { at: (value) => value / (ticks.at(-1) ?? 1), ticks };
}

/** Returns a round number that fits about four to ten times into the largest value. */
function stepOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return most / power >= 4 ? power : most / power >= 2 ? power / 2 : power / 5;
}

function colorsOf(curves: readonly Curve[]): readonly string[] {
  let used = -1;
  return curves.map(({ isLimit = false }) => {
    if (!isLimit || used < 0) used += 1;
    return COLORS[used % COLORS.length] ?? '';
  });
}

function stroke(color: string, isLimit: boolean): string {
  return `fill="none" stroke="${color}" stroke-width="2"${isLimit ? ' stroke-dasharray="6 5"' : ''}`;
}

function grid(x: number, y: number, direction: 'v' | 'h', length: number): string {
  return `<path d="M${x} ${y}${direction}${length}" stroke="currentColor" stroke-opacity=".2"/>`;
}

function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${x}" y="${y}" ${attributes}>${escaped(content)}</text>`;
}

/** Shortens numbers, e.g. 100,000 to 100 k. */
function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`;
  return value >= 1000 ? `${value / 1000} k` : String(Number(value.toPrecision(3)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
