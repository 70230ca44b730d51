import fc from 'fast-check';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  objectOf,
} from '../../../../sidecar/shared/json/json.js';
import {
  conciseForm,
  entityOf,
  keyValuesForm,
  normalizedForm,
  placesIn,
  sampleAttributes,
  valueAt,
} from './entities.js';

const MEMBERS = [
  ...[
    'id',
    '@id',
    'type',
    '@type',
    '@context',
    'scope',
    'createdAt',
    'https://uri.etsi.org/ngsi-ld/createdAt',
  ],
  ...['value', 'object', 'languageMap', 'vocab', 'json', 'valueList', 'objectList', 'dataset'],
  ...['observedAt', 'unitCode', 'datasetId', 'objectType', 'lang', 'instanceId', '@value'],
  ...['speed', 'observed_at', '@unknown', '__proto__', 'constructor', ''],
];

const VALUES: readonly JsonValue[] = [
  ...['Vehicle', 'https://example.org/Vehicle', 'Car', 'Property', 'Relationship', 'GeoProperty', 'Number'],
  ...['https://uri.etsi.org/ngsi-ld/Property', 'LanguageProperty', 'Feature', 'urn:ngsi-ld:Thing:1', '@none'],
  ...['2026-01-31T12:00:00Z', '2026-01-31T12:00:00+01:00', '2026-02-30T12:00:00Z', 'urn:ngsi-ld:null', ''],
  ...[null, true, 7, [], {}, ['Vehicle'], ['Vehicle', 'Car'], ['urn:ngsi-ld:null'], [[1, 2]]],
  { type: 'Property', value: 1 },
  {
    type: 'Property',
    value: 1,
    accuracy: { type: 'Property', value: 2, observedAt: '2026-01-31T12:00:00Z' },
  },
  { type: 'Property', value: { type: 'Property', value: 3 } },
  { type: 'Relationship', object: 'no uri' },
  { value: 4 },
  { '@type': 'DateTime', '@value': 'now' },
  { type: 'Point', coordinates: [1, 2] },
  { type: 'Number', value: 5, metadata: {} },
  [
    { type: 'Property', value: 1 },
    { type: 'Property', value: 2, datasetId: 'urn:ngsi-ld:dataset:1' },
  ],
  { dataset: { '@none': 1, 'urn:ngsi-ld:dataset:1': 2 } },
];

/** A change at one of the places of an entity: another value, one member more, or one less. */
const changes = fc.record({
  place: fc.nat(),
  name: fc.constantFrom(...MEMBERS),
  value: fc.constantFrom(...VALUES),
  how: fc.constantFrom('replace', 'add', 'remove'),
});

type Change = typeof changes extends fc.Arbitrary<infer One> ? One : never;

/** Entities in all forms, as they should be and with up to three changes anywhere in them. */
export const mutatedEntities: fc.Arbitrary<JsonObject> = fc
  .tuple(
    sampleAttributes,
    fc.constantFrom(normalizedForm, normalizedForm, conciseForm, keyValuesForm),
    fc.array(changes, { maxLength: 3 }),
  )
  .map(([attributes, form, all]) => {
    const whole: JsonValue = entityOf(attributes.map((one) => [one.name, form(one)] as const));
    const changed = all.reduce<JsonValue>(changedBy, whole);
    return isObject(changed) ? changed : whole;
  });

function changedBy(entity: JsonValue, { place, name, value, how }: Change): JsonValue {
  const places = placesIn(entity).slice(1);
  const tokens = places[place % Math.max(1, places.length)] ?? [];
  const here = valueAt(entity, tokens);
  if (how === 'add' && here !== undefined && isObject(here))
    return withValueAt(entity, tokens, objectOf([...Object.entries(here), [name, value]]));
  if (how === 'add') return objectOf([...Object.entries(entity as JsonObject), [name, value]]);
  return withValueAt(entity, tokens, how === 'remove' ? undefined : value);
}

/** The root with another value at a place, or without that place. */
function withValueAt(
  root: JsonValue,
  [token, ...below]: readonly string[],
  value: JsonValue | undefined,
): JsonValue {
  if (token === undefined) return value ?? null;
  if (!isArray(root) && !isObject(root)) return root;
  const entries = Object.entries<JsonValue>(root).flatMap(([name, held]) => {
    if (name !== token) return [[name, held] as const];
    if (below.length === 0) return value === undefined ? [] : [[name, value] as const];
    return [[name, withValueAt(held, below, value)] as const];
  });
  return isArray(root) ? entries.map(([, held]) => held) : objectOf(entries);
}
