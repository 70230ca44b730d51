import type { Point } from './geo-shape.js';

/** A line of a coast or a border, and its bounding box. */
export interface WorldLine {
  readonly points: readonly Point[];
  readonly west: number;
  readonly east: number;
  readonly south: number;
  readonly north: number;
}

/** Loads the coasts and borders of the world, when a map is first shown. */
export async function readWorldLines(): Promise<readonly WorldLine[]> {
  const { WORLD_LINES, STEPS_PER_DEGREE } = await import('./world-data.js');
  return linesOf(WORLD_LINES.trim(), STEPS_PER_DEGREE);
}

/** Reads lines, one per row. A line that crosses the edge of the map becomes two. */
function linesOf(text: string, stepsPerDegree: number): readonly WorldLine[] {
  return text.split('\n').flatMap((row) => {
    const steps = row.split(' ').map(Number);
    const parts: Point[][] = [[]];
    let [x, y] = [0, 0];
    for (let index = 0; index < steps.length; index += 2) {
      const east = steps[index] ?? 0;
      x += east;
      y += steps[index + 1] ?? 0;
      if (index > 0 && Math.abs(east) > 180 * stepsPerDegree) parts.push([]);
      parts.at(-1)?.push({ lon: x / stepsPerDegree, lat: y / stepsPerDegree });
    }
    return parts.filter(({ length }) => length > 1).map(boxed);
  });
}

function boxed(points: readonly Point[]): WorldLine {
  const lons = points.map(({ lon }) => lon);
  const lats = points.map(({ lat }) => lat);
  return {
    points,
    west: Math.min(...lons),
    east: Math.max(...lons),
    south: Math.min(...lats),
    north: Math.max(...lats),
  };
}
