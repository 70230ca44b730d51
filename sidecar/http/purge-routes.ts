import type { IncomingMessage } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { forwardedHeaders } from '../purge/broker/forwarded-headers.js';
import { errorTypes } from '../ngsi-ld/problem.js';
import {
  PolicyRefusedError,
  PurgeStoppedError,
  TooManyPurgesError,
  UnsupportedRequestError,
} from '../purge/errors.js';
import type { PurgeEvent, PurgeProgress, PurgeReport } from '../purge/events.js';
import type { PlaceKind } from '../purge/places.js';
import type { RunningPurges } from '../purge/running.js';
import type { PurgeQuery } from '../purge/query/selection.js';
import { RequestRefusedError } from './errors.js';
import { TOKEN_HEADER, type TokenCheck } from './gateway-token.js';
import { problemOf } from './problem.js';
import { purgeAnswer } from './purge-answer.js';
import {
  entityPurges,
  narrowLimits,
  temporalPurges,
  type PurgeKind,
  type PurgeSetup,
  type TemporalPurgeSetup,
} from './purge-kinds.js';
import { parsePurgePolicy, POLICY_HEADER } from './purge-policy.js';

export interface PurgeRoutesOptions {
  readonly entities: PurgeSetup;
  readonly temporal: TemporalPurgeSetup;
  readonly running: RunningPurges;
  readonly checkToken: TokenCheck;
}

/** Headers that would move the purge to other data than the live one; refused until they are honoured. */
const UNSUPPORTED_HEADERS = ['ngsild-snapshot', 'ngsild-entitymap'] as const;

/** `DELETE /ngsi-ld/v1/entities` (clause 6.4.3.3) and `DELETE /ngsi-ld/v1/temporal/entities`, with or without `/`. */
export function registerPurgeRoutes(app: FastifyInstance, options: PurgeRoutesOptions): void {
  void app.register(async (scope) => {
    // Whatever its media type, a body is none of a purge's business; a query in it would be silently ignored.
    scope.addHook('onRequest', async ({ raw }) => {
      delete raw.headers['content-type'];
    });
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (request, payload, done) => {
      // Announced is enough: a body that never comes would hold the request for ever.
      if (Number(request.headers['content-length']) > 0) {
        done(bodyRefused());
        return;
      }
      // Once: a refused body has an end as well, when its rest has been read.
      let isDone = false;
      const finish = (error: Error | null) => {
        if (!isDone) done(error);
        isDone = true;
      };
      payload.once('data', () => finish(bodyRefused()));
      payload.once('end', () => finish(null));
      payload.once('error', finish);
    });
    const handlers = {
      '/ngsi-ld/v1/entities': createHandler(entityPurges(options.entities), options),
      '/ngsi-ld/v1/temporal/entities': createHandler(temporalPurges(options.temporal), options),
    };
    for (const [path, handler] of Object.entries(handlers)) {
      scope.delete(path, handler);
      scope.delete(`${path}/`, handler);
    }
  });
}

function createHandler<Query extends PurgeQuery>(
  kind: PurgeKind<Query>,
  { running, checkToken }: PurgeRoutesOptions,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { headers } = request;
    checkToken(headers[TOKEN_HEADER]);
    const policy = parsePurgePolicy(headers[POLICY_HEADER]);
    for (const name of UNSUPPORTED_HEADERS) {
      if (headers[name] !== undefined) {
        throw new UnsupportedRequestError(
          `The header ${name} is not supported by purges: without it, live data would go.`,
        );
      }
    }
    const rawQuery = rawQueryOf(request.raw);
    const query = kind.parse(rawQuery);
    kind.vet(query, policy);
    if (policy.dryRunOnly === true && !query.dryRun) {
      throw new PolicyRefusedError('The policy of this gateway allows dry runs only: add dryRun=true.');
    }
    const limits = narrowLimits(kind, policy, query);
    const order = { query, headers: forwardedHeaders(headers), limits };
    const log = request.log.child({
      tenant: headers['ngsild-tenant'] ?? headers['fiware-service'],
      query: rawQuery,
    });
    const gone = goneSignal(request, reply);
    const place = query.dryRun ? 'dry run' : 'purge';
    return answerPurge(request, reply, { log, gone, running, place }, (signal) =>
      kind.run(order, kind.dependencies, signal),
    );
  };
}

