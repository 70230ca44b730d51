import type { IncomingMessage } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { forwardedHeaders } from '../broker/forwarded-headers.js';
import { errorTypes } from '../ngsi-ld/problem.js';
import type { PurgeLimits } from '../purge/context.js';
import { purgeEntities } from '../purge/engine.js';
import type { PurgeDependencies } from '../purge/purge-run.js';
import { PolicyRefusedError, PurgeStoppedError, UnsupportedRequestError } from '../purge/errors.js';
import type { PurgeProgress, PurgeReport } from '../purge/events.js';
import { parseEntityPurgeQuery, type EntityPurgeQuery } from '../purge/query.js';
import type { RunningPurges } from '../purge/running.js';
import { RequestRefusedError } from './errors.js';
import { TOKEN_HEADER, type TokenCheck } from './gateway-token.js';
import { problemOf } from './problem.js';
import { purgeAnswer } from './purge-answer.js';
import { parsePurgePolicy, POLICY_HEADER, type PurgePolicy } from './purge-policy.js';

export interface PurgeRoutesOptions {
  readonly purge: PurgeDependencies;
  readonly running: RunningPurges;
  /** What the configuration allows; callers and policy can only narrow it. */
  readonly limits: PurgeLimits;
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
      payload.once('data', () => done(bodyRefused()));
      payload.once('end', () => done(null));
      payload.once('error', done);
    });
    const entities = async (request: FastifyRequest, reply: FastifyReply) =>
      handlePurge(request, reply, options);
    scope.delete('/ngsi-ld/v1/entities', entities);
    scope.delete('/ngsi-ld/v1/entities/', entities);
    const temporal = async (request: FastifyRequest) => {
      options.checkToken(request.headers[TOKEN_HEADER]);
      throw new UnsupportedRequestError('Temporal purges are not supported; nothing was deleted.');
    };
    scope.delete('/ngsi-ld/v1/temporal/entities', temporal);
    scope.delete('/ngsi-ld/v1/temporal/entities/', temporal);
  });
}

async function handlePurge(request: FastifyRequest, reply: FastifyReply, options: PurgeRoutesOptions) {
  const { headers } = request;
  options.checkToken(headers[TOKEN_HEADER]);
  const policy = parsePurgePolicy(headers[POLICY_HEADER]);
  for (const name of UNSUPPORTED_HEADERS) {
    if (headers[name] !== undefined) {
      throw new UnsupportedRequestError(
        `The header ${name} is not supported by purges: without it, live data would go.`,
      );
    }
  }
  const rawQuery = rawQueryOf(request.raw);
  const query = parseEntityPurgeQuery(rawQuery);
  if (policy.dryRunOnly === true && !query.dryRun) {
    throw new PolicyRefusedError('The policy of this gateway allows dry runs only: add dryRun=true.');
  }
  const limits = narrowLimits(options.limits, policy, query);

  const startedMs = performance.now();
  const log = request.log.child({
    tenant: headers['ngsild-tenant'] ?? headers['fiware-service'],
    query: rawQuery,
  });
  let progress: PurgeProgress = { deleted: 0, failed: 0, requests: 0, hasBegun: false };
  const gone = goneSignal(request, reply);
  try {
    const report = await options.running.run(gone, async (signal) => {
      const order = { query, headers: forwardedHeaders(headers), limits };
      for await (const event of purgeEntities(order, options.purge, signal)) {
        if (event.type === 'progress') progress = event;
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

/** The smaller of every bound: configuration, gateway policy, caller. */
function narrowLimits(limits: PurgeLimits, policy: PurgePolicy, query: EntityPurgeQuery): PurgeLimits {
  const bounds = [limits.maxAffected, policy.maxAffected, query.maxAffected].filter(
    (bound) => bound !== undefined,
  );
  return {
    ...limits,
    pageSize: Math.min(limits.pageSize, policy.pageSize ?? Infinity),
    batchSize: Math.min(limits.batchSize, policy.batchSize ?? Infinity),
    concurrency: Math.min(limits.concurrency, policy.concurrency ?? Infinity),
    maxAffected: bounds.length === 0 ? undefined : Math.min(...bounds),
  };
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

function logFinished(log: FastifyBaseLogger, report: PurgeReport, durationMs: number, status: number): void {
  const { dryRun, matched, deleted, failed, requests, arrived } = report;
  log.info({ dryRun, matched, deleted, failed, requests, arrived, durationMs, status }, 'purge finished');
}

/** Logged here, once: failures of the broker as warnings, what nobody foresaw as errors, refusals as they come. */
function logEnded(log: FastifyBaseLogger, error: unknown, progress: PurgeProgress, durationMs: number): void {
  const known = problemOf(error);
  const fields = { ...countsOf(progress), durationMs, status: known?.problem.status ?? 500, err: error };
  if (known === undefined) log.error(fields, 'purge failed');
  else if (known.problem.status >= 500) log.warn(fields, 'purge ended early');
  else log.info({ ...fields, err: undefined, reason: known.problem.detail }, 'purge refused');
}

function countsOf({ deleted, failed, requests }: PurgeProgress): Omit<PurgeProgress, 'hasBegun'> {
  return { deleted, failed, requests };
}
