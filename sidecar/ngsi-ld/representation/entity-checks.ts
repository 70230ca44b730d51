import { isArray, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { type Findings, nearestName } from './findings.js';
import { checkDateTime } from './value-checks.js';
import { isStandardName, isScope, localName } from './names.js';
import { isUri } from '../names.js';
import { formatValue } from '../../shared/format-value.js';

/** Returns the name of the id member: `id`, or its alias `@id`. */
export function idMemberOf(entity: JsonObject): 'id' | '@id' {
  return !Object.hasOwn(entity, 'id') && Object.hasOwn(entity, '@id') ? '@id' : 'id';
}

/** Returns the name of the type member: `type`, or its alias `@type`. */
export function typeMemberOf(entity: JsonObject): 'type' | '@type' {
  return !Object.hasOwn(entity, 'type') && Object.hasOwn(entity, '@type') ? '@type' : 'type';
}

/** Whether a type, or one of several, is that of the model: by name, or as an IRI that ends with the name. */
export function isOfModel(type: JsonValue | undefined, model: string): boolean {
  return isArray(type)
    ? type.some((item) => isOfModel(item, model))
    : typeof type === 'string' && (type === model || localName(type) === model);
}

/** Reports an entity without an id or a type (clause 4.5.1). */
export function checkPresence(entity: JsonObject, findings: Findings): void {
  for (const [name, what] of [
    ['id', 'a URI such as urn:ngsi-ld:Vehicle:1'],
    ['type', 'such as "Vehicle"'],
  ] as const) {
    const hasAlias = Object.hasOwn(entity, `@${name}`);
    if (Object.hasOwn(entity, name)) {
      if (hasAlias)
        findings.fault(
          'additionalProperties',
          `must not be combined with ${name}, which means the same`,
          `@${name}`,
        );
    } else if (!hasAlias)
      findings.fault('required', `must have ${name === 'id' ? 'an id' : 'a type'}, ${what}`);
  }
}

/**
 * Reports the faults of a member of an entity that is not an attribute (clause 5.2.4). The current position of
 * `findings` must be the entity.
 *
 * @param model the type that the entity must have
 */
export function checkEntityMember(
  name: string,
  value: JsonValue,
  model: string | undefined,
  findings: Findings,
): void {
  findings.enter(name);
  switch (name) {
    case 'id':
    case '@id':
      if (!isUri(value))
        findings.fault('format', `must be a URI such as urn:ngsi-ld:Vehicle:1, is ${formatValue(value)}`);
      break;
    case 'type':
    case '@type':
      checkType(value, model, findings);
      break;
    case 'scope':
      checkScopes(value, findings);
      break;
    case 'expiresAt':
    case 'createdAt':
    case 'modifiedAt':
    case 'deletedAt':
      checkDateTime(value, findings);
  }
  findings.leave();
}

/** Types of the GeoJSON representation of entities (clause 4.5.16). */
const GEOJSON_TYPES: ReadonlySet<string> = new Set(['Feature', 'FeatureCollection']);

function checkType(value: JsonValue, model: string | undefined, findings: Findings): void {
  const isRight = isArray(value) ? checkTypes(value, findings) : checkTypeName(value, findings);
  if (!isRight || model === undefined || isOfModel(value, model)) return;
  const found = (isArray(value) ? value : [value]).filter((item) => typeof item === 'string');
  const isNear = found.some((type) => nearestName(localName(type), [model]) !== undefined);
  const meant = isNear
    ? `; did you mean ${JSON.stringify(model)}?`
    : found.some((type) => GEOJSON_TYPES.has(type))
      ? '; send form=geojson for a GeoJSON Feature'
      : '';
  const [verb, list] = isArray(value)
    ? ['contain', found.slice(0, 5).map(formatValue).join(', ')]
    : ['be', formatValue(value)];
  const cut = found.length > 5 ? ', …' : '';
  findings.fault(
    'const',
    `must ${verb} ${JSON.stringify(model)}, the type of the model's entities, is ${list}${cut}${meant}`,
  );
}

function checkTypeName(value: JsonValue, findings: Findings, ...below: readonly string[]): boolean {
  if (typeof value !== 'string' || value === '') {
    findings.fault('type', `must be the name of a type, is ${formatValue(value)}`, ...below);
    return false;
  }
  if (!isStandardName(value))
    findings.warn(
      'name',
      `is ${formatValue(value)}; names are letters, digits and _, and begin with a letter`,
      ...below,
    );
  return true;
}

function checkTypes(types: readonly JsonValue[], findings: Findings): boolean {
  if (types.length === 0) findings.fault('minItems', 'must name at least one type');
  const seen = new Set<JsonValue>();
  let isRight = types.length > 0;
  for (const [index, type] of types.entries()) {
    isRight = checkTypeName(type, findings, String(index)) && isRight;
    if (typeof type === 'string' && seen.has(type))
      findings.fault('uniqueItems', `must not be named twice, ${formatValue(type)}`, String(index));
    seen.add(type);
  }
  return isRight;
}

function checkScopes(value: JsonValue, findings: Findings): void {
  if (!isArray(value)) checkScope(value, findings);
  else for (const [index, scope] of value.entries()) checkScope(scope, findings, String(index));
}

function checkScope(value: JsonValue, findings: Findings, ...below: readonly string[]): void {
  if (typeof value !== 'string' || !isScope(value))
    findings.fault('format', `must be a scope such as /Madrid/Gardens, is ${formatValue(value)}`, ...below);
}
