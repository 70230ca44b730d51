import { isArray, isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { didYouMean, type Findings, nearestName } from './findings.js';
import {
  areInstances,
  datasetIdOf,
  instanceOf,
  type ForeignInstance,
  type InferredInstance,
  type TypedInstance,
} from './instances.js';
import { checkMetadataMember, checkValue, isMetadataMember, warnOfName } from './value-checks.js';
import { NGSI_V2_KINDS } from './ngsiv2-shape.js';
import { ATTRIBUTE_KINDS, KIND_BY_MEMBER, VALUE_MEMBERS } from '../members.js';
import { formatValue } from '../../shared/format-value.js';

/**
 * Reports the faults of an attribute with all its instances (clauses 4.5.2, 4.5.3 and 4.5.5), and those of its
 * sub-attributes.
 *
 * The current position of `findings` must be the entity, or the attribute that this attribute belongs to.
 *
 * @param isNormalized whether it must be normalized; otherwise a concise one is accepted too, as brokers do
 */
export function checkAttribute(
  name: string,
  submitted: JsonValue,
  isNormalized: boolean,
  findings: Findings,
): void {
  findings.enter(name);
  warnOfName(name, findings);
  if (isArray(submitted)) checkArray(submitted, isNormalized, findings);
  else checkInstance(submitted, isNormalized, findings);
  findings.leave();
}

function checkArray(array: readonly JsonValue[], isNormalized: boolean, findings: Findings): void {
  if (isNormalized && array.length === 0) {
    findings.fault('minItems', 'must be an attribute, or a non-empty array of its instances');
    return;
  }
  if (!(isNormalized ? array.some(isObject) : areInstances(array))) {
    checkInstance(array, isNormalized, findings);
    return;
  }
  const seen = new Set<JsonValue | undefined>();
  for (const [index, item] of array.entries()) {
    findings.enter(String(index));
    if (isObject(item)) {
      checkInstance(item, isNormalized, findings);
      checkDifference(item, seen, findings);
    } else findings.fault('type', `must be an instance of the attribute, is ${formatValue(item)}`);
    findings.leave();
  }
}

function checkDifference(instance: JsonObject, seen: Set<JsonValue | undefined>, findings: Findings): void {
  const datasetId = datasetIdOf(instance);
  if (!seen.has(datasetId)) seen.add(datasetId);
  else if (datasetId === undefined)
    findings.fault('uniqueItems', 'must have a datasetId, because another instance is already the default');
  else
    findings.fault(
      'uniqueItems',
      `must be unique: another instance has ${formatValue(datasetId)}, too`,
      'datasetId',
    );
}

function checkInstance(submitted: JsonValue, isNormalized: boolean, findings: Findings): void {
  const instance = instanceOf(submitted);
  if (instance.how === 'bare') checkBare(instance.value, instance.kind, isNormalized, findings);
  else if (instance.how === 'foreign') checkForeignType(instance, findings);
  else {
    if (instance.how === 'inferred' && isNormalized)
      findings.fault(
        'required',
        `must have a type: ${JSON.stringify(instance.kind)} by its ${instance.member}`,
      );
    checkMembers(instance, isNormalized, findings);
  }
}

function checkBare(
  value: JsonValue,
  kind: 'Property' | 'GeoProperty',
  isNormalized: boolean,
  findings: Findings,
): void {
  if (isNormalized) {
    findings.fault(
      'type',
      `must be an attribute, such as {"type": "${kind}", "value": …}, is ${formatValue(value)}`,
    );
    return;
  }
  checkValue(kind, value, findings);
  if (
    kind === 'Property' &&
    isObject(value) &&
    (Object.hasOwn(value, 'datasetId') || Object.hasOwn(value, 'observedAt'))
  )
    findings.warn(
      'no-value-member',
      'has members of an attribute but no value, so the whole object is taken as the value',
    );
}

function checkMembers(
  instance: TypedInstance | InferredInstance,
  isNormalized: boolean,
  findings: Findings,
): void {
  const { object, kind, member: valueMember } = instance;
  const own = VALUE_MEMBERS[kind];
  if (valueMember === undefined) {
    const names = Object.keys(object).filter((name) => !isMetadataMember(name));
    const near = names
      .map((name) => [name, didYouMean(name, [own])] as const)
      .find(([, meant]) => meant !== '');
    const misspelt = near === undefined ? '' : `; ${formatValue(near[0])} is not a known member${near[1]}`;
    findings.fault('required', `is a ${kind} and must have the member ${formatValue(own)}${misspelt}`);
  }
  // Keys instead of entries, because most of the time is spent here.
  for (const name of Object.keys(object)) {
    if (name === 'type') continue;
    const value = object[name] ?? null;
    if (name === valueMember || KIND_BY_MEMBER.has(name)) {
      findings.enter(name);
      checkValueMember(name, value, instance, findings);
      findings.leave();
    } else if (isMetadataMember(name)) {
      findings.enter(name);
      checkMetadataMember(name, value, kind, findings);
      findings.leave();
    } else {
      warnOfReservedName(name, value, findings);
      checkAttribute(name, value, isNormalized, findings);
    }
  }
}

/** Members of attributes that, if misspelt, become sub-attributes, which no broker complains about. */
const RESERVED = ['observedAt', 'unitCode', 'datasetId', 'valueType', 'objectType', 'expiresAt'];

function warnOfReservedName(name: string, value: JsonValue, findings: Findings): void {
  if (typeof value !== 'string') return;
  const letters = name.replaceAll(/[_-]/g, '');
  const meant = RESERVED.includes(letters) ? letters : nearestName(letters, RESERVED);
  if (meant === undefined) return;
  findings.enter(name);
  findings.suspectName(
    'misspelt-member',
    `is read as a sub-attribute; did you mean ${formatValue(meant)}?`,
    meant,
  );
  findings.leave();
}

function checkValueMember(
  name: string,
  value: JsonValue,
  { object, kind }: TypedInstance | InferredInstance,
  findings: Findings,
): void {
  const own = VALUE_MEMBERS[kind];
  if (name === own) checkValue(kind, value, findings);
  else if (kind === 'Relationship' && name === 'value' && !Object.hasOwn(object, own)) {
    findings.faultyName(
      'additionalProperties',
      'must be called object: a Relationship does not have a value',
      own,
    );
  } else {
    const other = KIND_BY_MEMBER.get(name) ?? '';
    findings.fault(
      'additionalProperties',
      `must not be in a ${kind}, whose value is in ${own}; ${name} belongs to a ${other}`,
    );
  }
}

/** Reports an instance whose type is not that of an attribute. Its members could be data, so they are not checked. */
function checkForeignType({ type, member }: ForeignInstance, findings: Findings): void {
  const kind = NGSI_V2_KINDS.get(type);
  const meant = typeof type === 'string' ? didYouMean(type, ATTRIBUTE_KINDS) : '';
  const detail =
    kind !== undefined
      ? `must be ${JSON.stringify(kind)}: ${formatValue(type)} is a type of NGSIv2, not of NGSI-LD`
      : meant !== ''
        ? `must be the type of an attribute, is ${formatValue(type)}${meant}`
        : `must be the type of an attribute (${ATTRIBUTE_KINDS.join(', ')}), is ${formatValue(type)}`;
  const hint =
    member === undefined ? '; put an object with a type of its own into the value of a Property' : '';
  findings.fault('enum', kind === undefined && meant === '' ? `${detail}${hint}` : detail, 'type');
}
