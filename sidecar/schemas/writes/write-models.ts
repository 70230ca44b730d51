import { NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import { isArray, type JsonObject, type JsonValue, objectOf } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { coreIriOf } from '../json-ld/core-context.js';
import type { Names } from '../json-ld/names.js';
import { attributesOf } from '../json-schema/attributes.js';
import { ValueConstraints } from '../json-schema/value-constraints.js';
import { toSelfContained } from '../json-schema/flatten.js';
import { compiledModel, type KeyedModel, type Model, prepareModel } from '../validation/model.js';

/** A model for judging writes, with the meanings of its names. */
export interface WriteModel {
  /** `domain/model`. */
  readonly title: string;
  readonly whole: Model;
  /** The same model without conditions that concern several attributes. */
  readonly fragment: Model;
  /** Attributes that every valid entity has. */
  readonly required: ReadonlySet<string>;
  /** The names of its attributes, by their IRIs. */
  readonly attributes: ReadonlyMap<string, string>;
  /** The names of its types, by their IRIs. */
  readonly types: ReadonlyMap<string, string>;
  /** What its schema may say something about: the names of all members in it, and all texts in lists, such as `required`. */
  readonly mentioned: ReadonlySet<string>;
  /**
   * Whether a member of a value that brokers store under an IRI may be another one than the model judged: its schema may
   * say something about the name, or about a name that the IRI has in its @context, or that is one of the core context.
   */
  mayConfuse(name: string, iri: string | undefined): boolean;
}

/** A model without the meanings of its names. */
export type CompiledWriteModel = Pick<WriteModel, 'whole' | 'fragment' | 'required' | 'mentioned'>;

/** The compiled write models of this worker, kept as long as the models they belong to. */
const compiled = new WeakMap<Model, CompiledWriteModel>();

/**
 * Compiles a model, unless this worker has already done so.
 *
 * @throws {SchemaRefusedError | RangeError} for a schema that cannot be used
 */
export function compileWriteModel(one: KeyedModel, text: string): CompiledWriteModel {
  const whole = compiledModel(one, text);
  const known = compiled.get(whole);
  if (known !== undefined) return known;
  const schema = parseJson(text) as JsonObject;
  const { flat, firstFault } = prepareModel(one.name, fragmentSchema(schema));
  const required = new ValueConstraints([whole.flat.root], whole.flat.targets).required;
  const model = {
    whole,
    fragment: { ...whole, flat, firstFault, seesContext: false, assumedContext: undefined },
    required: new Set([...required].filter((name) => !NON_ATTRIBUTE_MEMBERS.has(name))),
    mentioned: new Set(textsIn(schema)),
  };
  compiled.set(whole, model);
  return model;
}

/** Adds the meanings of its names to a model. */
export function withIris(title: string, compiled: CompiledWriteModel, names: Names): WriteModel {
  const meaningOf = (name: string) => [names.iriOf(name) ?? name, name] as const;
  const { whole, mentioned } = compiled;
  const isKnown = (name: string) => mentioned.has(name) || coreIriOf(name) !== undefined;
  const hasPatterns = PATTERN_KEYWORDS.some((keyword) => mentioned.has(keyword));
  return {
    title,
    ...compiled,
    attributes: new Map([...whole.attributes.keys()].map(meaningOf)),
    types: new Map(whole.types.map(meaningOf)),
    mayConfuse: (name, iri) =>
      names.iriOf(name) !== iri &&
      (hasPatterns || iri === undefined || [name, ...names.namesOf(iri)].some(isKnown)),
  };
}

/** Keywords that say something about names without mentioning them. */
const PATTERN_KEYWORDS = ['patternProperties', 'propertyNames'];

/** The names of all members of a schema, and the texts in its lists. */
function* textsIn(part: JsonValue): Iterable<string> {
  if (typeof part !== 'object' || part === null) return;
  const members: readonly (readonly [name: string, inner: JsonValue])[] = Object.entries(part);
  for (const [name, inner] of members) {
    yield isArray(part) && typeof inner === 'string' ? inner : name;
    yield* textsIn(inner);
  }
}

/** Keywords that concern single attributes, whatever the other attributes are. */
const ATTRIBUTE_KEYWORDS = [
  'type',
  'properties',
  'patternProperties',
  'additionalProperties',
  'propertyNames',
];

/** The schema for some attributes of an entity: the conditions on single attributes that apply to all entities. */
function fragmentSchema(schema: JsonObject): JsonObject {
  const described = attributesOf(schema);
  const { atoms } = new ValueConstraints([described.root], described.targets);
  const allOf = atoms
    .map((atom) => objectOf(Object.entries(atom).filter(([keyword]) => ATTRIBUTE_KEYWORDS.includes(keyword))))
    .filter((atom) => Object.keys(atom).length > 0);
  const root: JsonObject = { allOf };
  return toSelfContained({ ...described, root });
}
