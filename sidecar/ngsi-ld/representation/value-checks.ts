import { isArray, isObject, type JsonValue, member } from '../../shared/json/json.js';
import { formatValue } from '../../shared/format-value.js';
import { type AttributeKind, DEFAULT_DATASET, NGSI_LD_NULL } from '../members.js';
import { isUri } from '../names.js';
import type { Findings } from './findings.js';
import { checkGeometry } from './geometry.js';
import { dateTimeOf, isStandardName } from './names.js';
import { firstAttributeIn } from './instances.js';

const LANGUAGE_TAG = /^(?:@none|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)$/;

/**
 * Reports faults of the value of an attribute of a kind, at any depth (clauses 4.5.2, 4.5.3 and 4.5.18 to 4.5.24).
 *
 * The current position of `findings` must be the value.
 */
export function checkValue(kind: AttributeKind, value: JsonValue, findings: Findings): void {
  if (isNull(value)) {
    // Notifications and temporal evolutions contain it, too.
    findings.warn('ngsi-ld-null', `is ${NGSI_LD_NULL}, which stands for something deleted`);
    return;
  }
  switch (kind) {
    case 'Property':
      if (value === null) findings.fault('type', 'must not be null: leave out an attribute without a value');
      else warnOfAttribute(value, findings);
      return;
    case 'GeoProperty':
      checkGeometry(value, findings);
      return;
    case 'Relationship':
      checkObject(value, findings);
      return;
    case 'LanguageProperty':
      checkLanguageMap(value, findings);
      return;
    case 'VocabProperty':
      checkStrings(value, 'a string or an array of strings', findings);
      return;
    case 'JsonProperty':
      if (!isObject(value) && !(isArray(value) && value.every(isObject)))
        findings.warn(
          'json-scalar',
          `is ${formatValue(value)}; the standard asks for an object, or an array of objects`,
        );
      return;
    case 'ListProperty':
      if (isArray(value)) warnOfAttribute(value, findings);
      else findings.fault('type', `must be an array, is ${formatValue(value)}`);
      return;
    case 'ListRelationship':
      checkObjectList(value, findings);
  }
}

/** Whether a value is the NGSI-LD Null (clause 4.5.0), in the form used by its kind. */
function isNull(value: JsonValue): boolean {
  if (isArray(value)) return value.length === 1 && value[0] === NGSI_LD_NULL;
  return (
    value === NGSI_LD_NULL ||
    (isObject(value) && value['@none'] === NGSI_LD_NULL && Object.keys(value).length === 1)
  );
}

function checkObject(value: JsonValue, findings: Findings): void {
  if (isArray(value)) {
    if (value.length === 0) findings.fault('minItems', 'must name at least one entity');
    for (const [index, item] of value.entries())
      if (!isUri(item))
        findings.fault('format', `must be the URI of an entity, is ${formatValue(item)}`, String(index));
  } else if (!isUri(value))
    findings.fault('format', `must be the URI of an entity, or an array of URIs, is ${formatValue(value)}`);
}

function checkObjectList(value: JsonValue, findings: Findings): void {
  if (!isArray(value)) {
    findings.fault('type', `must be an array of {"object": URI}, is ${formatValue(value)}`);
    return;
  }
  for (const [index, item] of value.entries()) {
    const object = isObject(item) ? member(item, 'object') : item;
    if (isUri(object)) continue;
    const below = object === undefined || !isObject(item) ? [] : ['object'];
    const what =
      object === undefined
        ? 'must have an object, the URI of an entity'
        : `must be the URI of an entity, is ${formatValue(object)}`;
    findings.fault(object === undefined ? 'required' : 'format', what, String(index), ...below);
  }
}

function checkLanguageMap(value: JsonValue, findings: Findings): void {
  if (!isObject(value)) {
    findings.fault(
      'type',
      `must be an object of strings by language, such as {"en": "yes"}, is ${formatValue(value)}`,
    );
    return;
  }
  for (const [tag, text] of Object.entries(value)) {
    findings.enter(tag);
    if (!LANGUAGE_TAG.test(tag))
      findings.warn(
        'language-tag',
        `is under ${formatValue(tag)}, which is not a language tag (such as en or de-AT) or @none`,
      );
    checkStrings(text, 'a string or an array of strings', findings);
    findings.leave();
  }
}

/** Checks for one string or an array of strings; also used for members whose values are names. */
function checkStrings(value: JsonValue, what: string, findings: Findings): void {
  if (!isArray(value)) {
    if (typeof value !== 'string') findings.fault('type', `must be ${what}, is ${formatValue(value)}`);
    return;
  }
  for (const [index, item] of value.entries())
    if (typeof item !== 'string')
      findings.fault('type', `must be a string, is ${formatValue(item)}`, String(index));
}

