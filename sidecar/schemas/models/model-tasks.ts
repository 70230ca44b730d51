import type { JsonObject, JsonValue } from '../../shared/json/json.js';
import { parseJson, withDoubles, writeJson } from '../../shared/json/lossless-json.js';
import { namesInSchema } from '../json-ld/generated-context.js';
import { attributesOf, type ModelAttribute } from '../json-schema/attributes.js';
import { bundle } from '../json-schema/bundle.js';
import { type SchemaRefusal, SchemaRefusedError } from '../json-schema/errors.js';
import { Facts } from '../json-schema/facts.js';
import type { LinkedSchema } from '../json-schema/linker.js';
import { resolveWith } from '../json-schema/references.js';
import { usabilityFaults } from '../json-schema/usability.js';
import { modelOpenApi, type ModelOpenApiInput } from '../openapi/model-openapi.js';
import type { Refused, TaskRefusal } from '../../shared/task-answer.js';

/** A model's schema and the documents that it refers to, as texts of JSON. */
export interface ModelSource {
  readonly schema: string;
  readonly documents: readonly (readonly [uri: string, text: string])[];
}

/** What an OpenAPI document is made from, with texts of JSON, since exact numbers do not cross threads. */
export type OpenApiTexts = Omit<ModelOpenApiInput, 'schema' | 'example'> & {
  readonly schema: string;
  readonly example?: string;
};

/** What everything else about a model version is made from. */
export interface ModelDescription {
  /** Text of the self-contained schema. */
  readonly bundled: string;
  readonly attributes: readonly Pick<ModelAttribute, 'name' | 'kind'>[];
  /** Names of attributes, and of the members of their values at any depth. */
  readonly names: readonly string[];
  /** The only values that the entity's `type` can have, where the schema lists them. */
  readonly types: readonly JsonValue[] | undefined;
}

/** Tasks on models that are run in a worker: on schemas as large as they may be, each takes a good part of a second. */
export const modelTasks = {
  /** Checks a schema before it becomes a version of a model, and describes it. */
  acceptModel(source: ModelSource): ModelDescription | Refused<SchemaRefusal> {
    return orRefusal(() => {
      const linked = linkedOf(source);
      const faults = usabilityFaults(linked);
      if (faults.length > 0)
        throw new SchemaRefusedError('schemaInvalid', 'The schema is not valid.', faults);
      return descriptionOf(bundle(linked));
    });
  },

  /** Describes a version of a model, which was accepted before. */
  describeModel(source: ModelSource): ModelDescription | Refused<SchemaRefusal> {
    return orRefusal(() => descriptionOf(bundle(linkedOf(source))));
  },

  /** Text of the OpenAPI document of a model; see `modelOpenApi`. */
  modelOpenApi({ schema, example, ...others }: OpenApiTexts): string {
    const parts = {
      schema: parseJson(schema) as JsonObject,
      ...(example === undefined ? {} : { example: parseJson(example) as JsonObject }),
    };
    return writeJson(modelOpenApi({ ...others, ...parts }));
  },
};

export type ModelTasks = typeof modelTasks;

function linkedOf({ schema, documents }: ModelSource): LinkedSchema {
  const parsed = new Map(documents.map(([uri, text]) => [uri, parseJson(text) as JsonValue]));
  return resolveWith(parseJson(schema) as JsonObject, parsed);
}

function orRefusal<Result>(work: () => Result): Result | Refused<SchemaRefusal> {
  try {
    return work();
  } catch (error) {
    return { refused: refusalOf(error) };
  }
}

function refusalOf(error: unknown): TaskRefusal<SchemaRefusal> {
  if (error instanceof SchemaRefusedError) {
    const { kind, message, errors } = error;
    return { kind, detail: message, errors };
  }
  if (!(error instanceof RangeError)) throw error;
  const detail = 'schemas are nested, or refer to each other, too deeply';
  return {
    kind: 'schemaTooLarge',
    detail: `The schema is too large: ${detail}.`,
    errors: [{ pointer: '', detail }],
  };
}

function descriptionOf(bundled: JsonObject): ModelDescription {
  const { root, targets, attributes } = attributesOf(bundled);
  const type = new Facts([root], targets).property('type');
  return {
    bundled: writeJson(bundled),
    attributes: attributes.map(({ name, kind }) => ({ name, kind })),
    names: namesInSchema(bundled),
    types: new Facts(type, targets).values?.map(withDoubles),
  };
}
