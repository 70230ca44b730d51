import { errorTypes } from '../ngsi-ld/problem.js';
import { BODY_MEDIA_TYPES } from './api/body-parser.js';
import { problemKinds } from './api/problem-kinds.js';
import { answer, problem, type ProblemAnswer } from './problem-answer.js';

/**
 * Fastify's own refusals: bodies and URLs that it does not read, and bodies whose client went away.
 *
 * @param bodyLimit of the route, in bytes
 */
export function problemOfFastify(error: unknown, bodyLimit: number): ProblemAnswer | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  // What node:http says to those who read the body. Nobody is there to read the answer.
  if (error.code === 'ECONNRESET' && error.message === 'aborted') {
    const detail = 'The connection broke before the body was complete.';
    return answer(problem(errorTypes.invalidRequest, 'Invalid request', 400, detail));
  }
  if (!('statusCode' in error)) return undefined;
  const { statusCode: status, message } = error;
  if (typeof status !== 'number' || status < 400 || status >= 500) return undefined;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return answer({
        ...problemKinds.bodyTooLarge,
        detail: `The body is larger than ${bodyLimit} bytes, the most that is taken here (BODY_LIMIT_BYTES or less).`,
      });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return answer(
        { ...problemKinds.mediaTypeNotSupported, detail: 'The Content-Type is no media type.' },
        { accept: BODY_MEDIA_TYPES.join(', ') },
      );
    default:
      return answer(problem(errorTypes.invalidRequest, 'Invalid request', status, message));
  }
}
