import { errorCodes, type FastifyRequest } from 'fastify';
import { type BodyMemory, collectBody } from '../collected-body.js';
import { SLOW_CLIENT } from '../forward-problem.js';
import { refused } from '../refused.js';

/**
 * Reads the body of a request, up to the limit of its route.
 *
 * @param memory for all bodies that are being read, from which this one is counted until it is complete
 * @throws an error of Fastify (413), RequestRefusedError (400, 408, 503)
 */
export async function readBody(
  { raw, routeOptions: { bodyLimit } }: FastifyRequest,
  memory: BodyMemory,
): Promise<Buffer> {
  const body = await collectBody(raw, bodyLimit, memory);
  if (body === 'slow') throw refused('requestTimeout', SLOW_CLIENT);
  if (body === 'gone') throw refused('invalidRequest', 'The connection broke before the body was complete.');
  memory.release(body.bytes.length);
  if (body.isWhole) return body.bytes;
  if (body.why === 'large') throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
  throw refused('busy', TOO_MANY_BODIES, {}, { 'retry-after': '1' });
}

const TOO_MANY_BODIES = 'Too many large request bodies are arriving right now. Try again later.';
