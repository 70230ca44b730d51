import { useMemo, useRef, useState } from 'preact/hooks';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { degreesOf, metresBetween, type Point, type Shape } from './geo-shape.js';
import { readWorldLines } from './world-lines.js';

const WIDTH = 360;
const HEIGHT = 180;
const ZOOMS = [1, 2, 4, 10, 30, 100, 400, 1500, 6000];

/** A plain map of longitudes and latitudes, with coasts and borders, on which the shape is drawn by dragging. */
export function GeoPlane({
  shape,
  places,
  onDraw,
}: {
  readonly shape: Shape;
  /** Locations of entities. */
  readonly places: readonly Point[];
  readonly onDraw: (shape: Shape) => void;
}) {
  const plane = useRef<SVGSVGElement>(null);
  const start = useRef<Point | undefined>(undefined);
  const [zoom, setZoom] = useState(() => ZOOMS.indexOf(ZOOMS.findLast((one) => fits(shape, one)) ?? 1));
  const [centre, setCentre] = useState(() => middleOf(shape));
  const scale = ZOOMS[zoom] ?? 1;
  const view = viewOf(centre, scale);

  const pointAt = (event: PointerEvent): Point => {
    const area = plane.current?.getBoundingClientRect();
    if (area === undefined) return { lon: 0, lat: 0 };
    const lon = view.west + ((event.clientX - area.left) / area.width) * view.width;
    const lat = view.north - ((event.clientY - area.top) / area.height) * view.height;
    return { lon: Math.max(-180, Math.min(180, lon)), lat: Math.max(-90, Math.min(90, lat)) };
  };
  const drag = (event: PointerEvent) => {
    const from = start.current;
    if (from === undefined) return;
    const to = pointAt(event);
    onDraw(
      shape.kind === 'circle'
        ? { kind: 'circle', centre: from, metres: metresBetween(from, to) }
        : { kind: 'box', from, to },
    );
  };
  const zoomTo = (next: number) => {
    setCentre(middleOf(shape));
    setZoom(Math.max(0, Math.min(ZOOMS.length - 1, next)));
  };
  return (
    <figure class="plane">
      <svg
        ref={plane}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={text.purge.planeLabel(text.purge.shapes[shape.kind].toLowerCase())}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          start.current = pointAt(event);
        }}
        onPointerMove={drag}
        onPointerUp={() => (start.current = undefined)}
        onPointerCancel={() => (start.current = undefined)}
      >
        <WorldMap view={view} />
        <Graticule view={view} />
        <g class="places">
          {places.map((place, index) => {
            const { x, y } = placed(place, view);
            return <circle key={index} cx={x} cy={y} r={1.6} />;
          })}
        </g>
        <ShapeOn shape={shape} view={view} />
      </svg>
      <figcaption>
        <span>{text.purge.planeHint}</span>
        <button type="button" class="small" aria-label={text.purge.zoomOut} onClick={() => zoomTo(zoom - 1)}>
          −
        </button>
        <button type="button" class="small" aria-label={text.purge.zoomIn} onClick={() => zoomTo(zoom + 1)}>
          +
        </button>
      </figcaption>
    </figure>
  );
}

interface View {
  readonly west: number;
  readonly north: number;
  readonly width: number;
  readonly height: number;
}

function viewOf(centre: Point, scale: number): View {
  const width = WIDTH / scale;
  const height = HEIGHT / scale;
  return {
    width,
    height,
    west: Math.max(-180, Math.min(180 - width, centre.lon - width / 2)),
    north: Math.min(90, Math.max(-90 + height, centre.lat + height / 2)),
  };
}

/** Returns the position of a point on the plane. */
function placed({ lon, lat }: Point, view: View): { readonly x: number; readonly y: number } {
  return { x: ((lon - view.west) / view.width) * WIDTH, y: ((view.north - lat) / view.height) * HEIGHT };
}

/** Coasts and borders, as far as they are in view. */
function WorldMap({ view }: { readonly view: View }) {
  const { value: lines } = useLoad('world', readWorldLines);
  const path = useMemo(() => {
    const [east, south] = [view.west + view.width, view.north - view.height];
    return (lines ?? [])
      .filter(
        (line) =>
          line.west <= east && line.east >= view.west && line.south <= view.north && line.north >= south,
      )
      .map(({ points }) => {
        const places = points.map((point) => placed(point, view));
        return `M${places.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}`;
      })
      .join('');
  }, [lines, view.west, view.north, view.width]);
  return <path class="world" d={path} />;
}

function Graticule({ view }: { readonly view: View }) {
  const step =
    [60, 30, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005].findLast((one) => view.width / one <= 8) ??
    60;
  const lons = stepsBetween(view.west, view.west + view.width, step);
  const lats = stepsBetween(view.north - view.height, view.north, step);
  const label = (value: number) => `${Number(value.toFixed(3))}°`;
  return (
    <g class="graticule">
      {lons.map((lon) => {
        const { x } = placed({ lon, lat: 0 }, view);
        return (
          <g key={lon}>
            <line x1={x} x2={x} y1={0} y2={HEIGHT} />
            {x > 14 && (
              <text x={x + 1.5} y={HEIGHT - 2}>
                {label(lon)}
              </text>
            )}
          </g>
        );
      })}
      {lats.map((lat) => {
        const { y } = placed({ lon: 0, lat }, view);
        return (
          <g key={lat}>
            <line x1={0} x2={WIDTH} y1={y} y2={y} />
            {y < HEIGHT - 6 && (
              <text x={1.5} y={y - 1.5}>
                {label(lat)}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

function ShapeOn({ shape, view }: { readonly shape: Shape; readonly view: View }) {
  if (shape.kind === 'circle') {
    const { x, y } = placed(shape.centre, view);
    const { lon, lat } = degreesOf(shape.metres, shape.centre);
    return (
      <g class="shape">
        <ellipse cx={x} cy={y} rx={(lon / view.width) * WIDTH} ry={(lat / view.height) * HEIGHT} />
        <circle cx={x} cy={y} r={2} />
      </g>
    );
  }
  const a = placed(shape.from, view);
  const b = placed(shape.to, view);
  return (
    <g class="shape">
      <rect
        x={Math.min(a.x, b.x)}
        y={Math.min(a.y, b.y)}
        width={Math.abs(a.x - b.x)}
        height={Math.abs(a.y - b.y)}
      />
    </g>
  );
}

function stepsBetween(from: number, to: number, step: number): readonly number[] {
  const first = Math.ceil(from / step);
  const last = Math.floor(to / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
}

function middleOf(shape: Shape): Point {
  if (shape.kind === 'circle') return shape.centre;
  return { lon: (shape.from.lon + shape.to.lon) / 2, lat: (shape.from.lat + shape.to.lat) / 2 };
}

function fits(shape: Shape, scale: number): boolean {
  const span =
    shape.kind === 'circle'
      ? 2 * degreesOf(shape.metres, shape.centre).lat
      : Math.max(Math.abs(shape.to.lat - shape.from.lat), Math.abs(shape.to.lon - shape.from.lon) / 2);
  return span < (HEIGHT / scale) * 0.8;
}
