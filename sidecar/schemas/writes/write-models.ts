import { NO_OWN_ATTRIBUTES } from '../../ngsi-ld/members.js';
import { type JsonObject, objectOf } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import type { Names } from '../json-ld/names.js';
import { attributesOf } from '../json-schema/attributes.js';
import { Facts } from '../json-schema/facts.js';
import { selfContained } from '../json-schema/flatten.js';
import { compiledModel, type KeyedModel, type Model, prepareModel } from '../validation/model.js';

/** A model as writes are judged by it: by what its names mean. */
export interface WriteModel {
  /** `domain/model`. */
  readonly title: string;
  readonly whole: Model;
  /** Of the same names, without what concerns several attributes. */
  readonly fragment: Model;
  /** Attributes without which no entity is valid. */
  readonly required: ReadonlySet<string>;
  /** Its names by what they mean. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, string>;
}

/** A model without the meaning of its names. */
export type CompiledWriteModel = Pick<WriteModel, 'whole' | 'fragment' | 'required'>;

/** What belongs to the compiled models of this worker, for as long as these are kept. */
const compiled = new WeakMap<Model, CompiledWriteModel>();

/**
 * Compiles a model, unless this worker has done so.
 *
 * @throws {SchemaRefusedError | RangeError} for a schema that cannot be used
 */
export function compileWriteModel(one: KeyedModel, text: string): CompiledWriteModel {
  const whole = compiledModel(one, text);
  const known = compiled.get(whole);
  if (known !== undefined) return known;
  const { flat, firstError } = prepareModel(one.name, fragmentSchema(parseJson(text) as JsonObject));
  const required = new Facts([whole.flat.root], whole.flat.targets).required;
  const model = {
    whole,
    fragment: { ...whole, flat, firstError },
    required: new Set([...required].filter((name) => !NO_OWN_ATTRIBUTES.has(name))),
  };
  compiled.set(whole, model);
  return model;
}

/** The model with what its names mean. */
export function withMeaning(title: string, compiled: CompiledWriteModel, names: Names): WriteModel {
  const meaningOf = (name: string) => [names.iriOf(name) ?? name, name] as const;
  const { whole } = compiled;
  return {
    title,
    ...compiled,
    attributes: new Map([...whole.attributes.keys()].map(meaningOf)),
    types: new Map(whole.types.map(meaningOf)),
  };
}

/** Keywords that say something of one attribute, whatever the others are. */
const OF_ONE = ['type', 'properties', 'patternProperties', 'additionalProperties', 'propertyNames'];

/** The schema of some attributes of an entity: what it says of each of them, wherever it says so of all entities. */
function fragmentSchema(schema: JsonObject): JsonObject {
  const described = attributesOf(schema);
  const { atoms } = new Facts([described.root], described.targets);
  const allOf = atoms
    .map((atom) => objectOf(Object.entries(atom).filter(([keyword]) => OF_ONE.includes(keyword))))
    .filter((atom) => Object.keys(atom).length > 0);
  const root: JsonObject = { allOf };
  return selfContained({ ...described, root });
}
