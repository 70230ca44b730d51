import type { AttributeKind } from '../attribute-kinds.js';
import type { JsonValue } from '../../shared/json/json.js';
import type { Findings } from './findings.js';
import { dateTimeOf, isName } from './names.js';
import { isUri } from '../names.js';
import { checkStrings } from './value-checks.js';
import { shown } from '../../shared/shown.js';

/** Roles of the members of an attribute other than its value (clause 5.2.5); any other member is a sub-attribute. */
type Role = 'time' | 'dataset' | 'unit' | 'string' | 'strings' | 'context' | 'free';

const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ...['observedAt', 'expiresAt', 'createdAt', 'modifiedAt', 'deletedAt'].map(
    (name) => [name, 'time'] as const,
  ),
  ['datasetId', 'dataset'],
  ['unitCode', 'unit'],
  ['valueType', 'string'],
  ['lang', 'string'],
  ['objectType', 'strings'],
  ['@context', 'context'],
  // Written by brokers, or part of the proof of an entity.
  ...['type', '@type', 'id', '@id', 'instanceId', 'entity', 'entityList'].map(
    (name) => [name, 'free'] as const,
  ),
  ...['entityIdSealed', 'entityTypeSealed'].map((name) => [name, 'free'] as const),
  ...['previousValue', 'previousObject', 'previousLanguageMap', 'previousVocab', 'previousJson'].map(
    (name) => [name, 'free'] as const,
  ),
  ...['previousValueList', 'previousObjectList'].map((name) => [name, 'free'] as const),
]);

/** Terms of the core @context that belong to attributes and cannot name one (clause 4.5.1). */
const OF_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...['observedAt', 'unitCode', 'datasetId', 'instanceId', 'valueType', 'objectType', 'lang'],
]);
const WITH_UNIT: ReadonlySet<AttributeKind> = new Set(['Property', 'ListProperty', 'GeoProperty']);

/** Whether a member of an attribute is neither its value nor an attribute of the attribute. */
export function isPlainMember(name: string): boolean {
  return ROLES.has(name);
}

/** Faults of a plain member of an attribute. The walk of `findings` is at the member. */
export function checkPlainMember(
  name: string,
  value: JsonValue,
  kind: AttributeKind,
  findings: Findings,
): void {
  switch (ROLES.get(name)) {
    case 'time':
      checkTime(value, findings);
      return;
    case 'dataset':
      if (value !== '@none' && !isUri(value))
        findings.fault('format', `must be a URI or "@none", is ${shown(value)}`);
      return;
    case 'unit':
      checkString(value, findings);
      if (!WITH_UNIT.has(kind))
        findings.warn('unit-without-value', `is the unit of a ${kind}, which cannot have one`);
      return;
    case 'string':
      checkString(value, findings);
      return;
    case 'strings':
      checkStrings(value, 'the name of a type, or an array of names', findings);
      return;
    case 'context':
      findings.fault('additionalProperties', 'must not be here: an @context belongs to the whole entity');
      return;
    case 'free':
    case undefined:
  }
}

function checkString(value: JsonValue, findings: Findings): void {
  if (typeof value !== 'string') findings.fault('type', `must be a string, is ${shown(value)}`);
}

/** A temporal property (clause 4.8). */
export function checkTime(value: JsonValue, findings: Findings): void {
  const found = typeof value === 'string' ? dateTimeOf(value) : undefined;
  if (found === undefined)
    findings.fault('format', `must be a date-time such as 2026-01-31T12:00:00Z, is ${shown(value)}`);
  else if (found === 'offset')
    findings.warn('not-utc', `is ${shown(value)}; the standard allows UTC only, with a Z at the end`);
}

/** Warns of a name that an attribute must not have. The walk of `findings` is at the attribute. */
export function warnOfName(name: string, findings: Findings): void {
  if (OF_ATTRIBUTES.has(name))
    findings.warn('reserved-name', `is a member of attributes in NGSI-LD and cannot name one`);
  else if (!isName(name))
    findings.warn(
      'name',
      `is named ${shown(name)}; names are letters, digits and _, and begin with a letter`,
    );
}
