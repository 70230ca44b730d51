/**
 * Generates console/purge/world-data.ts, the lines of coasts and borders on the map of geoqueries, from countries-110m.json of
 * the npm package world-atlas: `node scripts/world-lines.js path/to/countries-110m.json`. Its data comes from Natural Earth,
 * and is in the public domain.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Resolution in steps per degree; it is finer than the lines are. */
const STEPS = 20;

/** Number of points per row of the file. */
const IN_A_ROW = 12;

/** @typedef {[number, number]} Pair */

const [source = ''] = process.argv.slice(2);
const { arcs, transform } = /** @type {{ arcs: Pair[][], transform: { scale: Pair, translate: Pair } }} */ (
  JSON.parse(readFileSync(source, 'utf8'))
);
const rows = arcs.flatMap((arc) => {
  const points = pointsOf(arc);
  /** @type {string[]} */
  const found = [];
  // Each row begins with the last point of the previous row.
  for (let first = 0; first < points.length - 1; first += IN_A_ROW)
    found.push(rowOf(points.slice(first, first + IN_A_ROW + 1)));
  return found;
});
writeFileSync(
  join(import.meta.dirname, '..', 'console', 'purge', 'world-data.ts'),
  `/** Generated from Natural Earth (public domain) by scripts/world-lines.js, do not edit: coasts and borders of the world. */
export const STEPS_PER_DEGREE = ${STEPS};

/** A row is a line: longitude and latitude of its first point, and then steps, in parts of a degree. */
export const WORLD_LINES = \`
${rows.join('\n')}
\`;
`,
);

/** Returns the points of an arc, which stores them as steps (TopoJSON). @param {Pair[]} arc @returns {Pair[]} */
function pointsOf(arc) {
  const { scale, translate } = transform;
  let [x, y] = [0, 0];
  const points = arc.map(([dx, dy]) => {
    [x, y] = [x + dx, y + dy];
    return /** @type {Pair} */ ([
      Math.round((x * scale[0] + translate[0]) * STEPS),
      Math.round((y * scale[1] + translate[1]) * STEPS),
    ]);
  });
  return points.filter((point, index) => index === 0 || String(point) !== String(points[index - 1]));
}

/** @param {Pair[]} points */
function rowOf(points) {
  return points
    .map(([x, y], index) => {
      const [lastX, lastY] = index === 0 ? [0, 0] : (points[index - 1] ?? [0, 0]);
      return `${x - lastX} ${y - lastY}`;
    })
    .join(' ');
}
