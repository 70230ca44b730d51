import type { AttributeKind } from '../members.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
} from '../../shared/json/json.js';
import { checkEntityMember, isOfModel } from './entity-checks.js';
import { Findings } from './findings.js';
import { checkGeometry } from './geometry.js';
import {
  geometryOfLocation,
  hasValue,
  type LocationType,
  NGSI_V2_KINDS,
  V2_NON_ATTRIBUTES,
  V2_MEMBERS,
} from './ngsiv2-shape.js';
import type { EntityReading } from './reading.js';
import { formatValue } from '../../shared/format-value.js';

/** Valid ids, types and names (NGSIv2, field syntax restrictions). */
const FIELD = /^(?![^]*[&?/#])[!-~]{1,256}$/;

/** Reads an entity in the normalized representation of NGSIv2: checks its structure and makes its key-values form. */
export function readNgsiV2(entity: JsonObject, model: string | undefined): EntityReading {
  const findings = new Findings();
  const kinds = new Map<string, AttributeKind>();
  const entries: (readonly [string, JsonValue])[] = [];
  const converted = new Set<string>();
  checkId(entity, findings);
  checkType(entity, model, findings);
  for (const [name, submitted] of Object.entries(entity)) {
    if (name === '@context') continue;
    if (V2_NON_ATTRIBUTES.has(name)) {
      const isModels = name === 'type' && model !== undefined && isOfModel(submitted, model);
      entries.push([name, isModels ? model : submitted]);
      continue;
    }
    findings.enter(name);
    if (!FIELD.test(name) || name === '*')
      findings.fault(
        'propertyNames',
        'must have a name of up to 256 ASCII characters, without spaces, &, ?, / and #',
      );
    checkAttribute(submitted, findings);
    const value = isObject(submitted) ? member(submitted, 'value') : undefined;
    if (isObject(submitted) && value !== undefined) {
      const type = member(submitted, 'type');
      const geometry = locationOf(type, value, findings);
      if (geometry !== undefined) converted.add(name);
      entries.push([name, geometry ?? value]);
      const kind = type === 'Relationship' ? type : NGSI_V2_KINDS.get(type);
      if (kind !== undefined && kind !== 'Property') kinds.set(name, kind);
    } else entries.push([name, submitted]);
    findings.leave();
  }
  const { faults, warnings } = findings;
  const locate = ([name, ...below]: readonly string[]): readonly string[] => {
    const submitted = name === undefined ? undefined : member(entity, name);
    if (name === undefined) return [];
    if (V2_NON_ATTRIBUTES.has(name) || !isObject(submitted) || !hasValue(submitted)) return [name, ...below];
    return [name, 'value', ...(converted.has(name) ? [] : below)];
  };
  return {
    form: 'ngsiv2',
    faults,
    warnings,
    readings: [{ keyValues: objectOf(entries), locate }],
    omitted: [],
    kinds,
  };
}

function checkId(entity: JsonObject, findings: Findings): void {
  const id = member(entity, 'id');
  if (id === undefined) findings.fault('required', 'must have an id, such as Vehicle-1');
  else if (typeof id !== 'string' || !FIELD.test(id))
    findings.fault(
      'format',
      `must be an id of up to 256 ASCII characters, without spaces and & ? / #, is ${formatValue(id)}`,
      'id',
    );
}

function checkType(entity: JsonObject, model: string | undefined, findings: Findings): void {
  const type = member(entity, 'type');
  if (type === undefined) findings.fault('required', 'must have a type, such as "Vehicle"');
  else if (isArray(type))
    findings.fault('type', `must be the name of one type, is ${formatValue(type)}`, 'type');
  else checkEntityMember('type', type, model, findings);
}

/** The current position of `findings` must be the attribute. */
function checkAttribute(submitted: JsonValue, findings: Findings): void {
  if (!isObject(submitted)) {
    findings.fault(
      'type',
      `must be an attribute, such as {"type": "Text", "value": …}, is ${formatValue(submitted)}`,
    );
    return;
  }
  if (!Object.hasOwn(submitted, 'value')) findings.fault('required', 'must have a value');
  for (const [name, value] of Object.entries(submitted)) {
    if (!V2_MEMBERS.has(name))
      findings.fault(
        'additionalProperties',
        'must not be here: an attribute of NGSIv2 has a type, a value and metadata',
        name,
      );
    else if (name === 'type' && (typeof value !== 'string' || !FIELD.test(value)))
      findings.fault(
        'type',
        `must be a type of up to 256 ASCII characters, without spaces and & ? / #, is ${formatValue(value)}`,
        name,
      );
    else if (name === 'metadata') checkMetadata(value, findings);
  }
}

function checkMetadata(metadata: JsonValue, findings: Findings): void {
  if (!isObject(metadata)) {
    findings.fault('type', `must be an object of metadata, is ${formatValue(metadata)}`, 'metadata');
    return;
  }
  for (const [name, one] of Object.entries(metadata))
    if (!hasValue(one))
      findings.fault(
        'required',
        `must be an object with a value, such as {"type": "Text", "value": …}, is ${formatValue(one)}`,
        'metadata',
        name,
      );
}

/**
 * Returns the geometry of a location that is not written in GeoJSON. The current position of `findings` must be the
 * attribute.
 */
function locationOf(
  type: JsonValue | undefined,
  value: JsonValue,
  findings: Findings,
): JsonObject | undefined {
  // NGSIv2 allows null for any value; the schema decides whether it is valid.
  if (NGSI_V2_KINDS.get(type) !== 'GeoProperty' || value === null) return undefined;
  if (type !== 'geo:json') {
    const found = geometryOfLocation(type as LocationType, value);
    if (isObject(found)) return found;
    findings.fault('format', found, 'value');
    return undefined;
  }
  findings.enter('value');
  checkGeometry(value, findings);
  findings.leave();
  return undefined;
}
