import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RoleMissingError } from '../auth/index.js';
import type { PurgeService } from '../jobs/purge-service.js';
import { disconnectSignal } from './client-disconnect.js';
import { refused, type RequestRefusedError } from './refused.js';
import type { Access } from './access.js';
import { type RequestedPurge, readNewPurge } from './new-purge.js';
import { readPreferences, purgeAnswer } from './purge-answer.js';

export interface PurgeRoutesOptions {
  readonly purges: PurgeService;
  readonly access: Access;
  /** The path of PUBLIC_URL, without a trailing slash; clients find the API below it. */
  readonly publicPath?: string | undefined;
}

/**
 * Registers `DELETE /ngsi-ld/v1/entities` (clause 6.4.3.3) and `DELETE /ngsi-ld/v1/temporal/entities`, with or without
 * a trailing `/`.
 */
export function registerPurgeRoutes(app: FastifyInstance, options: PurgeRoutesOptions): void {
  void app.register(async (scope) => {
    scope.decorateRequest('caller');
    // Before any other part of the request is read or recorded.
    scope.addHook('onRequest', async (request) => {
      try {
        await options.access.admit(request);
      } catch (error) {
        if (!(error instanceof RoleMissingError)) throw error;
        // A known caller attempted a purge, so the refusal is recorded.
        readNewPurge(request, requestedPurgeOf(request.raw), options.purges, error);
      }
      // A purge has no body, whatever the media type; a query in a body would be silently ignored.
      delete request.raw.headers['content-type'];
    });
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (request, payload, done) => {
      // The announcement is enough: waiting for a body that never comes would block the request forever.
      if (Number(request.headers['content-length']) > 0) {
        done(null, HAS_BODY);
        return;
      }
      // Calls `done` only once, because a body also has an end after its rest has been read.
      let isDone = false;
      const finish = (error: Error | null, body?: typeof HAS_BODY) => {
        if (!isDone) done(error, body);
        isDone = true;
      };
      payload.once('data', () => finish(null, HAS_BODY));
      payload.once('end', () => finish(null));
      payload.once('error', (error) => finish(error));
    });
    const handler = createHandler(options);
    for (const path of ['/ngsi-ld/v1/entities', TEMPORAL_PATH]) {
      scope.delete(path, handler);
      scope.delete(`${path}/`, handler);
    }
  });
}

const TEMPORAL_PATH = '/ngsi-ld/v1/temporal/entities';

/** Reads which purge a request asks for; path and query define it completely. */
function requestedPurgeOf({ url = '' }: IncomingMessage): RequestedPurge {
  const target = url.startsWith(TEMPORAL_PATH) ? 'temporal' : 'entities';
  const mark = url.indexOf('?');
  return { target, query: mark === -1 ? '' : url.slice(mark + 1) };
}

function createHandler({ purges, publicPath = '' }: PurgeRoutesOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const fault = request.body === HAS_BODY ? bodyRefused() : conditionRefused(request);
    const purge = readNewPurge(request, requestedPurgeOf(request.raw), purges, fault);
    const preferences = readPreferences(request.headers.prefer);
    if (preferences.respondAsync) {
      const record = await purges.submit(purge);
      return reply
        .code(202)
        .headers({
          location: `${publicPath}/api/v2/purges/${record.id}`,
          'preference-applied': 'respond-async',
          [PURGE_ID_HEADER]: record.id,
        })
        .type('application/json')
        .send(Buffer.from(JSON.stringify(record)));
    }
    const startedMs = performance.now();
    const { report, record } = await purges.run(purge, disconnectSignal(reply.raw));
    const { status, headers, body } = purgeAnswer(report, {
      id: record.id,
      durationMs: Math.round(performance.now() - startedMs),
      wantsRepresentation: preferences.representation,
    });
    reply.code(status).headers({ ...headers, [PURGE_ID_HEADER]: record.id });
    return body === undefined
      ? await reply.send()
      : // Sends bytes: with text, Node would encode the headers, including an echoed tenant, as UTF-8 once more.
        await reply.type('application/json').send(Buffer.from(JSON.stringify(body)));
  };
}

/** Represents the body of a purge, whatever its content. */
const HAS_BODY = 'a body';

/** The header that names the record of a purge, on each answer about it. */
export const PURGE_ID_HEADER = 'purge-id';

function bodyRefused(): RequestRefusedError {
  return refused(
    'invalidRequest',
    'A purge takes its query from the URL and must not have a body. Nothing was deleted.',
  );
}

/** Refuses a condition that cannot hold. If it were ignored, the purge would delete what it is meant to protect. */
function conditionRefused({ headers }: FastifyRequest): RequestRefusedError | undefined {
  if ((headers['if-match'] ?? '*') === '*') return undefined;
  return refused('preconditionFailed', 'What a purge deletes has no ETag, so If-Match cannot hold.');
}
