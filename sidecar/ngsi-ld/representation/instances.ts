import type { AttributeKind } from '../attribute-kinds.js';
import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { isGeometry } from './geometry.js';
import { isUri } from '../names.js';
import { KIND_OF_MEMBER, VALUE_MEMBERS, kindNamed } from '../value-members.js';

/**
 * One instance of an attribute, normalized or concise (clauses 4.5.2 and 4.5.3):
 * - `typed`: an object with the type of an attribute; it is normalized;
 * - `inferred`: an object without a type, whose kind shows in the member that holds its value; it is concise;
 * - `bare`: the value itself, concise as well; a geometry is one although it has a `type`;
 * - `foreign`: an object with any other type, which no representation allows.
 */
export type Instance = TypedInstance | InferredInstance | BareInstance | ForeignInstance;

export interface TypedInstance {
  readonly how: 'typed';
  readonly object: JsonObject;
  readonly kind: AttributeKind;
  /** Where the value stands: the member of the kind, or another's where that is missing. */
  readonly member: string | undefined;
}

export interface InferredInstance {
  readonly how: 'inferred';
  readonly object: JsonObject;
  readonly kind: AttributeKind;
  readonly member: string;
}

export interface BareInstance {
  readonly how: 'bare';
  readonly value: JsonValue;
  readonly kind: 'Property' | 'GeoProperty';
}

export interface ForeignInstance {
  readonly how: 'foreign';
  readonly object: JsonObject;
  readonly type: JsonValue;
  readonly member: string | undefined;
}

/** Classifies an instance. */
export function instanceOf(submitted: JsonValue): Instance {
  if (!isObject(submitted)) return { how: 'bare', value: submitted, kind: 'Property' };
  const type = member(submitted, 'type');
  const kind = kindNamed(type ?? member(submitted, '@type'));
  if (kind !== undefined) {
    const own = VALUE_MEMBERS[kind];
    const found = Object.hasOwn(submitted, own) ? own : valueMemberIn(submitted);
    return { how: 'typed', object: submitted, kind, member: found };
  }
  if (isGeometry(submitted)) return { how: 'bare', value: submitted, kind: 'GeoProperty' };
  const found = valueMemberIn(submitted);
  if (type !== undefined) return { how: 'foreign', object: submitted, type, member: found };
  const inferred = found === undefined ? undefined : KIND_OF_MEMBER.get(found);
  if (found === undefined || inferred === undefined)
    return { how: 'bare', value: submitted, kind: 'Property' };
  // A geometry makes a GeoProperty of what would be a Property (clause 4.5.2.3).
  const isGeo = inferred === 'Property' && isGeometry(submitted['value']);
  return { how: 'inferred', object: submitted, kind: isGeo ? 'GeoProperty' : inferred, member: found };
}

function valueMemberIn(object: JsonObject): string | undefined {
  for (const name of KIND_OF_MEMBER.keys()) if (Object.hasOwn(object, name)) return name;
  return undefined;
}

/**
 * Whether an array is the instances of an attribute (clause 4.5.5), not the value of a concise Property.
 *
 * One with a type is proof. Objects without one may be data that happen to have a member called `value`: they count when
 * all look like instances and some have a datasetId, for without it there can be but one.
 */
export function areInstances(array: readonly JsonValue[]): boolean {
  let [look, differ] = [array.length > 0, false];
  for (const item of array) {
    const found = isObject(item) ? instanceOf(item) : undefined;
    if (found?.how === 'typed') return true;
    if (found?.how !== 'inferred') look = false;
    else differ ||= Object.hasOwn(found.object, 'datasetId');
  }
  return look && differ;
}

/** The datasetId of an instance; undefined for the default one (clause 4.5.5.1). */
export function datasetIdOf(submitted: JsonValue): JsonValue | undefined {
  const datasetId = isObject(submitted) ? member(submitted, 'datasetId') : undefined;
  return datasetId === '@none' ? undefined : datasetId;
}

/** Where one instance of an attribute stands, below the attribute's name. */
export interface Standing {
  readonly path: readonly string[];
  readonly submitted: JsonValue;
}

/**
 * The instances of an attribute, the default one first; at least one.
 *
 * @param isNormalized whether every array of objects is meant as instances
 */
export function instancesOf(submitted: JsonValue, isNormalized: boolean): readonly Standing[] {
  if (!isArray(submitted) || !(isNormalized ? submitted.some(isObject) : areInstances(submitted)))
    return [{ path: [], submitted }];
  const all = submitted.map((item, index) => ({ path: [String(index)], submitted: item }));
  return defaultFirst(all, ({ submitted: item }) => datasetIdOf(item) === undefined);
}

/** The simplified representation of several instances: their values by datasetId (clause 4.5.4). */
export function datasetsOf(submitted: JsonValue): readonly Standing[] {
  const datasets = datasetsIn(submitted);
  if (datasets === undefined) return [{ path: [], submitted }];
  const all = Object.entries(datasets).map(([id, item]) => ({ path: ['dataset', id], submitted: item }));
  return defaultFirst(all, ({ path }) => path[1] === '@none');
}

function datasetsIn(submitted: JsonValue): JsonObject | undefined {
  const datasets = isObject(submitted) ? member(submitted, 'dataset') : undefined;
  if (!isObject(submitted) || !isObject(datasets)) return undefined;
  const ids = Object.keys(datasets);
  const areIds = ids.length > 0 && ids.every((id) => id === '@none' || isUri(id));
  return areIds && Object.keys(submitted).length === 1 ? datasets : undefined;
}

function defaultFirst(all: readonly Standing[], isDefault: (one: Standing) => boolean): readonly Standing[] {
  const index = all.findIndex(isDefault);
  return index <= 0 ? all : [...all.slice(index, index + 1), ...all.slice(0, index), ...all.slice(index + 1)];
}
