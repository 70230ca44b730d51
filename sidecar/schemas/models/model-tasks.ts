import type { JsonObject } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import type { TaskRunner } from '../../shared/workers/tasks.js';
import type { JsonLdTasks } from '../json-ld/tasks.js';
import { bundle, parsedSchema } from '../json-schema/bundle.js';
import type { RefusedSchema } from '../json-schema/errors.js';
import type { SchemaTasks } from '../json-schema/tasks.js';
import { modelOpenApi, type ModelOpenApiInput } from '../openapi/model-openapi.js';
import type { ExampleTasks } from '../validation/tasks.js';
import {
  acceptVersion,
  descriptionOf,
  resolveSchema,
  type ModelDescription,
  type ModelSource,
  catchSchemaRefusal,
} from './accept-version.js';

/** The input for an OpenAPI document, as JSON texts, because exact numbers cannot be passed between threads. */
export type OpenApiTexts = Omit<ModelOpenApiInput, 'schema' | 'example'> & {
  readonly schema: string;
  readonly example?: string | undefined;
};

/** Tasks on models that run in a worker, because each takes a considerable part of a second for the largest schemas. */
export const modelTasks = {
  /** See {@link acceptVersion}. */
  acceptVersion,

  /** Describes a version of a model that was accepted earlier. */
  describeModel({ schema, documents }: ModelSource): ModelDescription | RefusedSchema {
    return catchSchemaRefusal(() =>
      descriptionOf(bundle(resolveSchema(parseJson(schema) as JsonObject, documents))),
    );
  },

  /** Returns the text of the OpenAPI document of a model; see `modelOpenApi`. */
  modelOpenApi({ schema, example, ...others }: OpenApiTexts): string {
    const parts = {
      schema: parsedSchema(schema),
      ...(example === undefined ? {} : { example: parseJson(example) as JsonObject }),
    };
    return JSON.stringify(modelOpenApi({ ...others, ...parts }));
  },
};

type ModelTasks = typeof modelTasks;

/** The worker tasks that this folder uses. */
export type ServiceWorkers = TaskRunner<SchemaTasks & ModelTasks & JsonLdTasks & ExampleTasks>;
