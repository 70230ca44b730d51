import { createServer } from 'node:http';
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { AccessRefusedError } from '../auth/index.js';
import { setRule } from './access.js';
import type { Problem } from '../shared/problem.js';
import { problemOfFastify, problemOf, unexpectedProblem } from './problem.js';
import { isApiPath } from './api/routes.js';
import { registerApi, type ApiOptions } from './api/register-api.js';
import { MIN_BYTES_PER_SECOND, type MinDataRate } from './min-data-rate.js';
import { registerConsoleRoutes, type ConsoleRoutesOptions } from './console-routes.js';
import { createFrontDoor, type FrontDoorOptions } from './front-door.js';
import { closeIdleClients } from './idle-clients.js';
import { registerHealthRoutes } from './health.js';
import { sendAfterUpload } from './lingering-close.js';
import type { RequestCheck } from './request-checks.js';
import { registerMetricsRoute, type MetricsPage } from './metrics-routes.js';
import type { PassThrough } from './pass-through.js';
import { problem } from './refused.js';
import { PacedRequest, type RequestPipeline } from './request-pipeline.js';
import { createProxyCheck } from './trusted-proxies.js';
import { createSocketErrorHandlers } from './unreadable-request.js';
import { PurgeFailedError } from '../jobs/errors.js';
import { PURGE_ID_HEADER, registerPurgeRoutes, type PurgeRoutesOptions } from './purge-routes.js';
import { REQUEST_ID_HEADER, requestIdOf, instanceOf, refusalFields } from './request-log.js';

/** The services behind all routes, the checks of the front door, and the limits for clients. */
export interface AppOptions extends PurgeRoutesOptions, ApiOptions, ConsoleRoutesOptions {
  readonly logger: FastifyBaseLogger;
  /** Forwards requests to the broker. */
  readonly passThrough: PassThrough;
  /** Decides when each request of a connection is started. */
  readonly pipeline: RequestPipeline;
  /**
   * The slowest rate at which clients may send and read.
   *
   * @default 60 s without progress, or behind 1000 bytes a second
   */
  readonly minDataRate?: Partial<MinDataRate> | undefined;
  /** Called for each request before it is answered. Must not throw. */
  readonly onRequest?: FrontDoorOptions['onRequest'];
  /** Refuses requests that a foreign web page may have sent. */
  readonly checkHost: RequestCheck;
  /** Refuses requests that have already passed this gateway. */
  readonly checkLoop: RequestCheck;
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Called for each refused request, with a short reason. Must not throw. */
  readonly onRefused?: (reason: string) => void;
  /** Served as `GET /metrics`; undefined if metrics are served elsewhere. */
  readonly metrics?: MetricsPage | undefined;
}

/** Long queries (lists of ids) are sent in the URL. */
const HEADERS_MAX_BYTES = 64 * 1024;

const HEADERS_TIMEOUT_MS = 60_000;

/** The longest pause of a client whose turn it is, and the slowest rate. */
const MIN_DATA_RATE: MinDataRate = { idleMs: 60_000, bytesPerSecond: MIN_BYTES_PER_SECOND };

/**
 * Longer than gateways in front keep idle connections, so that they never send into a closing one: Kong, nginx and AWS 60 s,
 * Caddy 120 s, Google Cloud 600 s.
 */
const KEEP_ALIVE_MS = 620_000;

/**
 * How much a connection may buffer before its other side is slowed down: as much as is read at once, which is also the
 * default of later versions of Node. With less, a page that arrives in one piece would pause its own connection.
 */
const SOCKET_BUFFER_BYTES = 64 * 1024;

/** More than the longest name in a path, that of a generated context; percent-encoding can triple its length. */
const PARAMETER_MAX_CHARS = 1000;

