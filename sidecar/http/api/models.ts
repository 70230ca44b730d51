import type { SchemaService } from '../../schemas/models/index.js';
import type { ModelKey } from '../../store/records.js';
import type { ProblemName } from '../problem-kinds.js';
import { created, derived, NO_CONTENT, ok, page } from './answer.js';
import { expectedOf, writeOptions } from './conditions.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { withLifecycle } from './lifecycle.js';
import {
  MODEL,
  MODEL_CHANGE,
  MODEL_DIFF,
  MODEL_DRY_RUN,
  MODEL_SUMMARY,
  MODEL_VERSION,
  modelDryRunJson,
  modelJson,
  modelSummaryJson,
  NEW_MODEL,
  UPDATED_MODEL,
  versionJson,
} from './model-representation.js';
import { PAGE, parameters, VERSION, VERSION_RANGE } from './parameters.js';
import { apiUrl } from './routes.js';

const tag = 'Models';
const MODELS = '/domains/:domain/models';
const DRY_RUN = {
  type: 'boolean',
  default: false,
  description: 'Check and compare, and write nothing.',
} as const;

const PART = {
  type: 'string',
  maxLength: 200,
  description:
    'A part of the name, the description, an attribute or a type of a model, in capital or small letters.',
} as const;

const TYPE = { type: 'string', maxLength: 512, description: 'A type of the entities of a model.' } as const;

const ATTRIBUTE = {
  type: 'string',
  maxLength: 512,
  description: 'The name of an attribute that a model describes.',
} as const;

/** Problems of a schema that is not accepted. */
const SCHEMA_PROBLEMS = [
  'schemaInvalid',
  'schemaDialectUnsupported',
  'schemaTooLarge',
  'schemaReferenceDangling',
  'schemaNotConvertible',
  'schemaTooCostly',
  'dependencyChanged',
  'busy',
] as const satisfies readonly ProblemName[];

