import { attributesOf, type ModelAttribute } from '../json-schema/attributes.js';
import { conjunctsOf } from '../json-schema/flat-graph.js';
import { isStandard, type Targets } from '../json-schema/flatten.js';
import {
  isArray,
  isObject,
  member,
  type JsonObject,
  type JsonValue,
  type Schema,
} from '../../shared/json/json.js';

/** A model's schema as components of an OpenAPI document. */
export interface FlatModel {
  /** The schema itself: entities in key-values form. */
  readonly root: JsonObject;
  /** The schemas it refers to, by component name. */
  readonly definitions: ReadonlyMap<string, Schema>;
  readonly targets: Targets;
  readonly attributes: readonly ModelAttribute[];
  /** Whether entities have no other members. */
  readonly isClosed: boolean;
}

export function componentRef(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Takes a self-contained schema apart: what it refers to becomes components, and identifiers and keywords that are not of
 * JSON Schema 2020-12 or OpenAPI extensions are gone (OpenAPI 3.1.0 § 4.8.24).
 *
 * @param rootName name of the component of the schema itself
 * @param reserved names that the components it refers to may not have
 * @throws SchemaRefusedError for a schema that is not self-contained
 */
export function flatModel(schema: JsonObject, rootName: string, reserved: ReadonlySet<string>): FlatModel {
  const { root, definitions, targets, attributes } = attributesOf(schema, {
    reference: (name) => componentRef(name ?? rootName).$ref,
    reserved,
    keeps: isKept,
  });
  const isClosed = conjunctsOf([root], targets).some(
    (part) =>
      isObject(part) &&
      ['additionalProperties', 'unevaluatedProperties'].some((keyword) => member(part, keyword) === false),
  );
  return { root, definitions, targets, attributes, isClosed };
}

/**
 * Whether a keyword without schemas in it goes into OpenAPI. Values that hold a `$ref` do not: tools that look for
 * references everywhere would take it for one, and fetch it.
 */
function isKept(keyword: string, value: JsonValue): boolean {
  const isKnown = isStandard(keyword) || keyword.startsWith('x-');
  return isKnown && keyword !== '$comment' && !holdsReference(value);
}

/** Whether a value has, at any depth, a member that looks like a reference. */
export function holdsReference(value: JsonValue): boolean {
  if (isArray(value)) return value.some(holdsReference);
  return isObject(value) && (Object.hasOwn(value, '$ref') || Object.values(value).some(holdsReference));
}