/** Builds the HTTP server of the gateway: front door, purge and health routes, and the API of the schema service. */
export function buildApp(options: AppOptions): FastifyInstance {
  const { logger, passThrough, pipeline, checkHost, checkLoop } = options;
  const noteRefused = (reason: string, fields: object) => {
    options.onRefused?.(reason);
    logger.info({ reason, ...fields }, 'request refused');
  };
  const socketErrors = createSocketErrorHandlers({ pipeline, onRefused: noteRefused });
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: true,
    genReqId: requestIdOf,
    forceCloseConnections: 'idle',
    trustProxy: options.trustedProxies !== undefined && createProxyCheck(options.trustedProxies),
    routerOptions: { caseSensitive: true, maxParamLength: PARAMETER_MAX_CHARS },
    frameworkErrors: (error, request, reply) => {
      void sendError(error, request, reply);
    },
    clientErrorHandler: socketErrors.clientError,
    serverFactory: (fastify) => {
      const door = createFrontDoor({
        passThrough,
        fastify,
        checkHost,
        checkLoop,
        onRequest: options.onRequest,
        onRefused: (reason, req, problem) =>
          noteRefused(reason, { reqId: requestIdOf(req), ...refusalFields(req, problem) }),
      });
      const server = createServer(
        {
          IncomingMessage: PacedRequest,
          maxHeaderSize: HEADERS_MAX_BYTES,
          // The front door checks for the Host header itself.
          requireHostHeader: false,
          // Uploads through the gateway may take any time as long as they make progress, but header fields may not.
          // Both are set because the default of headersTimeout depends on requestTimeout.
          requestTimeout: 0,
          headersTimeout: HEADERS_TIMEOUT_MS,
          keepAliveTimeout: KEEP_ALIVE_MS,
          highWaterMark: SOCKET_BUFFER_BYTES,
        },
        pipeline.serialized(door.request),
      );
      // By default, fields after the 1000th are dropped silently; the front door refuses requests with too many fields
      // instead.
      server.maxHeadersCount = 0;
      closeIdleClients(server, pipeline, { ...MIN_DATA_RATE, ...options.minDataRate });
      return server
        .on('checkContinue', pipeline.serialized(door.checkContinue))
        .on('checkExpectation', pipeline.serialized(door.checkExpectation))
        .on('connect', socketErrors.connect);
    },
  });
  app.setErrorHandler(sendError);
  app.setNotFoundHandler(sendNotFound);
  app.addHook('onRoute', setRule);
  app.addHook('onRequest', addRequestId);
  app.addHook('onSend', echoTenant);
  app.addHook('onSend', sendAfterUpload);
  registerPurgeRoutes(app, options);
  registerHealthRoutes(app, options);
  registerConsoleRoutes(app, options);
  if (options.metrics !== undefined) registerMetricsRoute(app, options.metrics);
  registerApi(app, options);
  return app;

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const ended = error instanceof PurgeFailedError ? error : undefined;
    const cause = ended?.cause ?? error;
    const { bodyLimit, config } = request.routeOptions;
    const { upload } = config;
    const known =
      problemOf(cause) ??
      (upload === undefined
        ? problemOfFastify(cause, bodyLimit)
        : problemOfFastify(cause, bodyLimit, 'IMPORT_LIMIT_BYTES', Object.keys(upload)));
    const record = ended?.record;
    if (record !== undefined) reply.header(PURGE_ID_HEADER, record.id);
    // The end of a purge that has a record is logged with the record.
    else if (known === undefined) request.log.error({ err: cause }, 'request failed');
    else logRefusal(request, known.problem, cause);
    if (cause instanceof AccessRefusedError) options.onRefused?.(cause.reason);
    const done = ended?.hasBegun === true ? record : undefined;
    return sendProblem(
      request,
      reply.headers(known?.headers ?? {}),
      known?.problem ?? unexpectedProblem(),
      done === undefined ? {} : { deleted: done.deleted, failed: done.failed, unknown: done.unknown },
    );
  }

  function sendNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const path = instanceOf(request.raw.url ?? '');
    const allowed = (['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).filter((method) =>
      app.hasRoute({ method, url: path }),
    );
    if (allowed.length > 0) {
      const detail = `${request.method} is not allowed on ${path}: use ${allowed.join(' or ')}.`;
      return refuse(request, reply.header('allow', allowed.join(', ')), problem('methodNotAllowed', detail));
    }
    const detail =
      `There is nothing at ${path}: the broker's API is under /ngsi-ld, the ` +
      'schema service under /api/v2, the health of this gateway under /health.';
    return refuse(request, reply, problem('notFound', detail));
  }
}

/** Refuses a request that no route handles. */
function refuse(request: FastifyRequest, reply: FastifyReply, refusal: Problem): FastifyReply {
  logRefusal(request, refusal);
  return sendProblem(request, reply, refusal);
}

function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
  members: Readonly<Record<string, unknown>> = {},
): FastifyReply {
  const body = { ...problem, instance: instanceOf(request.raw.url ?? ''), ...members };
  return (
    reply
      .code(problem.status)
      .header('content-type', 'application/problem+json')
      // Errors of the router occur before the hooks run.
      .header(REQUEST_ID_HEADER, request.id)
      // Sends bytes, because Fastify adds a charset parameter to text, which this media type does not have (RFC 9457
      // § 6.1).
      .send(Buffer.from(JSON.stringify(body)))
  );
}

/** Logs a refusal. If the request is not at fault, the cause is included. */
function logRefusal(request: FastifyRequest, problem: Problem, cause?: unknown): void {
  const fields = refusalFields(request.raw, problem);
  if (problem.status === 503) {
    // A refusal for lack of capacity has no further cause and occurs in large numbers; logging its stack would take
    // longer than the answer.
    const hasReason = cause instanceof Error && cause.cause !== undefined;
    request.log.warn({ ...fields, ...(hasReason ? { err: cause } : {}) }, 'request failed for now');
  } else request.log.info(fields, 'request refused');
}

/** Adds the request id to the answer, as in logs and records. */
function addRequestId(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  reply.header(REQUEST_ID_HEADER, request.id);
  done();
}

/**
 * Echoes the tenant in every answer of the NGSI-LD API (clause 6.3.14). Answers of the other API do not depend on the
 * tenant and may be cached.
 */
function echoTenant(request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void): void {
  const tenant = request.headers['ngsild-tenant'];
  if (typeof tenant === 'string' && !isApiPath(request.url)) reply.header('ngsild-tenant', tenant);
  done();
}
