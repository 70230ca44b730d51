import type { SchemaService } from '../../schemas/models/index.js';
import {
  type Answer,
  okWithContentETag,
  document,
  expectedStateOf,
  NO_CONTENT,
  ok,
  page,
  withLifecycle,
  preconditionsOfExisting,
} from './answer.js';
import {
  MODEL,
  MODEL_CHANGE,
  MODEL_DIFF,
  MODEL_DRY_RUN,
  MODEL_SUMMARY,
  MODEL_VERSION,
  modelDryRunJson,
  modelKey,
  modelSummaryJson,
  modelText,
  modelUrl,
  NEW_MODEL,
  UPDATED_MODEL,
  updatedModelText,
  versionJson,
} from './model-representation.js';
import {
  DOMAIN_PATH,
  empty,
  Flag,
  json,
  list,
  MODEL_PATH,
  PAGE,
  Query,
  TextParameter,
  VERSION,
  VersionParameter,
} from './schemas.js';
import { type Api, apiUrl } from './routes.js';

const tag = 'Models';
const MODELS = '/domains/:domain/models';
const DRY_RUN = Flag('Check and compare, and write nothing.');

const FILTER = {
  q: TextParameter(
    200,
    'A part of the name, the description, an attribute or a type of a model, in capital or small letters.',
  ),
  type: TextParameter(512, 'A type of the entities of a model.'),
  attribute: TextParameter(512, 'The name of an attribute that a model describes.'),
};

/** The two versions to compare. */
const VERSION_RANGE = {
  from: VersionParameter('the one before `to`'),
  to: VersionParameter('the current one'),
};