/** Gives at most one warning per value, because such mistakes rarely come alone. */
function warnOfAttribute(value: JsonValue, findings: Findings): void {
  const tokens = firstAttributeIn(value);
  if (tokens !== undefined)
    findings.warn(
      'nested-attribute',
      'is an attribute inside a value; its own value is used instead',
      ...tokens,
    );
}

/** Roles of the members of an attribute other than its value (clause 5.2.5); any other member is a sub-attribute. */
type Role = 'time' | 'dataset' | 'unit' | 'string' | 'strings' | 'context' | 'free';

/** The members of each role; those that are `free` are set by brokers, or part of the proof of an entity. */
const MEMBERS_BY_ROLE: Readonly<Record<Role, readonly string[]>> = {
  time: ['observedAt', 'expiresAt', 'createdAt', 'modifiedAt', 'deletedAt'],
  dataset: ['datasetId'],
  unit: ['unitCode'],
  string: ['valueType', 'lang'],
  strings: ['objectType'],
  context: ['@context'],
  free: [
    ...['type', '@type', 'id', '@id', 'instanceId', 'entity', 'entityList'],
    ...['entityIdSealed', 'entityTypeSealed', 'previousValue', 'previousObject', 'previousLanguageMap'],
    ...['previousVocab', 'previousJson', 'previousValueList', 'previousObjectList'],
  ],
};

const MEMBER_ROLES: ReadonlyMap<string, Role> = new Map(
  Object.entries(MEMBERS_BY_ROLE).flatMap(([role, names]) => names.map((name) => [name, role as Role])),
);

/** Terms of the core @context that are members of attributes and cannot be attribute names (clause 4.5.1). */
const RESERVED_NAMES: ReadonlySet<string> = new Set([
  'observedAt',
  'unitCode',
  'datasetId',
  'instanceId',
  'valueType',
  'objectType',
  'lang',
]);
const KINDS_WITH_UNIT: ReadonlySet<AttributeKind> = new Set(['Property', 'ListProperty', 'GeoProperty']);

/** Whether a member of an attribute is neither its value nor a sub-attribute. */
export function isMetadataMember(name: string): boolean {
  return MEMBER_ROLES.has(name);
}

/** Whether clients may write a member of an attribute alone, without the value: neither an identifier nor what brokers set. */
export function isWrittenAlone(name: string): boolean {
  const role = MEMBER_ROLES.get(name);
  return role !== undefined && role !== 'free' && role !== 'context';
}

/** Reports faults of a plain member of an attribute. The current position of `findings` must be the member. */
export function checkMetadataMember(
  name: string,
  value: JsonValue,
  kind: AttributeKind,
  findings: Findings,
): void {
  MEMBER_CHECKS[MEMBER_ROLES.get(name) ?? 'free']?.(value, findings, kind);
}

const MEMBER_CHECKS: Readonly<
  Partial<Record<Role, (value: JsonValue, findings: Findings, kind: AttributeKind) => void>>
> = {
  time: checkDateTime,
  dataset: (value, findings) => {
    if (value !== DEFAULT_DATASET && !isUri(value))
      findings.fault('format', `must be a URI or "@none", is ${formatValue(value)}`);
  },
  unit: (value, findings, kind) => {
    checkString(value, findings);
    if (!KINDS_WITH_UNIT.has(kind))
      findings.warn('unit-without-value', `is the unit of a ${kind}, which cannot have one`);
  },
  string: checkString,
  strings: (value, findings) => checkStrings(value, 'the name of a type, or an array of names', findings),
  context: (_, findings) =>
    findings.fault('additionalProperties', 'must not be here: an @context belongs to the whole entity'),
};

function checkString(value: JsonValue, findings: Findings): void {
  if (typeof value !== 'string') findings.fault('type', `must be a string, is ${formatValue(value)}`);
}

/** Checks a temporal property (clause 4.8). */
export function checkDateTime(value: JsonValue, findings: Findings): void {
  const found = typeof value === 'string' ? dateTimeOf(value) : undefined;
  if (found === undefined)
    findings.fault('format', `must be a date-time such as 2026-01-31T12:00:00Z, is ${formatValue(value)}`);
  else if (found === 'offset')
    findings.warn('not-utc', `is ${formatValue(value)}; the standard allows UTC only, with a Z at the end`);
}

/** Warns about a name that an attribute must not have. The current position of `findings` must be the attribute. */
export function warnOfName(name: string, findings: Findings): void {
  if (RESERVED_NAMES.has(name))
    findings.warn('reserved-name', `is a member of attributes in NGSI-LD and cannot be the name of one`);
  else if (!isStandardName(name))
    findings.warn(
      'name',
      `is named ${formatValue(name)}; names are letters, digits and _, and begin with a letter`,
    );
}
