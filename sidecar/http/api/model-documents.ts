import { Type } from 'typebox';
import type { ModelDocumentKind, ModelFile, SchemaService } from '../../schemas/models/index.js';
import type { ModelKey } from '../../store/index.js';
import { document, page, withLifecycle } from './answer.js';
import {
  ANY_JSON,
  Closed,
  content,
  COUNT,
  Flag,
  json,
  list,
  MODEL_PATH,
  PAGE,
  Query,
  SHA256,
  TEXT,
  URL_TEXT,
  VERSION,
  type WrittenOf,
} from './schemas.js';
import { modelKey, modelUrl } from './model-representation.js';
import type { Api } from './routes.js';

const tag = 'Documents of a model';
const MODEL = '/domains/:domain/models/:model';
const BUNDLED = Flag('Self-contained, of draft 2020-12, with all the documents that it refers to.');

const FILE_PATH = Type.Object({
  ...MODEL_PATH.properties,
  file: Type.String({ description: 'Name of a file, as the list of files has it.' }),
});

/** The routes of the documents generated from a model, and of its files. */
export function modelDocumentRoutes(api: Api, { documents, files, cachedModels }: SchemaService): void {
  const read = async (
    key: ModelKey,
    kind: ModelDocumentKind,
    version: number | undefined,
    baseUrl: string,
  ) => {
    const found = await documents.of(key, kind, { version, baseUrl });
    return withLifecycle(document(found), found.lifecycle);
  };

  api.get(`${MODEL}/schema`, {
    schema: {
      tags: [tag],
      operationId: 'getModelSchema',
      summary: 'The JSON Schema of a model',
      params: MODEL_PATH,
      querystring: Query({ ...VERSION, bundled: BUNDLED }),
      response: { 200: content('As it was given, or bundled.', { 'application/schema+json': ANY_JSON }) },
    },
    handler: async ({ params, query: { version, bundled }, baseUrl }) =>
      await read(modelKey(params), bundled ? 'bundled' : 'schema', version, baseUrl),
  });

  api.get(`${MODEL}/openapi`, {
    schema: {
      tags: [tag],
      operationId: 'getModelOpenapi',
      summary: 'OpenAPI 3.1 of NGSI-LD on entities of a model',
      params: MODEL_PATH,
      querystring: Query(VERSION),
      response: { 200: json('Self-contained.', ANY_JSON) },
    },
    handler: async ({ params, query: { version }, baseUrl }) =>
      await read(modelKey(params), 'openapi', version, baseUrl),
  });

  api.get(`${MODEL}/context`, {
    schema: {
      tags: [tag],
      operationId: 'getModelContext',
      summary: 'The JSON-LD context of a model',
      params: MODEL_PATH,
      querystring: Query(VERSION),
      response: { 200: content('With the core context last.', { 'application/ld+json': ANY_JSON }) },
    },
    config: { isCrossOrigin: true },
    handler: async ({ params, query: { version }, baseUrl }) =>
      await read(modelKey(params), 'context', version, baseUrl),
  });

  api.get(`${MODEL}/files`, {
    schema: {
      tags: [tag],
      operationId: 'listModelFiles',
      summary: 'List the files of a model',
      params: MODEL_PATH,
      querystring: Query({ ...VERSION, ...PAGE }),
      response: { 200: list('A page of them; documents that the schema refers to come last.', MODEL_FILE) },
    },
    handler: async ({ params, query, baseUrl }) => {
      const key = modelKey(params);
      const { version, limit, offset } = query;
      const { model } = await cachedModels.of(key);
      const all = await files.list(key, { version, baseUrl });
      const url = modelUrl(baseUrl, key, 'files');
      const items = all.slice(offset, offset + limit).map((file) => fileJson(file, url, version));
      return withLifecycle(page(items, all.length, query, url), model);
    },
  });

  api.get(`${MODEL}/files/:file`, {
    schema: {
      tags: [tag],
      operationId: 'getModelFile',
      summary: 'One file of a model',
      params: FILE_PATH,
      querystring: Query(VERSION),
      response: {
        200: content('With the media type that the list of files gives.', {
          'application/json': ANY_JSON,
          'application/schema+json': ANY_JSON,
          'application/ld+json': ANY_JSON,
        }),
      },
    },
    handler: async ({ params, query: { version }, baseUrl }) => {
      const key = modelKey(params);
      const { model } = await cachedModels.of(key);
      const file = await files.get(key, params.file, { version, baseUrl });
      return withLifecycle(document(file), model);
    },
  });
}

const MODEL_FILE = Closed('ModelFile', {
  name: TEXT,
  mediaType: TEXT,
  size: { ...COUNT, description: 'In bytes.' },
  sha256: SHA256,
  uri: Type.Optional({
    ...TEXT,
    description: 'What the `$ref`s say, for a document that the schema refers to.',
  }),
  url: { ...URL_TEXT, description: 'Where the file is.' },
});

/** @param filesUrl absolute URL of the list of files */
function fileJson(file: ModelFile, filesUrl: string, version?: number): WrittenOf<typeof MODEL_FILE> {
  const query = version === undefined ? '' : `?version=${version}`;
  return { ...file, url: `${filesUrl}/${encodeURIComponent(file.name)}${query}` };
}
