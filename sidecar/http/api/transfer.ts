import { RESOURCE_NAME_PATTERN } from '../../shared/resource-name.js';
import type { Transfer } from '../../schemas/repository/transfer.js';
import { current } from './answer.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { parameters } from './parameters.js';
import { IMPORT_REPORT, importReportJson } from './transfer-representation.js';
import { readUpload } from './upload.js';

const tag = 'Import and export';
const BINARY = { type: 'string', format: 'binary' } as const;
const DOMAIN = {
  type: 'string',
  maxLength: 128,
  pattern: RESOURCE_NAME_PATTERN,
  description: 'the name of a domain: a letter or digit, then up to 127 letters, digits and `_`, `.`, `-`.',
} as const;
const DRY_RUN = {
  type: 'boolean',
  default: false,
  description: 'Say what would become of each file, and write nothing.',
} as const;

const DOCUMENTS = {
  title: 'ImportedDocuments',
  type: 'object',
  properties: {
    documents: {
      type: 'object',
      description: 'Documents by their paths; one whose name is a URL is a shared document of that URL.',
    },
  },
  required: ['documents'],
  additionalProperties: false,
} as const;

/** Whole repositories of data models, in and out. */
export function transferEndpoints(transfer: Transfer, limitBytes: number): readonly Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/import',
      id: 'importModels',
      tag,
      summary: 'Import a repository of data models',
      description:
        'Finds schemas, the documents that they share, contexts and examples, and stores them in order. The same again changes nothing. Files that are refused do not stop the others.',
      query: parameters({ domain: DOMAIN, dryRun: DRY_RUN }),
      upload: {
        'application/gzip': BINARY,
        'application/zip': BINARY,
        'multipart/form-data': { type: 'object', additionalProperties: BINARY },
        'application/json': DOCUMENTS,
      },
      answers: {
        200: {
          description: 'What became of each file; also where some are refused.',
          content: { 'application/json': IMPORT_REPORT },
        },
      },
      problems: ['bodyInvalid', 'busy'],
      isVolatile: true,
      handle: async ({ query: { domain, dryRun }, request, baseUrl, disconnected }) => {
        const signal = disconnected();
        const source = await readUpload(request, limitBytes);
        return current(importReportJson(await transfer.import(source, { domain, dryRun, baseUrl, signal })));
      },
    }),
    endpoint({
      method: 'GET',
      path: '/export',
      id: 'exportModels',
      tag,
      summary: 'Export a domain, or everything',
      description: 'An archive that an import takes; the same for the same content.',
      query: parameters({ domain: DOMAIN }),
      answers: { 200: { description: 'A tar.gz.', content: { 'application/gzip': BINARY } } },
      problems: ['notFound'],
      isVolatile: true,
      handle: async ({ query: { domain }, baseUrl }) => ({
        status: 200,
        headers: { 'content-disposition': `attachment; filename="${domain ?? 'models'}.tar.gz"` },
        stream: { text: await transfer.export(domain, baseUrl), mediaType: 'application/gzip' },
      }),
    }),
  ];
}
