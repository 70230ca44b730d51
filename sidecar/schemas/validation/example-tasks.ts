import {
  type InputIssue,
  isObject,
  type JsonObject,
  type JsonValue,
  pointerOf,
} from '../../shared/json/json.js';
import { parseJson, writeJson } from '../../shared/json/lossless-json.js';
import { attributesOf } from '../json-schema/attributes.js';
import { exampleEntity, exampleOf } from '../json-schema/example.js';
import { preferredFor } from '../json-schema/example-maker.js';
import { resolveWith } from '../json-schema/linker.js';
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

/** The same as texts of JSON, since exact numbers do not cross threads. */
export type ExampleTexts = Omit<ExampleInput, 'schema'> & { readonly schema: string };
export type MadeExampleText = Omit<MadeExample, 'example'> & { readonly example: string };

/** Tasks on examples that run in a worker because they compile schemas and execute patterns. */
export const exampleTasks = {
  /** See {@link exampleFor}. */
  makeExample({ schema, entityType }: ExampleTexts): MadeExampleText {
    const made = exampleFor({ schema: parseJson(schema) as JsonObject, entityType });
    return { ...made, example: writeJson(made.example) };
  },
};

/**
 * An example of a model, as an entity in key-values form; see `exampleOf`. It passes validation in this form and
 * normalized where there is such an example: a schema and the kinds of its attributes may exclude each other, e.g. in a
 * Relationship that is a number. Such an attribute is left out where it can be; else the example is one by the schema.
 */
export function exampleFor({ schema, entityType }: ExampleInput): MadeExample {
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
}

const NO_OBJECT: Fault = { instancePath: '', message: 'must be an entity, an object' };

export type ExampleTasks = typeof exampleTasks;

function issueOf({ instancePath, message }: Fault): InputIssue {
  return { pointer: instancePath, detail: message ?? 'is not valid' };
}
