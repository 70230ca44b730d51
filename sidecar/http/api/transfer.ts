import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { ImportReport, Transfer, UpdatedDependent } from '../../schemas/repository/transfer.js';
import { disconnectSignal } from '../client-disconnect.js';
import { okWithoutETag, streamed } from './answer.js';
import { CHANGE_KIND, DIFFERENCES } from './model-representation.js';
import type { Api } from './routes.js';
import {
  Closed,
  content,
  COUNT,
  Flag,
  json,
  NAME,
  NameParameter,
  Query,
  STRINGS,
  TEXT,
  URL_TEXT,
  VERSION_NUMBER,
  type WrittenOf,
} from './schemas.js';
import { readUpload, acceptUploads } from './upload.js';

const tag = 'Import and export';
const BINARY = Type.String({ format: 'binary' });
const DOMAIN = NameParameter('a domain');
const DRY_RUN = Flag('Report what would happen to each file, and write nothing.');

const DOCUMENTS = Closed('ImportedDocuments', {
  documents: Type.Object(
    {},
    { description: 'Documents by their paths; one whose name is a URL is a shared document of that URL.' },
  ),
});

/** The routes to import and export whole repositories of data models. */
export function transferRoutes(api: Api, transfer: Transfer, limitBytes: number): void {
  void api.register(async (scope) => {
    acceptUploads(scope, limitBytes);
    scope.withTypeProvider<TypeBoxTypeProvider>().post('/import', {
      schema: {
        tags: [tag],
        operationId: 'importModels',
        summary: 'Import a repository of data models',
        description:
          'Finds schemas, the documents that they share, contexts and examples, and stores them in ' +
          'order. Importing the same again changes nothing. Files that are refused do not stop the others.',
        querystring: Query({ domain: DOMAIN, dryRun: DRY_RUN }),
        response: { 200: json('The result for each file, even if some are refused.', IMPORT_REPORT) },
      },
      config: {
        upload: {
          'application/gzip': BINARY,
          'application/zip': BINARY,
          'multipart/form-data': Type.Object({}, { additionalProperties: BINARY }),
          'application/json': DOCUMENTS,
        },
        isVolatile: true,
      },
      handler: async (request, reply) => {
        const { domain, dryRun } = request.query;
        const signal = disconnectSignal(reply.raw);
        const source = await readUpload(request, limitBytes);
        const { baseUrl, caller } = request;
        const options = { domain, dryRun, baseUrl, caller: caller.name, signal };
        return okWithoutETag(importReportJson(await transfer.import(source, options)));
      },
    });
  });

  api.get('/export', {
    schema: {
      tags: [tag],
      operationId: 'exportModels',
      summary: 'Export a domain, or everything',
      description: 'An archive that an import takes; the same for the same content.',
      querystring: Query({ domain: DOMAIN }),
      response: { 200: content('A tar.gz.', { 'application/gzip': BINARY }) },
    },
    config: { isVolatile: true },
    handler: async ({ query: { domain }, baseUrl }) =>
      streamed(await transfer.export(domain, baseUrl), 'application/gzip', {
        'content-disposition': `attachment; filename="${domain ?? 'models'}.tar.gz"`,
      }),
  });
}

/** The schemas of import reports. */

const LINE = { ...VERSION_NUMBER, description: 'Line of the first fault, from 1.' };

const EXAMPLES = Closed(
  'ImportedExamples',
  {
    kept: { ...COUNT, description: 'How many are kept with the model, whether they are valid or not.' },
    leftOut: Type.Optional(
      Type.Array(Type.Object({ path: TEXT, reason: TEXT }, { additionalProperties: false }), {
        description: 'Those that are not kept.',
      }),
    ),
    valid: COUNT,
    invalid: Type.Array(
      Type.Object(
        { path: TEXT, pointer: TEXT, line: Type.Optional(LINE), detail: TEXT },
        { additionalProperties: false },
      ),
      { description: 'The first errors of each example that is not valid.' },
    ),
    unchecked: Type.Optional({
      ...STRINGS,
      description: 'Paths of those that were not checked, because others of the import took too long.',
    }),
  },
  'The examples of a model, validated against its schema.',
);

const IMPORTED_FILE = Closed('ImportedFile', {
  path: TEXT,
  url: Type.Optional({ ...URL_TEXT, description: 'Under which a shared document is stored.' }),
  model: Type.Optional({ ...TEXT, description: 'The model that it becomes, as domain/model.' }),
  context: Type.Optional({ ...TEXT, description: 'Name of the stored context that it becomes.' }),
  status: Type.Enum(['created', 'updated', 'unchanged', 'refused']),
  reason: Type.Optional({ ...TEXT, description: 'Why it is refused, and what can be done.' }),
  line: Type.Optional(LINE),
  change: Type.Optional(CHANGE_KIND),
  differences: Type.Optional(DIFFERENCES),
  examples: Type.Optional(EXAMPLES),
});

export const UPDATED_DEPENDENTS = Type.Array(
  Closed('UpdatedDependent', {
    domain: NAME,
    model: NAME,
    status: Type.Enum(['updated', 'unchanged', 'refused']),
    change: Type.Optional(CHANGE_KIND),
    differences: Type.Optional(DIFFERENCES),
    reason: Type.Optional(TEXT),
  }),
  {
    description: 'Models that use a changed document or follow a changed context, and what happens to them.',
  },
);

const IMPORT_REPORT = Closed('ImportReport', {
  summary: Type.Object(
    {
      dryRun: Type.Boolean(),
      domains: STRINGS,
      created: COUNT,
      updated: COUNT,
      unchanged: COUNT,
      refused: COUNT,
      ignored: { ...COUNT, description: 'Files that do not belong to a model.' },
      models: COUNT,
      examples: Type.Object(
        { valid: COUNT, invalid: COUNT, unchecked: COUNT, kept: COUNT, leftOut: COUNT },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  ),
  files: Type.Array(IMPORTED_FILE),
  dependents: UPDATED_DEPENDENTS,
});

/** Returns the report unchanged, but checks its type. */
function importReportJson(report: ImportReport): WrittenOf<typeof IMPORT_REPORT> {
  return report;
}

/** Returns the result for a dependent model unchanged, but checks its type. */
export function dependentJson(dependent: UpdatedDependent): WrittenOf<typeof UPDATED_DEPENDENTS>[number] {
  return dependent;
}
