import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
  childAt,
} from '../../shared/json/json.js';
import {
  type AttributeKind,
  DEFAULT_DATASET,
  KIND_BY_MEMBER,
  kindOfType,
  VALUE_MEMBERS,
} from '../members.js';
import { isUri } from '../names.js';
import { isGeometry } from './geometry.js';

/**
 * One instance of an attribute, normalized or concise (clauses 4.5.2 and 4.5.3):
 * - `typed`: an object with the type of an attribute, hence normalized;
 * - `inferred`: an object without a type, whose kind follows from the member that holds its value, hence concise;
 * - `bare`: the value itself, also concise; includes a geometry and a typed value, although they have a `type`;
 * - `foreign`: an object with any other type, which no representation allows.
 */
export type Instance = TypedInstance | InferredInstance | BareInstance | ForeignInstance;

export interface TypedInstance {
  readonly how: 'typed';
  readonly object: JsonObject;
  readonly kind: AttributeKind;
  /** The member that holds the value: that of the kind or, if it is missing, that of another kind. */
  readonly member: string | undefined;
}

export interface InferredInstance {
  readonly how: 'inferred';
  readonly object: JsonObject;
  readonly kind: AttributeKind;
  readonly member: string;
}

interface BareInstance {
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
  const kind = kindOfType(type ?? member(submitted, '@type'));
  if (kind !== undefined) {
    const own = VALUE_MEMBERS[kind];
    const found = Object.hasOwn(submitted, own) ? own : valueMemberIn(submitted);
    return { how: 'typed', object: submitted, kind, member: found };
  }
  if (isGeometry(submitted)) return { how: 'bare', value: submitted, kind: 'GeoProperty' };
  if (typedValueIn(submitted) !== undefined) return { how: 'bare', value: submitted, kind: 'Property' };
  const found = valueMemberIn(submitted);
  if (type !== undefined) return { how: 'foreign', object: submitted, type, member: found };
  const inferred = found === undefined ? undefined : KIND_BY_MEMBER.get(found);
  if (found === undefined || inferred === undefined)
    return { how: 'bare', value: submitted, kind: 'Property' };
  // With a geometry, what would be a Property is a GeoProperty (clause 4.5.2.3).
  const isGeo = inferred === 'Property' && isGeometry(submitted['value']);
  return { how: 'inferred', object: submitted, kind: isGeo ? 'GeoProperty' : inferred, member: found };
}

function valueMemberIn(object: JsonObject): string | undefined {
  for (const name of KIND_BY_MEMBER.keys()) if (Object.hasOwn(object, name)) return name;
  return undefined;
}

/**
 * Whether an array contains the instances of an attribute (clause 4.5.5), rather than being the value of a concise
 * Property.
 *
 * An item with an attribute type is proof. Objects without one may be data that happen to have a member called `value`.
 * They count as instances only if all look like instances and some have a datasetId, because only one instance may lack
 * it.
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

/** Returns the datasetId of an instance; undefined for the default instance (clause 4.5.5.1). */
export function datasetIdOf(submitted: JsonValue): JsonValue | undefined {
  const datasetId = isObject(submitted) ? member(submitted, 'datasetId') : undefined;
  return datasetId === DEFAULT_DATASET ? undefined : datasetId;
}

/** An instance of an attribute, and its place below the attribute's name. */
export interface LocatedInstance {
  readonly path: readonly string[];
  readonly submitted: JsonValue;
}

/**
 * Returns the instances of an attribute, the default one first; at least one.
 *
 * @param isNormalized whether to treat every array of objects as instances
 */
export function instancesOf(submitted: JsonValue, isNormalized: boolean): readonly LocatedInstance[] {
  if (!isArray(submitted) || !(isNormalized ? submitted.some(isObject) : areInstances(submitted)))
    return [{ path: [], submitted }];
  const all = submitted.map((item, index) => ({ path: [String(index)], submitted: item }));
  return defaultFirst(all, ({ submitted: item }) => datasetIdOf(item) === undefined);
}

/** Returns the instances in the simplified representation of several instances: values by datasetId (clause 4.5.4). */
export function datasetsOf(submitted: JsonValue): readonly LocatedInstance[] {
  const datasets = datasetsIn(submitted);
  if (datasets === undefined) return [{ path: [], submitted }];
  const all = Object.entries(datasets).map(([id, item]) => ({ path: ['dataset', id], submitted: item }));
  return defaultFirst(all, ({ path }) => path[1] === DEFAULT_DATASET);
}

function datasetsIn(submitted: JsonValue): JsonObject | undefined {
  const datasets = isObject(submitted) ? member(submitted, 'dataset') : undefined;
  if (!isObject(submitted) || !isObject(datasets)) return undefined;
  const ids = Object.keys(datasets);
  const areIds = ids.length > 0 && ids.every((id) => id === DEFAULT_DATASET || isUri(id));
  return areIds && Object.keys(submitted).length === 1 ? datasets : undefined;
}

