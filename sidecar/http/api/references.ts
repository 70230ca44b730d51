import type { Reference, ReferenceService } from '../../schemas/service/service.js';
import { created, document, NO_CONTENT, ok, page } from './answer.js';
import { expectedOf, writeOptions } from './conditions.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { OPTIONAL_PAGE, PAGE, parameterRefused, parameters } from './parameters.js';
import { apiUrl } from './routes.js';
import { COUNT, SHA256, TEXT, TIME, timeText, type TypeOf } from './schema-types.js';

const tag = 'References';
const URI = {
  type: 'string',
  maxLength: 2048,
  description: 'Absolute URI by which `$ref`s name the document, without a fragment.',
} as const;
const BY_URI = { ...parameters({ uri: URI }), required: ['uri'] } as const;

/** Documents that the schemas of models refer to by absolute URIs. */
export function referenceEndpoints(references: ReferenceService): readonly Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/references',
      id: 'getReferences',
      tag,
      summary: 'Read a reference document, or list them',
      query: parameters({
        uri: { ...URI, description: `${URI.description} Without it, the documents are listed.` },
        ...OPTIONAL_PAGE,
      }),
      answers: {
        200: {
          description: 'A page of the list, by URI; or the document, as it was given.',
          content: {
            'application/json': { type: 'array', items: REFERENCE },
            'application/schema+json': DOCUMENT,
          },
          isPage: true,
        },
      },
      problems: ['notFound'],
      handle: async ({ query: { uri, limit, offset }, baseUrl }) => {
        if (uri === undefined) {
          const wanted = { limit: limit ?? PAGE.limit.default, offset: offset ?? PAGE.offset.default };
          const { items, total } = await references.list(wanted);
          return page(items.map(referenceJson), total, wanted, apiUrl(baseUrl, 'references'));
        }
        if (limit !== undefined)
          throw parameterRefused('limit', 'is for lists: leave it out when uri is given');
        if (offset !== undefined)
          throw parameterRefused('offset', 'is for lists: leave it out when uri is given');
        return document(await references.get(uri), undefined);
      },
    }),
    endpoint({
      method: 'PUT',
      path: '/references',
      id: 'putReference',
      tag,
      summary: 'Store a reference document, or replace one',
      description: 'Versions of models keep the document that they were made with.',
      query: BY_URI,
      body: DOCUMENT,
      answers: {
        200: { description: 'Replaced.', content: { 'application/json': REFERENCE } },
        201: { description: 'Created.', content: { 'application/json': REFERENCE } },
      },
      problems: ['schemaInvalid', 'schemaDialectUnsupported', 'schemaTooLarge'],
      isConditional: true,
      handle: async ({ query: { uri }, body, conditions, baseUrl }) => {
        const { reference, outcome } = await references.put(uri, body, expectedOf(conditions));
        const json = referenceJson(reference);
        return outcome === 'created'
          ? created(referenceUrl(baseUrl, reference.uri), json, reference.etag)
          : ok(json, reference.etag);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/references',
      id: 'deleteReference',
      tag,
      summary: 'Delete a reference document',
      description: 'Refused while a version of a model was made with it, or another document names it.',
      query: BY_URI,
      answers: { 204: { description: 'Deleted.' } },
      problems: ['notFound', 'inUse'],
      isConditional: true,
      handle: async ({ query: { uri }, conditions }) => {
        await references.delete(uri, await writeOptions(conditions, () => references.get(uri)));
        return NO_CONTENT;
      },
    }),
  ];
}

/** The URL of a reference document. @param uri by which schemas name it */
function referenceUrl(baseUrl: string, uri: string): string {
  return `${apiUrl(baseUrl, 'references')}?uri=${encodeURIComponent(uri)}`;
}

/** Any JSON document; the application says which ones schemas can refer to. */
const DOCUMENT = { description: 'A JSON document that `$ref`s name.' } as const;

const REFERENCE = {
  title: 'Reference',
  type: 'object',
  properties: {
    uri: TEXT,
    source: {
      enum: ['stored', 'fetched'],
      description: '`fetched`: was missing when a schema named it, and came from an allowed origin.',
    },
    size: { ...COUNT, description: 'In bytes.' },
    sha256: SHA256,
    createdAt: TIME,
    modifiedAt: TIME,
  },
  required: ['uri', 'source', 'size', 'sha256', 'createdAt', 'modifiedAt'],
  additionalProperties: false,
} as const;

function referenceJson(reference: Reference): TypeOf<typeof REFERENCE> {
  const { uri, source, content, createdAt, modifiedAt } = reference;
  const { size, sha256 } = content;
  return { uri, source, size, sha256, createdAt: timeText(createdAt), modifiedAt: timeText(modifiedAt) };
}
