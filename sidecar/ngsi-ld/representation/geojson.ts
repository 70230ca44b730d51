import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
  jsonEquals,
} from '../../shared/json/json.js';
import { NON_ATTRIBUTE_MEMBERS } from '../members.js';
import { typeMemberOf } from './entity-checks.js';
import { type EntityWarning, type Finding, Findings } from './findings.js';
import { checkGeometry } from './geometry.js';
import { formatValue } from '../../shared/format-value.js';

/** An entity extracted from a GeoJSON Feature (clause 4.5.16). */
export interface FeatureEntity {
  /**
   * The attributes in `properties`, in any representation, and the geometry as `location` if the properties do not
   * contain it.
   */
  readonly entity: JsonObject;
  /** Maps a place in `entity` to its place in the Feature. A missing member belongs in `properties`. */
  readonly locate: (tokens: readonly string[]) => readonly string[];
  /**
   * Faults of the Feature itself. Without an id, `properties` or a type in them, `isReadable` is false and `entity` is
   * not usable.
   */
  readonly faults: readonly Finding[];
  readonly warnings: readonly EntityWarning[];
  readonly isReadable: boolean;
}

/** Whether an object is a GeoJSON Feature, as far as it can be distinguished from an entity of the type `Feature`. */
export function isFeature(value: JsonObject): boolean {
  return member(value, 'type') === 'Feature' && isObject(member(value, 'properties'));
}

/** Returns the Features of a GeoJSON FeatureCollection; undefined if the value is not one. */
export function featuresIn(value: JsonValue): readonly JsonValue[] | undefined {
  if (!isObject(value) || member(value, 'type') !== 'FeatureCollection') return undefined;
  const features = member(value, 'features');
  return isArray(features) ? features : undefined;
}

/** The attribute that a Feature shows as its geometry by default (clause 4.5.16). */
const GEOMETRY_ATTRIBUTE = 'location';

/** Extracts the entity from a Feature; in GeoJSON, its properties may be normalized, concise or key-values. */
export function entityFromFeature(feature: JsonObject): FeatureEntity {
  const findings = new Findings();
  const properties = propertiesIn(feature, findings);
  const geometry = geometryIn(feature, findings);
  const isReadable = properties !== undefined && Object.hasOwn(feature, 'id');
  const own = Object.entries(properties ?? {}).filter(([name]) => name !== 'id');
  const isThere = own.some(
    ([name, value]) =>
      name === GEOMETRY_ATTRIBUTE || (geometry !== undefined && isShownGeometry(name, value, geometry.value)),
  );
  const geometryTokens = geometry === undefined || isThere ? undefined : geometry.tokens;
  const entity = objectOf([
    ['id', member(feature, 'id') ?? null],
    ...own,
    ...(geometry === undefined || geometryTokens === undefined
      ? []
      : [[GEOMETRY_ATTRIBUTE, geometry.value] as const]),
  ]);
  const locate = (tokens: readonly string[]): readonly string[] => {
    const [name, ...below] = tokens;
    if (name === 'id') return tokens;
    return name === GEOMETRY_ATTRIBUTE && geometryTokens !== undefined
      ? [...geometryTokens, ...below]
      : ['properties', ...tokens];
  };
  return { entity, locate, faults: findings.faults, warnings: findings.warnings, isReadable };
}

function propertiesIn(feature: JsonObject, findings: Findings): JsonObject | undefined {
  const type = member(feature, 'type');
  if (type !== 'Feature')
    findings.fault(
      'const',
      `must be "Feature" in GeoJSON, is ${formatValue(type)}`,
      ...(type === undefined ? [] : ['type']),
    );
  if (!Object.hasOwn(feature, 'id'))
    findings.fault('required', 'must have an id, a URI such as urn:ngsi-ld:Vehicle:1');
  const properties = member(feature, 'properties');
  if (!isObject(properties)) {
    findings.fault('required', "must have properties, an object with the entity's type and attributes");
    return undefined;
  }
  if (Object.hasOwn(properties, typeMemberOf(properties))) return properties;
  findings.fault('required', 'must have the type of the entity, such as "Vehicle"', 'properties');
  return undefined;
}

/** Reads the geometry of a Feature. Published examples have a GeoProperty instead of its value. */
function geometryIn(
  feature: JsonObject,
  findings: Findings,
): { readonly value: JsonValue; readonly tokens: readonly string[] } | undefined {
  const submitted = member(feature, 'geometry');
  if (submitted === undefined) findings.fault('required', 'must have a geometry, which may be null');
  if (submitted === undefined || submitted === null) return undefined;
  const inner =
    isObject(submitted) && submitted['type'] === 'GeoProperty' ? member(submitted, 'value') : undefined;
  const tokens = inner === undefined ? ['geometry'] : ['geometry', 'value'];
  if (inner !== undefined)
    findings.warn(
      'geometry-property',
      'is a GeoProperty, but GeoJSON has the geometry itself here',
      'geometry',
    );
  const value = inner ?? submitted;
  const inside = new Findings();
  checkGeometry(value, inside);
  for (const { tokens: below, keyword, detail } of inside.faults)
    findings.fault(keyword, detail, ...tokens, ...below);
  for (const { tokens: below, code, detail } of inside.warnings)
    findings.warn(code, detail, ...tokens, ...below);
  // If it is not a geometry, that is reported only once.
  return inside.faults.length > 0 ? undefined : { value, tokens };
}

/** Whether the geometry shows this attribute. */
function isShownGeometry(name: string, value: JsonValue, geometry: JsonValue): boolean {
  if (NON_ATTRIBUTE_MEMBERS.has(name) || !isObject(value)) return false;
  return jsonEquals(value, geometry) || jsonEquals(member(value, 'value') ?? null, geometry);
}