function defaultFirst(
  all: readonly LocatedInstance[],
  isDefault: (one: LocatedInstance) => boolean,
): readonly LocatedInstance[] {
  const index = all.findIndex(isDefault);
  return index <= 0 ? all : [...all.slice(index, index + 1), ...all.slice(0, index), ...all.slice(index + 1)];
}

/** The content of a wrapping in a value. */
interface WrappedValue {
  readonly token: string;
  readonly inside: JsonValue;
  /** Whether to use it unchanged: a typed value does not contain another. */
  readonly isFinal: boolean;
}

/**
 * Removes the wrappings of a value at any depth: typed values `{"@type": "DateTime", "@value": …}` (clause 4.6.3) and,
 * if requested, attributes inside values are replaced by their content: no representation allows them, but people write
 * them. Returns the value itself if it has none.
 */
export function plainValue(value: JsonValue, unwrapsAttributes: boolean): JsonValue {
  return containsWrapped(value, unwrapsAttributes) ? unwrapped(value, unwrapsAttributes) : value;
}

/** Whether a value contains any wrapping. Almost no value does, and this check is cheaper than copying. */
function containsWrapped(value: JsonValue, unwrapsAttributes: boolean): boolean {
  if (isArray(value)) return value.some((item) => containsWrapped(item, unwrapsAttributes));
  if (!isObject(value)) return false;
  if (wrappedIn(value, unwrapsAttributes) !== undefined) return true;
  for (const name of Object.keys(value))
    if (containsWrapped(value[name] ?? null, unwrapsAttributes)) return true;
  return false;
}

function unwrapped(value: JsonValue, unwrapsAttributes: boolean): JsonValue {
  const wrapped = wrappedIn(value, unwrapsAttributes);
  if (wrapped !== undefined)
    return wrapped.isFinal ? wrapped.inside : unwrapped(wrapped.inside, unwrapsAttributes);
  if (isArray(value)) return value.map((item) => unwrapped(item, unwrapsAttributes));
  if (!isObject(value)) return value;
  return objectOf(Object.entries(value).map(([name, item]) => [name, unwrapped(item, unwrapsAttributes)]));
}

/** Maps tokens in the plain form back to tokens in the value; the token of a missing part is unchanged. */
export function tokensInValue(
  value: JsonValue | undefined,
  tokens: readonly string[],
  unwrapsAttributes: boolean,
): readonly string[] {
  const wrapped = wrappedIn(value, unwrapsAttributes);
  if (wrapped?.isFinal === true) return [wrapped.token, ...tokens];
  if (wrapped !== undefined)
    return [wrapped.token, ...tokensInValue(wrapped.inside, tokens, unwrapsAttributes)];
  const [token, ...others] = tokens;
  return token === undefined
    ? []
    : [token, ...tokensInValue(childAt(value, token), others, unwrapsAttributes)];
}

/** Returns the place of the first attribute inside a value, of those that {@link plainValue} removes. */
export function firstAttributeIn(value: JsonValue): readonly string[] | undefined {
  if (!isObject(value) && !isArray(value)) return undefined;
  if (isObject(value)) {
    if (typedValueIn(value) !== undefined) return undefined;
    if (attributeIn(value) !== undefined) return [];
  }
  for (const token of Object.keys(value)) {
    const item = childAt(value, token);
    const found = typeof item === 'object' && item !== null ? firstAttributeIn(item) : undefined;
    if (found !== undefined) return [token, ...found];
  }
  return undefined;
}

function wrappedIn(value: JsonValue | undefined, unwrapsAttributes: boolean): WrappedValue | undefined {
  if (!isObject(value)) return undefined;
  return typedValueIn(value) ?? (unwrapsAttributes ? attributeIn(value) : undefined);
}

/**
 * Returns the content of a JSON-LD value object: `@value`, optionally `@type`, and nothing else. Brokers show `@type` as
 * `type`, its name in the core context (Annex C.6).
 */
function typedValueIn(value: JsonObject): WrappedValue | undefined {
  const inside = member(value, '@value');
  if (inside === undefined) return undefined;
  const count = typeof (member(value, '@type') ?? member(value, 'type')) === 'string' ? 2 : 1;
  return Object.keys(value).length === count ? { token: '@value', inside, isFinal: true } : undefined;
}

function attributeIn(value: JsonObject): WrappedValue | undefined {
  const kind = kindOfType(member(value, 'type'));
  const token = kind === undefined ? undefined : VALUE_MEMBERS[kind];
  const inside = token === undefined ? undefined : member(value, token);
  return token === undefined || inside === undefined ? undefined : { token, inside, isFinal: false };
}