/** The routes of models: JSON Schemas with their versions. */
export function modelRoutes(api: Api, { store, models, comparison, cachedModels }: SchemaService): void {
  api.get('/models', {
    schema: {
      tags: [tag],
      operationId: 'searchModels',
      summary: 'Search the models of all domains',
      description: 'Models that match all of the parameters; all models if none is given.',
      querystring: Query({ ...FILTER, ...PAGE }),
      response: { 200: list('Models by domain and name.', MODEL_SUMMARY) },
    },
    handler: async ({ query, baseUrl }) => {
      const { limit, offset, ...filter } = query;
      const { items, total } = await store.models.search(filter, { limit, offset });
      return page(items.map(modelSummaryJson), total, query, apiUrl(baseUrl, 'models'));
    },
  });

  api.get(MODELS, {
    schema: {
      tags: [tag],
      operationId: 'listModels',
      summary: 'List the models of a domain',
      params: DOMAIN_PATH,
      querystring: Query(PAGE),
      response: { 200: list('Models by name.', MODEL_SUMMARY) },
    },
    handler: async ({ params: { domain }, query, baseUrl }) => {
      const { items, total } = await store.models.list(domain, query);
      return page(items.map(modelSummaryJson), total, query, apiUrl(baseUrl, 'domains', domain, 'models'));
    },
  });

  api.post(MODELS, {
    schema: {
      tags: [tag],
      operationId: 'createModel',
      summary: 'Create a model from a JSON Schema',
      description:
        'Documents that its `$ref`s name are taken from the references, or else fetched once from allowed origins.',
      params: DOMAIN_PATH,
      querystring: Query({ dryRun: DRY_RUN }),
      body: NEW_MODEL,
      response: {
        200: json('What a dry run found.', MODEL_DRY_RUN),
        201: json('The new model.', MODEL),
      },
    },
    handler: async ({ params: { domain }, query: { dryRun }, body, baseUrl, caller }) => {
      const written = await models.create(domain, body, { dryRun, baseUrl, caller: caller.name });
      if (written.model === undefined) return okWithContentETag(modelDryRunJson(written));
      const { model } = written.model;
      return createdModel(modelUrl(baseUrl, model), modelText(written.model), model.etag);
    },
  });

  api.get(`${MODELS}/:model`, {
    schema: {
      tags: [tag],
      operationId: 'getModel',
      summary: 'Read a model at its current version, or at another',
      params: MODEL_PATH,
      querystring: Query(VERSION),
      response: { 200: json('The model.', MODEL) },
    },
    handler: async ({ params, query: { version } }) => {
      const found = await store.models.texts(modelKey(params), version);
      const { model } = found;
      if (version === undefined) return withLifecycle(modelAnswer(modelText(found), model.etag), model);
      const { description } = found.version;
      const older = modelText({ ...found, model: { ...model, description } });
      // The ETag of an older version must not match that of the model in a write.
      return withLifecycle(modelAnswer(older, `${model.etag}.v${version}`), model);
    },
  });

  api.put(`${MODELS}/:model`, {
    schema: {
      tags: [tag],
      operationId: 'updateModel',
      summary: 'Update a model, or create it',
      description:
        'Makes a new version if the schema, a document that it refers to, or the context has changed; ' +
        'that of a draft takes the place of the one before it. Without a schema, the model keeps its own.',
      params: MODEL_PATH,
      querystring: Query({ dryRun: DRY_RUN }),
      body: MODEL_CHANGE,
      response: {
        200: json('The updated model and its changes, or the changes that a dry run found.', {
          oneOf: [UPDATED_MODEL, MODEL_DRY_RUN],
        }),
        201: json('The new model.', UPDATED_MODEL),
      },
    },
    config: { isConditional: true },
    handler: async ({ params, query: { dryRun }, body, conditions, baseUrl, caller }) => {
      const key = modelKey(params);
      const options = { expected: expectedStateOf(conditions), dryRun, baseUrl, caller: caller.name };
      const written = await models.put(key, body, options);
      if (written.model === undefined) return okWithContentETag(modelDryRunJson(written));
      const { etag } = written.model.model;
      if (dryRun) return ok(modelDryRunJson(written), etag);
      const text = updatedModelText(written.model, written);
      const isNew = written.outcome === 'created';
      return isNew ? createdModel(modelUrl(baseUrl, key), text, etag) : modelAnswer(text, etag);
    },
  });

  api.delete(`${MODELS}/:model`, {
    schema: {
      tags: [tag],
      operationId: 'deleteModel',
      summary: 'Delete a model, all its versions and its context',
      params: MODEL_PATH,
      response: { 204: empty('Deleted.') },
    },
    config: { isConditional: true },
    handler: async ({ params, conditions }) => {
      const key = modelKey(params);
      const { ifMatch } = await preconditionsOfExisting(conditions, () => store.models.get(key));
      await store.models.delete(key, ifMatch);
      return NO_CONTENT;
    },
  });

  api.get(`${MODELS}/:model/versions`, {
    schema: {
      tags: [tag],
      operationId: 'listModelVersions',
      summary: 'List the versions of a model',
      params: MODEL_PATH,
      querystring: Query({ version: VersionParameter('all of them'), ...PAGE }),
      response: { 200: list('Versions, oldest first.', MODEL_VERSION) },
    },
    handler: async ({ params, query, baseUrl }) => {
      const key = modelKey(params);
      const { model } = await cachedModels.of(key);
      const { version } = query;
      const { items, total } =
        version === undefined
          ? await store.models.versions(key, query)
          : { items: [(await store.models.get(key, version)).version].slice(query.offset), total: 1 };
      const list = page(items.map(versionJson), total, query, modelUrl(baseUrl, key, 'versions'));
      return withLifecycle(list, model);
    },
  });

  api.get(`${MODELS}/:model/versions/diff`, {
    schema: {
      tags: [tag],
      operationId: 'diffModelVersions',
      summary: 'Compare two versions of a model',
      params: MODEL_PATH,
      querystring: Query(VERSION_RANGE),
      response: { 200: json('The change report, and where the schemas differ.', MODEL_DIFF) },
    },
    handler: async ({ params, query, baseUrl }) => {
      const key = modelKey(params);
      const { model } = await cachedModels.of(key);
      return withLifecycle(okWithContentETag(await comparison.diff(key, { ...query, baseUrl })), model);
    },
  });
}

function modelAnswer(json: string, etag: string): Answer {
  return document({ bytes: Buffer.from(json), mediaType: 'application/json', etag });
}

function createdModel(url: string, json: string, etag: string): Answer {
  return { ...modelAnswer(json, etag), status: 201, headers: { location: url } };
}
