import { Type } from 'typebox';
import type { SchemaService } from '../../schemas/models/index.js';
import type { Transfer } from '../../schemas/repository/transfer.js';
import type { Reference } from '../../store/index.js';
import { disconnectSignal } from '../client-disconnect.js';
import {
  created,
  okWithContentETag,
  document,
  expectedStateOf,
  NO_CONTENT,
  ok,
  page,
  formatTime,
  preconditionsOfExisting,
} from './answer.js';
import { dependentJson, UPDATED_DEPENDENTS } from './transfer.js';
import { parameterRefused } from './validation.js';
import {
  AnyJson,
  Closed,
  content,
  COUNT,
  empty,
  FIRST_PAGE,
  Flag,
  json,
  OPTIONAL_PAGE,
  Query,
  SHA256,
  TEXT,
  TIME,
  type WrittenOf,
} from './schemas.js';
import { type Api, apiUrl } from './routes.js';

const tag = 'References';
const URI_MEANING = 'Absolute URI by which `$ref`s name the document, without a fragment.';
const URI = Type.String({ minLength: 1, maxLength: 2048, description: URI_MEANING });

/** The routes of documents that the schemas of models refer to by absolute URIs. */
export function referenceRoutes(api: Api, { store, references }: SchemaService, transfer: Transfer): void {
  api.get('/references', {
    schema: {
      tags: [tag],
      operationId: 'getReferences',
      summary: 'Read a reference document, or list them',
      querystring: Query({
        uri: Type.Optional({ ...URI, description: `${URI_MEANING} Without it, the documents are listed.` }),
        ...OPTIONAL_PAGE,
      }),
      response: {
        200: content('A page of the list, by URI; or the document, as it was given.', {
          'application/json': Type.Array(REFERENCE),
          'application/schema+json': DOCUMENT,
        }),
      },
    },
    handler: async ({ query: { uri, limit, offset }, baseUrl }) => {
      if (uri === undefined) {
        const wanted = { limit: limit ?? FIRST_PAGE.limit, offset: offset ?? FIRST_PAGE.offset };
        const { items, total } = await store.references.list(wanted);
        return page(items.map(referenceJson), total, wanted, apiUrl(baseUrl, 'references'));
      }
      if (limit !== undefined)
        throw parameterRefused('limit', 'is for lists: leave it out when uri is given');
      if (offset !== undefined)
        throw parameterRefused('offset', 'is for lists: leave it out when uri is given');
      return document(await references.get(uri));
    },
  });

  api.put('/references', {
    schema: {
      tags: [tag],
      operationId: 'putReference',
      summary: 'Store a reference document, or replace one',
      description:
        'Versions of models keep the document that they were made with. With dependents=true, ' +
        'each model that was made with it is given a version with the new one.',
      querystring: Query({ uri: URI, dependents: DEPENDENTS, dryRun: DRY_RUN }),
      body: DOCUMENT,
      response: {
        200: json('Replaced; or what a dry run found.', { oneOf: [PUT_REFERENCE, REFERENCE_DRY_RUN] }),
        201: json('Created.', PUT_REFERENCE),
      },
    },
    config: { isConditional: true },
    handler: async ({ query: { uri, dependents, dryRun }, body, conditions, baseUrl }, reply) => {
      const expected = expectedStateOf(conditions);
      if (dryRun) {
        const options = { expected, dryRun, baseUrl, signal: disconnectSignal(reply.raw) };
        return okWithContentETag(referenceDryRunJson(await transfer.putReference(uri, body, options)));
      }
      const put = dependents
        ? await transfer.putReference(uri, body, {
            expected,
            dryRun,
            baseUrl,
            signal: disconnectSignal(reply.raw),
          })
        : { ...(await references.put(uri, body, expected)), dependents: undefined };
      const { reference, outcome } = put;
      const updated = put.dependents?.map(dependentJson);
      const written: WrittenOf<typeof PUT_REFERENCE> = { ...referenceJson(reference), dependents: updated };
      return outcome === 'created'
        ? created(referenceUrl(baseUrl, reference.uri), written, reference.etag)
        : ok(written, reference.etag);
    },
  });

  api.delete('/references', {
    schema: {
      tags: [tag],
      operationId: 'deleteReference',
      summary: 'Delete a reference document',
      description: 'Refused while a version of a model was made with it, or another document names it.',
      querystring: Query({ uri: URI }),
      response: { 204: empty('Deleted.') },
    },
    config: { isConditional: true },
    handler: async ({ query: { uri }, conditions }) => {
      const { ifMatch } = await preconditionsOfExisting(conditions, () => references.get(uri));
      await references.delete(uri, ifMatch);
      return NO_CONTENT;
    },
  });
}

const DEPENDENTS = Flag('Update the models that were made with the document.');
const DRY_RUN = Flag(
  'Report what would happen to the document and to the models that were made with it, and write nothing.',
);

/** The URL of a reference document. @param uri the URI by which schemas refer to it */
function referenceUrl(baseUrl: string, uri: string): string {
  return `${apiUrl(baseUrl, 'references')}?uri=${encodeURIComponent(uri)}`;
}

/** Any JSON document; the application decides which ones schemas can refer to. */
const DOCUMENT = AnyJson('A JSON document that `$ref`s name.');

const REFERENCE = Closed('Reference', {
  uri: TEXT,
  source: Type.Enum(['stored', 'fetched'], {
    description:
      '`fetched`: a schema referred to it while it was missing, so it was fetched from an allowed origin.',
  }),
  size: { ...COUNT, description: 'In bytes.' },
  sha256: SHA256,
  createdAt: TIME,
  modifiedAt: TIME,
});

const PUT_REFERENCE = Closed('PutReference', {
  ...REFERENCE.properties,
  dependents: Type.Optional(UPDATED_DEPENDENTS),
});

const REFERENCE_DRY_RUN = Closed('ReferenceDryRun', {
  dryRun: Type.Literal(true),
  status: Type.Enum(['created', 'updated', 'unchanged']),
  dependents: UPDATED_DEPENDENTS,
});

function referenceDryRunJson({
  outcome,
  dependents,
}: Awaited<ReturnType<Transfer['putReference']>>): WrittenOf<typeof REFERENCE_DRY_RUN> {
  const status = outcome === 'replaced' ? 'updated' : outcome;
  return { dryRun: true, status, dependents: dependents.map(dependentJson) };
}

function referenceJson(reference: Reference): WrittenOf<typeof REFERENCE> {
  const { uri, source, content, createdAt, modifiedAt } = reference;
  const { size, sha256 } = content;
  return { uri, source, size, sha256, createdAt: formatTime(createdAt), modifiedAt: formatTime(modifiedAt) };
}
