import { BODY_MEDIA_TYPES } from './api/body-parser.js';
import type { ProblemKind } from '../shared/errors.js';
import { problem } from './problem-kinds.js';
import type { ProblemAnswer } from './problem.js';

/**
 * Refusals by Fastify, of bodies and URLs that it does not read, and by its file server, of ranges and conditions that do not
 * fit a file; and bodies whose client disconnected.
 *
 * @param bodyLimit of the route, in bytes, and the setting that it comes from
 * @param mediaTypes that the route takes
 */
export function problemOfFastify(
  error: unknown,
  bodyLimit: number,
  setting = 'BODY_LIMIT_BYTES or less',
  mediaTypes: readonly string[] = BODY_MEDIA_TYPES,
): ProblemAnswer | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? error.code : undefined;
  // node:http reports this to the reader of the body. No client is left to read the answer.
  if (code === 'ECONNRESET' && error.message === 'aborted')
    return answer('invalidRequest', 'The connection broke before the body was complete.');
  // Errors of the file server have no code; `expose` says that they are for the client.
  if (!('statusCode' in error) || (code === undefined && !('expose' in error))) return undefined;
  const { statusCode: status, message } = error;
  if (typeof status !== 'number' || status < 400 || status >= 500) return undefined;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return answer(
        'bodyTooLarge',
        `The body is larger than ${bodyLimit} bytes, the limit here (${setting}).`,
      );
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return answer(
        'mediaTypeNotSupported',
        `The Content-Type is not a media type. Send ${mediaTypes.join(' or ')}.`,
        { accept: mediaTypes.join(', ') },
      );
    default:
      return { problem: { ...problem('invalidRequest', message), status }, headers: {} };
  }
}

function answer(
  kind: ProblemKind,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): ProblemAnswer {
  return { problem: problem(kind, detail), headers };
}
