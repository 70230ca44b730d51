import { isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { type InputIssue, pointerOf } from '../../shared/json/pointer.js';
import { attributesOf, type ModelAttribute } from '../json-schema/attributes.js';
import { exampleEntity } from '../json-schema/example-entity.js';
import type { Preferred } from '../json-schema/example-maker.js';
import { exampleOf } from '../json-schema/example.js';
import { resolveWith } from '../json-schema/references.js';
import { createValidator } from '../json-schema/validator.js';
import { validateInLikelyForm } from './choose-form.js';
import { prepareModel } from './model.js';
import { Spelling } from './spelling.js';

export interface ExampleInput {
  /** Self-contained. */
  readonly schema: JsonObject;
  /** The name of the model: the type of the example unless the schema has another, and part of its id. */
  readonly entityType: string;
}

/** An example in key-values form, and what is wrong with it: nothing when one was found that is valid. */
export interface MadeExample {
  readonly example: JsonValue;
  readonly faults: readonly InputIssue[];
  /** What is wrong with the same entity as brokers take it; see `exampleEntity`. */
  readonly normalizedFaults: readonly InputIssue[];
}

/** A fault of an example, as validators say it. */
interface Fault {
  readonly instancePath: string;
  readonly message?: string;
}

/** Tasks on examples that run in a worker because they compile schemas and execute patterns. */
export const exampleTasks = {
  /**
   * An example of a model, as an entity in key-values form; see `exampleOf`. It passes validation in this form and
   * normalized where there is such an example: a schema and the kinds of its attributes may exclude each other, e.g. in a
   * Relationship that is a number. Such an attribute is left out where it can be; else the example is one by the schema.
   */
  makeExample({ schema, entityType }: ExampleInput): MadeExample {
    const validate = createValidator(resolveWith(schema));
    const model = prepareModel(entityType, schema);
    const { attributes } = attributesOf(schema);
    const preferred = preferredFor(attributes, entityType, model.types);
    const errorsOf = (entity: JsonObject): readonly Fault[] =>
      validateInLikelyForm(entity, model, {}, new Spelling()).errors.map(({ tokens, say }) => ({
        instancePath: pointerOf(tokens),
        message: say(),
      }));
    const asKeyValues = (example: JsonValue) => [
      ...validate(example),
      ...(isObject(example) ? errorsOf(example) : [NO_OBJECT]),
    ];
    // Faults of the normalized form are within attributes, which have the same names in both.
    const asNormalized = (example: JsonValue) =>
      isObject(example) ? errorsOf(exampleEntity(example, attributes)) : [NO_OBJECT];
    const inBoth = (example: JsonValue) => [...asKeyValues(example), ...asNormalized(example)];
    let best = exampleOf<Fault>(schema, { preferred, check: inBoth });
    // No entity may be valid, or none as brokers take it: the schema says at least what one would look like.
    for (const check of [asKeyValues, validate])
      if (best.faults.length > 0) best = exampleOf<Fault>(schema, { preferred, check });
    const { example } = best;
    return {
      example,
      faults: asKeyValues(example).map(issueOf),
      normalizedFaults: asNormalized(example).map(issueOf),
    };
  },
};

const NO_OBJECT: Fault = { instancePath: '', message: 'must be an entity, an object' };

export type ExampleTasks = typeof exampleTasks;

function issueOf({ instancePath, message }: Fault): InputIssue {
  return { pointer: instancePath, detail: message ?? 'is not valid' };
}

/** What an entity has beside what its schema asks for: an id, its type, and URIs where it refers to others. */
function preferredFor(
  attributes: readonly Pick<ModelAttribute, 'name' | 'kind'>[],
  model: string,
  types: readonly string[],
): Preferred {
  const relationships = attributes.filter(({ kind }) => kind === 'Relationship');
  return new Map<string, readonly JsonValue[]>([
    ['id', [uriOf(model)]],
    ['type', types.flatMap((type) => [type, [type]])],
    ...relationships.map(({ name }) => [name, [uriOf(typeFor(name)), [uriOf(typeFor(name))]]] as const),
  ]);
}

function uriOf(type: string): string {
  return `urn:ngsi-ld:${type}:001`;
}

/** The type that the name of a relationship suggests: `refDevice` and `hasDevice` lead to a Device. */
function typeFor(name: string): string {
  const word = name.replace(/^(?:ref|has|is)(?=[A-Z])/, '').replaceAll(/[^A-Za-z0-9]/g, '');
  return word === '' ? 'Entity' : `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
