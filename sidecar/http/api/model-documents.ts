import type { ModelDocumentKind, ModelFile, SchemaService } from '../../schemas/models/index.js';
import type { ModelKey } from '../../store/records.js';
import { type Answer, document, page } from './answer.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { withLifecycle } from './lifecycle.js';
import { PAGE, parameters, VERSION } from './parameters.js';
import { apiUrl } from './routes.js';
import { COUNT, SHA256, TEXT, URL_TEXT, type JsonSchema, type TypeOf } from './schema-types.js';

const tag = 'Documents of a model';
const MODEL = '/domains/:domain/models/:model';
const BUNDLED = {
  type: 'boolean',
  default: false,
  description: 'Self-contained, of draft 2020-12, with all the documents that it refers to.',
} as const;

const ANY_JSON: JsonSchema = { description: 'A JSON document.' };

/** What a model is turned into, and its files. */
export function modelDocumentEndpoints(schemas: SchemaService): readonly Endpoint[] {
  const { documents, files, lifecycles } = schemas;
  const about = async (key: ModelKey, answer: (key: ModelKey) => Promise<Answer>) => {
    // First: what is read of a draft afterwards may still change.
    const lifecycle = await lifecycles.of(key);
    return withLifecycle(await answer(key), lifecycle);
  };
  const read = async (
    { domain, model }: { readonly domain: string; readonly model: string },
    kind: ModelDocumentKind,
    version: number | undefined,
    baseUrl: string,
  ) =>
    about({ domain, name: model }, async (key) =>
      document(await documents.of(key, kind, { version, baseUrl }), version),
    );

  return [
    endpoint({
      method: 'GET',
      path: `${MODEL}/schema`,
      id: 'getModelSchema',
      tag,
      summary: 'The JSON Schema of a model',
      query: parameters({ ...VERSION, bundled: BUNDLED }),
      answers: {
        200: {
          description: 'As it was given, or bundled.',
          content: { 'application/schema+json': ANY_JSON },
        },
      },
      problems: ['busy'],
      handle: async ({ params, query: { version, bundled }, baseUrl }) =>
        read(params, bundled ? 'bundled' : 'schema', version, baseUrl),
    }),
    endpoint({
      method: 'GET',
      path: `${MODEL}/openapi`,
      id: 'getModelOpenapi',
      tag,
      summary: 'OpenAPI 3.1 of NGSI-LD on entities of a model',
      query: parameters(VERSION),
      answers: { 200: { description: 'Self-contained.', content: { 'application/json': ANY_JSON } } },
      problems: ['busy'],
      handle: async ({ params, query: { version }, baseUrl }) => read(params, 'openapi', version, baseUrl),
    }),
    endpoint({
      method: 'GET',
      path: `${MODEL}/context`,
      id: 'getModelContext',
      tag,
      summary: 'The JSON-LD context of a model',
      query: parameters(VERSION),
      answers: {
        200: { description: 'With the core context last.', content: { 'application/ld+json': ANY_JSON } },
      },
      isCrossOrigin: true,
      handle: async ({ params, query: { version }, baseUrl }) => read(params, 'context', version, baseUrl),
    }),
    endpoint({
      method: 'GET',
      path: `${MODEL}/files`,
      id: 'listModelFiles',
      tag,
      summary: 'List the files of a model',
      query: parameters({ ...VERSION, ...PAGE }),
      answers: {
        200: {
          description: 'A page of them; documents that the schema refers to come last.',
          content: { 'application/json': { type: 'array', items: MODEL_FILE } },
          isPage: true,
        },
      },
      problems: ['busy'],
      handle: ({ params: { domain, model }, query, baseUrl }) =>
        about({ domain, name: model }, async (key) => {
          const { version, limit, offset } = query;
          const all = await files.list(key, { version, baseUrl });
          const url = apiUrl(baseUrl, 'domains', domain, 'models', model, 'files');
          const items = all.slice(offset, offset + limit).map((file) => fileJson(file, url, version));
          return page(items, all.length, query, url);
        }),
    }),
    endpoint({
      method: 'GET',
      path: `${MODEL}/files/:file`,
      id: 'getModelFile',
      tag,
      summary: 'One file of a model',
      query: parameters(VERSION),
      answers: {
        200: {
          description: 'With the media type that the list of files gives.',
          content: {
            'application/json': ANY_JSON,
            'application/schema+json': ANY_JSON,
            'application/ld+json': ANY_JSON,
          },
        },
      },
      problems: ['busy'],
      handle: ({ params: { domain, model, file }, query: { version }, baseUrl }) =>
        about({ domain, name: model }, async (key) =>
          document(await files.get(key, file, { version, baseUrl }), version),
        ),
    }),
  ];
}

const MODEL_FILE = {
  title: 'ModelFile',
  type: 'object',
  properties: {
    name: TEXT,
    mediaType: TEXT,
    size: { ...COUNT, description: 'In bytes.' },
    sha256: SHA256,
    uri: { ...TEXT, description: 'What the `$ref`s say, for a document that the schema refers to.' },
    url: { ...URL_TEXT, description: 'Where the file is.' },
  },
  required: ['name', 'mediaType', 'size', 'sha256', 'url'],
  additionalProperties: false,
} as const;

/** @param filesUrl absolute, of the list of files */
function fileJson(file: ModelFile, filesUrl: string, version?: number): TypeOf<typeof MODEL_FILE> {
  const query = version === undefined ? '' : `?version=${version}`;
  return { ...file, url: `${filesUrl}/${encodeURIComponent(file.name)}${query}` };
}
