import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Transfer } from '../../schemas/repository/transfer.js';
import { disconnectSignal } from '../client-disconnect.js';
import { current, send } from './answer.js';
import { IMPORT_REPORT, importReportJson } from './transfer-representation.js';
import { readUpload, takeUploads } from './upload.js';
import { content, json } from './responses.js';
import type { Api } from './routes.js';
import { Closed, Flag, NameParameter, Query } from './schemas.js';

const tag = 'Import and export';
const BINARY = Type.String({ format: 'binary' });
const DOMAIN = NameParameter('a domain');
const DRY_RUN = Flag('Say what would become of each file, and write nothing.');

const DOCUMENTS = Closed('ImportedDocuments', {
  documents: Type.Object(
    {},
    { description: 'Documents by their paths; one whose name is a URL is a shared document of that URL.' },
  ),
});

/** Whole repositories of data models, in and out. */
export function transferRoutes(api: Api, transfer: Transfer, limitBytes: number): void {
  void api.register(async (scope) => {
    takeUploads(scope, limitBytes);
    scope.withTypeProvider<TypeBoxTypeProvider>().post('/import', {
      schema: {
        tags: [tag],
        operationId: 'importModels',
        summary: 'Import a repository of data models',
        description:
          'Finds schemas, the documents that they share, contexts and examples, and stores them in order. The same again changes nothing. Files that are refused do not stop the others.',
        querystring: Query({ domain: DOMAIN, dryRun: DRY_RUN }),
        response: { 200: json('What became of each file; also where some are refused.', IMPORT_REPORT) },
      },
      config: {
        upload: {
          'application/gzip': BINARY,
          'application/zip': BINARY,
          'multipart/form-data': Type.Object({}, { additionalProperties: BINARY }),
          'application/json': DOCUMENTS,
        },
        problems: ['bodyInvalid', 'busy'],
        isVolatile: true,
      },
      handler: async (request, reply) => {
        const { domain, dryRun } = request.query;
        const signal = disconnectSignal(request.raw, reply.raw);
        const source = await readUpload(request, limitBytes);
        const options = { domain, dryRun, baseUrl: request.baseUrl, signal };
        return send(reply, current(importReportJson(await transfer.import(source, options))));
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
    config: { problems: ['notFound'], isVolatile: true },
    handler: async ({ query: { domain }, baseUrl }, reply) =>
      send(reply, {
        status: 200,
        headers: { 'content-disposition': `attachment; filename="${domain ?? 'models'}.tar.gz"` },
        stream: { text: await transfer.export(domain, baseUrl), mediaType: 'application/gzip' },
      }),
  });
}