interface PurgeRun {
  readonly log: FastifyBaseLogger;
  readonly gone: AbortSignal;
  readonly running: RunningPurges;
  readonly place: PlaceKind;
}

async function answerPurge(
  request: FastifyRequest,
  reply: FastifyReply,
  { log, gone, running, place }: PurgeRun,
  start: (signal: AbortSignal) => AsyncIterable<PurgeEvent>,
): Promise<FastifyReply> {
  const startedMs = performance.now();
  let progress: PurgeProgress = NOTHING_DONE;
  try {
    const report = await running.run(place, gone, async (signal) => {
      for await (const event of start(signal)) {
        if (event.type === 'progress') progress = event;
        logOutage(log, event);
        if (event.type === 'finished') return event.report;
      }
      throw new PurgeStoppedError('The purge ended without a report.');
    });
    const durationMs = Math.round(performance.now() - startedMs);
    const {
      status,
      headers: purgeHeaders,
      body,
    } = purgeAnswer(report, durationMs, wantsRepresentation(request));
    logFinished(log, report, durationMs, status);
    reply.code(status).headers(purgeHeaders);
    return body === undefined
      ? await reply.send()
      : // Bytes: beside text, Node would encode the headers, and so an echoed tenant, as UTF-8 once more.
        await reply.type('application/json').send(Buffer.from(JSON.stringify(body)));
  } catch (error) {
    const durationMs = Math.round(performance.now() - startedMs);
    if (gone.aborted && error instanceof PurgeStoppedError)
      log.info({ ...countsOf(progress), durationMs }, 'purge stopped: its caller is gone');
    else logEnded(log, error, progress, durationMs);
    throw new PurgeEndedError(error, progress);
  }
}

/** A purge that ended early: the problem of its cause, with what had been done. */
export class PurgeEndedError extends Error {
  constructor(
    override readonly cause: unknown,
    readonly progress: PurgeProgress,
  ) {
    super('The purge ended early.');
  }
}

/** Aborts when the client goes away before its answer was sent. */
function goneSignal(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  if (request.raw.socket.destroyed) controller.abort();
  return controller.signal;
}

function wantsRepresentation(request: FastifyRequest): boolean {
  const prefer = [request.headers.prefer ?? []].flat().join(',');
  return prefer
    .split(',')
    .some((preference) => /^\s*return\s*=\s*"?representation"?\s*(?:;|$)/i.test(preference));
}

function rawQueryOf(raw: IncomingMessage): string {
  const url = raw.url ?? '';
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}

function bodyRefused(): RequestRefusedError {
  const detail = 'A purge takes its query in the URL and has no body; nothing was deleted.';
  return new RequestRefusedError({
    type: errorTypes.invalidRequest,
    title: 'Invalid request',
    status: 400,
    detail,
  });
}

const NOTHING_DONE: PurgeProgress = {
  ...{ matched: 0, deleted: 0, alreadyGone: 0, failed: 0, unknown: 0 },
  requests: 0,
  hasBegun: false,
};

function logFinished(log: FastifyBaseLogger, report: PurgeReport, durationMs: number, status: number): void {
  const { dryRun, arrived } = report;
  log.info({ dryRun, ...countsOf(report), arrived, durationMs, status }, 'purge finished');
}

function logOutage(log: FastifyBaseLogger, event: PurgeEvent): void {
  if (event.type === 'broker-away') log.warn('broker away: the purge waits for it');
  if (event.type === 'broker-back') log.info({ afterMs: event.afterMs }, 'broker back: the purge goes on');
}

/** Logged here, once: failures of the broker as warnings, what nobody foresaw as errors, refusals as they come. */
function logEnded(log: FastifyBaseLogger, error: unknown, progress: PurgeProgress, durationMs: number): void {
  const known = problemOf(error);
  const fields = { ...countsOf(progress), durationMs, status: known?.problem.status ?? 500, err: error };
  if (known === undefined) log.error(fields, 'purge failed');
  else if (known.problem.status >= 500 && !(error instanceof TooManyPurgesError))
    log.warn(fields, 'purge ended early');
  else log.info({ ...fields, err: undefined, reason: known.problem.detail }, 'purge refused');
}

function countsOf(counted: Omit<PurgeProgress, 'hasBegun'>): Omit<PurgeProgress, 'hasBegun'> {
  const { matched, deleted, alreadyGone, failed, unknown, requests } = counted;
  return { matched, deleted, alreadyGone, failed, unknown, requests };
}
