import { useState } from 'preact/hooks';
import { Choice, Field } from '../parts/fields.js';
import { text } from '../strings.js';
import type { Field as Name, PurgeForm } from './form.js';
import { GeoPlane } from './geo-plane.js';
import { shapeAround, useEntityPlaces } from './entity-places.js';
import { geoQueryOf, shapeOf, type Shape } from './geo-shape.js';

type Kind = 'none' | 'circle' | 'box' | 'other';

interface GeoFieldsProps {
  readonly form: PurgeForm;
  readonly onChange: (values: Partial<Record<Name, string>>) => void;
}

const NOWHERE = { georel: '', geometry: '', coordinates: '' } as const;

const FIRST: Readonly<Record<'circle' | 'box', Shape>> = {
  circle: { kind: 'circle', centre: { lon: 0, lat: 0 }, metres: 1_000_000 },
  box: { kind: 'box', from: { lon: -10, lat: -10 }, to: { lon: 10, lat: 10 } },
};

/** A geoquery: drawn as a circle or a box, or written by hand. */
export function GeoFields({ form, onChange }: GeoFieldsProps) {
  const { fields } = form;
  const [isOpened, setIsOpened] = useState(false);
  const t = text.purge;
  const shape = shapeOf(fields);
  const isGiven = Boolean(fields.georel || fields.geometry || fields.coordinates);
  const [byHand, setByHand] = useState(false);
  const kind: Kind = byHand ? 'other' : (shape?.kind ?? (isGiven ? 'other' : 'none'));
  const draw = (next: Shape) => onChange(geoQueryOf(next));
  const isDrawn = kind === 'circle' || kind === 'box';
  const places = useEntityPlaces(form, isOpened || isDrawn);
  const choose = (next: Kind) => {
    setByHand(next === 'other');
    if (next === 'none') onChange({ ...NOWHERE, geoproperty: '' });
    else if (next !== 'other') draw(shapeAround(places, next) ?? FIRST[next]);
  };
  const put = (name: Name, label: string, hint?: string) => (
    <Field
      label={label}
      hint={hint}
      value={fields[name] ?? ''}
      onInput={(value) => onChange({ [name]: value })}
    />
  );
  return (
    <>
      <div class="grid" onFocusIn={() => setIsOpened(true)} onPointerEnter={() => setIsOpened(true)}>
        <Choice
          label={t.shape}
          value={kind}
          choices={(['none', 'circle', 'box', 'other'] as const).map((one) => [one, t.shapes[one]] as const)}
          onChoose={choose}
        />
        {kind !== 'none' && put('geoproperty', t.geoproperty, t.geopropertyHint)}
        {kind === 'other' && (
          <>
            {put('georel', t.georel)}
            {put('geometry', t.geometry)}
            {put('coordinates', t.coordinates)}
          </>
        )}
      </div>
      {kind !== 'other' && shape !== undefined && (
        <div class="geo">
          <GeoPlane shape={shape} places={places} onDraw={draw} />
          <ShapeNumbers shape={shape} onChange={draw} />
        </div>
      )}
    </>
  );
}

function ShapeNumbers({
  shape,
  onChange,
}: {
  readonly shape: Shape;
  readonly onChange: (shape: Shape) => void;
}) {
  const t = text.purge;
  const numbers: readonly (readonly [string, number, (value: number) => Shape])[] =
    shape.kind === 'circle'
      ? [
          [t.lon, shape.centre.lon, (lon) => ({ ...shape, centre: { ...shape.centre, lon } })],
          [t.lat, shape.centre.lat, (lat) => ({ ...shape, centre: { ...shape.centre, lat } })],
          [t.metres, shape.metres, (metres) => ({ ...shape, metres })],
        ]
      : [
          [t.west, shape.from.lon, (lon) => ({ ...shape, from: { ...shape.from, lon } })],
          [t.south, shape.from.lat, (lat) => ({ ...shape, from: { ...shape.from, lat } })],
          [t.east, shape.to.lon, (lon) => ({ ...shape, to: { ...shape.to, lon } })],
          [t.north, shape.to.lat, (lat) => ({ ...shape, to: { ...shape.to, lat } })],
        ];
  return (
    <div class="grid tight">
      {numbers.map(([label, value, shapeOfNumber]) => (
        <NumberField
          key={label}
          label={label}
          value={value}
          onNumber={(number) => onChange(shapeOfNumber(number))}
        />
      ))}
    </div>
  );
}

/** A number field. A number may be incomplete while it is typed; only a complete one is passed on. */
function NumberField({
  label,
  value,
  onNumber,
}: {
  readonly label: string;
  readonly value: number;
  readonly onNumber: (value: number) => void;
}) {
  const [draft, setDraft] = useState<string>();
  const shown = draft !== undefined && (Number(draft) === value || !isNumber(draft)) ? draft : String(value);
  return (
    <Field
      label={label}
      type="number"
      value={shown}
      onInput={(typed) => {
        setDraft(typed);
        if (isNumber(typed)) onNumber(Number(typed));
      }}
      onLeave={() => setDraft(undefined)}
    />
  );
}

function isNumber(typed: string): boolean {
  return typed.trim() !== '' && Number.isFinite(Number(typed));
}
