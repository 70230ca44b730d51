import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ImportSource } from '../../schemas/repository/transfer.js';
import { ByteCollector } from '../../shared/byte-collector.js';
import { BodyMemory } from '../collected-body.js';
import { refused, RequestRefusedError } from '../refused.js';
import { decodeBody, mediaTypeRefused, requireUnencoded, readBody } from './body-parser.js';
import { errorCode } from '../../shared/errors.js';

/** Bodies of imports: archives, forms with files, and JSON. */
const GZIP = ['application/gzip', 'application/x-gzip'] as const;
const ZIP = ['application/zip', 'application/x-zip-compressed'] as const;
const JSON_TYPES = ['application/json'] as const;
const FORM = 'multipart/form-data';

const UPLOAD_MEDIA_TYPES = [GZIP[0], ZIP[0], FORM, JSON_TYPES[0]] as const;

/** Maximum number of parts in a form, whether files or not; equal to the maximum number of files in an archive. */
const MAX_PARTS = 20_000;

/** How many uploads of the greatest size fit into memory while they arrive. */
const MAX_UPLOADS_AT_ONCE = 4;

/**
 * Makes the routes of a scope accept archives, forms and JSON, without parsing them; see {@link readUpload}. No file is
 * written to disk.
 */
export function acceptUploads(scope: FastifyInstance, limitBytes: number): void {
  scope.removeAllContentTypeParsers();
  const memory = new BodyMemory(MAX_UPLOADS_AT_ONCE * limitBytes);
  scope.addContentTypeParser([...GZIP, ...ZIP, ...JSON_TYPES], async (request: FastifyRequest) => {
    requireUnencoded(request, UPLOAD_MEDIA_TYPES);
    return readBody(request, memory);
  });
  void scope.register(multipart, {
    // Files are identified by their paths.
    preservePath: true,
    limits: {
      fileSize: limitBytes,
      files: MAX_PARTS,
      parts: MAX_PARTS,
      fields: 0,
      fieldNameSize: 1000,
      headerPairs: 100,
    },
  });
  scope.addContentTypeParser('*', (request, _payload, done) => {
    done(mediaTypeRefused(request, UPLOAD_MEDIA_TYPES));
  });
}

/**
 * Reads what was sent for an import.
 *
 * @throws RequestRefusedError if there is no body (400), or if a form breaks off (400) or is too large (413)
 */
export async function readUpload(request: FastifyRequest, limitBytes: number): Promise<ImportSource> {
  if (request.isMultipart()) {
    requireUnencoded(request, UPLOAD_MEDIA_TYPES);
    return { kind: 'parts', parts: await readParts(request, limitBytes) };
  }
  const { body } = request;
  if (!Buffer.isBuffer(body) || body.length === 0)
    throw refused('invalidRequest', `This request needs a body: ${UPLOAD_MEDIA_TYPES.join(', ')}.`);
  const [type = ''] = (request.headers['content-type'] ?? '').toLowerCase().split(';', 1);
  if (isOneOf(GZIP, type)) return { kind: 'gzip', bytes: body };
  if (isOneOf(ZIP, type)) return { kind: 'zip', bytes: body };
  return { kind: 'documents', text: decodeBody(body) };
}

function isOneOf(types: readonly string[], type: string): boolean {
  return types.includes(type.trim());
}

async function readParts(
  request: FastifyRequest,
  limitBytes: number,
): Promise<readonly { readonly name: string; readonly bytes: Buffer }[]> {
  const parts: { name: string; bytes: Buffer }[] = [];
  let size = 0;
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field')
        throw refused('invalidRequest', 'The form has a field: it may have files only.');
      const bytes = await bytesOf(part.file);
      size += bytes.length;
      if (size > limitBytes || part.file.truncated) throw tooLarge(limitBytes);
      parts.push({ name: part.filename, bytes });
    }
  } catch (error) {
    throw formFault(error, limitBytes);
  }
  if (parts.length === 0) throw refused('invalidRequest', 'The form has no file.');
  return parts;
}

async function bytesOf(file: MultipartFile['file']): Promise<Buffer> {
  const collected = new ByteCollector();
  for await (const chunk of file as AsyncIterable<Buffer>) collected.add(chunk);
  return collected.concat();
}

/** Error codes of the plugin for forms with too many or too large parts. */
const LIMITS: ReadonlySet<string> = new Set(['FST_REQ_FILE_TOO_LARGE', 'FST_FILES_LIMIT', 'FST_PARTS_LIMIT']);

function formFault(error: unknown, limitBytes: number): unknown {
  if (error instanceof RequestRefusedError || !(error instanceof Error)) return error;
  const code = errorCode(error) ?? '';
  if (LIMITS.has(code)) return tooLarge(limitBytes);
  if (code === 'FST_FIELDS_LIMIT')
    return refused('invalidRequest', 'The form has a field: it may have files only.');
  return refused('invalidRequest', `The form cannot be read: ${error.message}.`);
}

function tooLarge(limitBytes: number): RequestRefusedError {
  return refused(
    'bodyTooLarge',
    `The form is larger than ${limitBytes} bytes (IMPORT_LIMIT_BYTES), or has more than ${MAX_PARTS} files.`,
  );
}
