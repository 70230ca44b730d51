import type { FastifyInstance } from 'fastify';
import { refused } from './refusals.js';
import { checkJson, JsonTextError } from './strict-json.js';

/** What bodies may be: JSON by its general name, or by those of the documents that it holds. */
export const BODY_MEDIA_TYPES = [
  'application/json',
  'application/ld+json',
  'application/schema+json',
] as const;

const ACCEPTED = { accept: BODY_MEDIA_TYPES.join(', ') };

/** Makes the routes of a scope take bodies of JSON and nothing else. */
export function takeJsonBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser([...BODY_MEDIA_TYPES], { parseAs: 'buffer' }, (request, body, done) => {
    try {
      if (![undefined, 'identity'].includes(request.headers['content-encoding']?.trim().toLowerCase()))
        throw mediaTypeRefused('Encoded bodies are not supported: send it without Content-Encoding.');
      done(null, parseBody(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  scope.addContentTypeParser('*', (request, _payload, done) => {
    const given = request.headers['content-type'];
    const detail =
      given === undefined ? 'The body has no Content-Type.' : 'The body is of another media type.';
    done(mediaTypeRefused(`${detail} Send ${BODY_MEDIA_TYPES.join(' or ')}.`));
  });
}

function mediaTypeRefused(detail: string) {
  return refused('mediaTypeNotSupported', detail, {}, ACCEPTED);
}

/**
 * @param body UTF-8 (RFC 8259 § 8.1)
 * @throws RequestRefusedError (400) naming line and column
 */
function parseBody(body: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    checkJson(text);
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof JsonTextError) {
      const { line, column, message } = error;
      throw refused('invalidRequest', `The body cannot be read as JSON: ${message}.`, { line, column });
    }
    throw refused('invalidRequest', 'The body is no UTF-8.');
  }
}