/** Models: JSON Schemas with their versions. */
export function modelEndpoints(schemas: SchemaService): readonly Endpoint[] {
  const { store, models, comparison, lifecycles } = schemas;
  return [
    endpoint({
      method: 'GET',
      path: '/models',
      id: 'searchModels',
      tag,
      summary: 'Search the models of all domains',
      description: 'Models that meet all of the parameters; all models without any.',
      query: parameters({ q: PART, type: TYPE, attribute: ATTRIBUTE, ...PAGE }),
      answers: {
        200: {
          description: 'Models by domain and name.',
          content: { 'application/json': { type: 'array', items: MODEL_SUMMARY } },
          isPage: true,
        },
      },
      problems: ['busy'],
      handle: async ({ query, baseUrl }) => {
        const { limit, offset, ...filter } = query;
        const { items, total } = await store.models.search(filter, { limit, offset });
        return page(items.map(modelSummaryJson), total, query, apiUrl(baseUrl, 'models'));
      },
    }),
    endpoint({
      method: 'GET',
      path: MODELS,
      id: 'listModels',
      tag,
      summary: 'List the models of a domain',
      query: parameters(PAGE),
      answers: {
        200: {
          description: 'Models by name.',
          content: { 'application/json': { type: 'array', items: MODEL_SUMMARY } },
          isPage: true,
        },
      },
      handle: async ({ params: { domain }, query, baseUrl }) => {
        const { items, total } = await store.models.list(domain, query);
        return page(items.map(modelSummaryJson), total, query, apiUrl(baseUrl, 'domains', domain, 'models'));
      },
    }),
    endpoint({
      method: 'POST',
      path: MODELS,
      id: 'createModel',
      tag,
      summary: 'Create a model from a JSON Schema',
      description:
        'Documents that its `$ref`s name are taken from the references, else fetched once from allowed origins.',
      query: parameters({ dryRun: DRY_RUN }),
      body: NEW_MODEL,
      answers: {
        200: {
          description: 'What a dry run found.',
          content: { 'application/json': MODEL_DRY_RUN },
        },
        201: { description: 'The new model.', content: { 'application/json': MODEL } },
      },
      problems: ['alreadyExists', 'contextInvalid', ...SCHEMA_PROBLEMS],
      handle: async ({ params: { domain }, query: { dryRun }, body, baseUrl }) => {
        const written = await models.create(domain, body, { dryRun, baseUrl });
        if (written.model === undefined) return derived(modelDryRunJson(written));
        const { model } = written.model;
        return created(modelUrl(baseUrl, model), modelJson(written.model), model.etag);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${MODELS}/:model`,
      id: 'getModel',
      tag,
      summary: 'Read a model at its current version, or at another',
      query: parameters(VERSION),
      answers: { 200: { description: 'The model.', content: { 'application/json': MODEL } } },
      handle: async ({ params, query: { version } }) => {
        const found = await store.models.texts(keyOf(params), version);
        const { model } = found;
        if (version === undefined) return withLifecycle(ok(modelJson(found), model.etag), model);
        const { description } = found.version;
        // No write takes the ETag of an older version for that of the model.
        const older = ok(
          modelJson({ ...found, model: { ...model, description } }),
          `${model.etag}.v${version}`,
        );
        return withLifecycle(older, model);
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${MODELS}/:model`,
      id: 'updateModel',
      tag,
      summary: 'Update a model, or create it',
      description:
        'Makes a new version if the schema, a document that it refers to, or the context has changed; that of a draft takes the place of the one before it. Without a schema, the model keeps its own.',
      query: parameters({ dryRun: DRY_RUN }),
      body: MODEL_CHANGE,
      answers: {
        200: {
          description: 'The updated model and its changes, or the changes that a dry run found.',
          content: { 'application/json': { oneOf: [UPDATED_MODEL, MODEL_DRY_RUN] } },
        },
        201: { description: 'The new model.', content: { 'application/json': UPDATED_MODEL } },
      },
      problems: ['incompatibleChange', 'modelPublished', 'contextInvalid', ...SCHEMA_PROBLEMS],
      isConditional: true,
      handle: async ({ params, query: { dryRun }, body, conditions, baseUrl }) => {
        const key = keyOf(params);
        const written = await models.put(key, body, { expected: expectedOf(conditions), dryRun, baseUrl });
        if (written.model === undefined) return derived(modelDryRunJson(written));
        const { etag } = written.model.model;
        if (dryRun) return ok(modelDryRunJson(written), etag);
        const { outcome, change } = written;
        const json = { ...modelJson(written.model), outcome, change };
        return outcome === 'created' ? created(modelUrl(baseUrl, key), json, etag) : ok(json, etag);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${MODELS}/:model`,
      id: 'deleteModel',
      tag,
      summary: 'Delete a model, all its versions and its context',
      answers: { 204: { description: 'Deleted.' } },
      problems: ['inUse'],
      isConditional: true,
      handle: async ({ params, conditions }) => {
        const key = keyOf(params);
        const { ifMatch } = await writeOptions(conditions, () => store.models.get(key));
        await store.models.delete(key, ifMatch);
        return NO_CONTENT;
      },
    }),
    endpoint({
      method: 'GET',
      path: `${MODELS}/:model/versions`,
      id: 'listModelVersions',
      tag,
      summary: 'List the versions of a model',
      query: parameters(PAGE),
      answers: {
        200: {
          description: 'Versions, oldest first.',
          content: { 'application/json': { type: 'array', items: MODEL_VERSION } },
          isPage: true,
        },
      },
      handle: async ({ params, query, baseUrl }) => {
        const key = keyOf(params);
        const lifecycle = await lifecycles.of(key);
        const { items, total } = await store.models.versions(key, query);
        const list = page(items.map(versionJson), total, query, `${modelUrl(baseUrl, key)}/versions`);
        return withLifecycle(list, lifecycle);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${MODELS}/:model/versions/diff`,
      id: 'diffModelVersions',
      tag,
      summary: 'Compare two versions of a model',
      query: parameters(VERSION_RANGE),
      answers: {
        200: {
          description: 'The change report, and where the schemas differ.',
          content: { 'application/json': MODEL_DIFF },
        },
      },
      problems: ['busy'],
      handle: async ({ params, query, baseUrl }) => {
        const key = keyOf(params);
        const lifecycle = await lifecycles.of(key);
        return withLifecycle(derived(await comparison.diff(key, { ...query, baseUrl })), lifecycle);
      },
    }),
  ];
}

function keyOf({ domain, model }: { readonly domain: string; readonly model: string }): ModelKey {
  return { domain, name: model };
}

function modelUrl(baseUrl: string, { domain, name }: ModelKey): string {
  return apiUrl(baseUrl, 'domains', domain, 'models', name);
}
