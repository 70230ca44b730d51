import type { SchemaService } from '../../schemas/models/index.js';
import type { Transfer } from '../../schemas/repository/transfer.js';
import type { Reference } from '../../store/records.js';
import { created, derived, document, NO_CONTENT, ok, page } from './answer.js';
import { expectedOf, writeOptions } from './conditions.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { OPTIONAL_PAGE, PAGE, parameterRefused, parameters } from './parameters.js';
import { apiUrl } from './routes.js';
import { dependentJson, UPDATED_DEPENDENTS } from './transfer-representation.js';
import { COUNT, SHA256, TEXT, TIME, timeText, type TypeOf } from './schema-types.js';

const tag = 'References';
const URI = {
  type: 'string',
  maxLength: 2048,
  description: 'Absolute URI by which `$ref`s name the document, without a fragment.',
} as const;
const BY_URI = { ...parameters({ uri: URI }), required: ['uri'] } as const;

/** Documents that the schemas of models refer to by absolute URIs. */
export function referenceEndpoints(
  { store, references }: SchemaService,
  transfer: Transfer,
): readonly Endpoint[] {
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
          const { items, total } = await store.references.list(wanted);
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
      description:
        'Versions of models keep the document that they were made with. With dependents=true, each model that was made with it is given a version with the new one.',
      query: {
        ...parameters({ uri: URI, dependents: DEPENDENTS, dryRun: DRY_RUN }),
        required: ['uri'],
      },
      body: DOCUMENT,
      answers: {
        200: {
          description: 'Replaced; or what a dry run found.',
          content: { 'application/json': { oneOf: [PUT_REFERENCE, REFERENCE_DRY_RUN] } },
        },
        201: { description: 'Created.', content: { 'application/json': PUT_REFERENCE } },
      },
      problems: ['schemaInvalid', 'schemaDialectUnsupported', 'schemaTooLarge'],
      isConditional: true,
      handle: async ({ query: { uri, dependents, dryRun }, body, conditions, baseUrl, disconnected }) => {
        const expected = expectedOf(conditions);
        if (dryRun) {
          const options = { expected, dryRun, baseUrl, signal: disconnected() };
          return derived(referenceDryRunJson(await transfer.putReference(uri, body, options)));
        }
        const put = dependents
          ? await transfer.putReference(uri, body, { expected, dryRun, baseUrl, signal: disconnected() })
          : { ...(await references.put(uri, body, expected)), dependents: undefined };
        const { reference, outcome } = put;
        const updated = put.dependents?.map(dependentJson);
        const json = {
          ...referenceJson(reference),
          ...(updated === undefined ? {} : { dependents: updated }),
        };
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
        const { ifMatch } = await writeOptions(conditions, () => references.get(uri));
        await references.delete(uri, ifMatch);
        return NO_CONTENT;
      },
    }),
  ];
}

const DEPENDENTS = {
  type: 'boolean',
  default: false,
  description: 'Update the models that were made with the document.',
} as const;
const DRY_RUN = {
  type: 'boolean',
  default: false,
  description:
    'Say what would become of the document and of the models that were made with it, and write nothing.',
} as const;

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

const PUT_REFERENCE = {
  ...REFERENCE,
  title: 'PutReference',
  properties: { ...REFERENCE.properties, dependents: UPDATED_DEPENDENTS },
} as const;

const REFERENCE_DRY_RUN = {
  title: 'ReferenceDryRun',
  type: 'object',
  properties: {
    dryRun: { const: true },
    status: { enum: ['created', 'updated', 'unchanged'] },
    dependents: UPDATED_DEPENDENTS,
  },
  required: ['dryRun', 'status', 'dependents'],
  additionalProperties: false,
} as const;

function referenceDryRunJson({
  outcome,
  dependents,
}: Awaited<ReturnType<Transfer['putReference']>>): TypeOf<typeof REFERENCE_DRY_RUN> {
  const status = outcome === 'replaced' ? 'updated' : outcome;
  return { dryRun: true, status, dependents: dependents.map(dependentJson) };
}

function referenceJson(reference: Reference): TypeOf<typeof REFERENCE> {
  const { uri, source, content, createdAt, modifiedAt } = reference;
  const { size, sha256 } = content;
  return { uri, source, size, sha256, createdAt: timeText(createdAt), modifiedAt: timeText(modifiedAt) };
}
