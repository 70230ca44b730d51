import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { stdSerializers } from 'pino';
import { createTokenVerifier } from './auth/index.js';
import type { EmbeddedBroker } from './embedded-broker/index.js';
import { GracefulShutdown } from './graceful-shutdown.js';
import { Access, TOKEN_HEADER } from './http/access.js';
import { createBaseUrl } from './http/api/request-hooks.js';
import { buildApp } from './http/app.js';
import type { MinDataRate } from './http/min-data-rate.js';
import { createBrokerProbe } from './http/health.js';
import { CONSOLE_PATH, findConsole } from './http/console-routes.js';
import { createLoopCheck, createHostCheck } from './http/request-checks.js';
import { openTracing } from './tracing/open-tracing.js';
import { startMetricsServer } from './http/metrics-routes.js';
import { POLICY_HEADER } from './http/new-purge.js';
import { createPassThrough } from './http/pass-through.js';
import { refusalFields, requestIdOf } from './http/request-log.js';
import { createRequestPipeline } from './http/request-pipeline.js';
import { createWriteGate } from './http/write-gate.js';
import { createMetrics } from './metrics/metrics.js';
import { openConfiguredArchives } from './open-archives.js';
import { openBroker } from './open-broker.js';
import { openPurges } from './open-purges.js';
import { openWriteChecks } from './open-write-checks.js';
import { ScanService } from './scans/scan-service.js';
import { openSchemas, type Workers } from './schemas/open-schemas.js';
import { systemClock, type Clock } from './shared/clock.js';
import type { Config } from './shared/config/load.js';
import { configuredNames } from './shared/own-names.js';
import { errorCode } from './shared/errors.js';
import { PendingConnections, yieldToEventLoop } from './shared/event-loop.js';
import { createViaName } from './shared/via.js';
import { openStore } from './store/databases.js';

/** A running gateway: purges, schemas, health, and everything else under /ngsi-ld passed through to the broker. */
export interface Gateway {
  /** The URL that it listens on. */
  readonly url: string;
  /** The broker's URL without credentials, for people. */
  readonly brokerUrl: string;
  /** URL of the metrics, on a separate port if METRICS_PORT is set. */
  readonly metricsUrl: string;
  /** Undefined if the console is not served. */
  readonly consoleUrl: string | undefined;
  readonly embeddedBroker: EmbeddedBroker | undefined;
  /**
   * Shuts down. Running purges stop (deletes in flight finish), new ones are refused, and pass-through continues while anything
   * is running, at most for the grace time. After that, whatever still waits for the broker ends without the broker's answer:
   * purges end with what is known about them, and clients get an answer, within two seconds. Resolves when everything is
   * closed; a second call ends the grace time.
   */
  close(): Promise<void>;
}

export interface GatewayOptions {
  readonly logger: FastifyBaseLogger;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** How slowly clients may send and read. @default 60 s without progress, or 60 s behind a pace of 1000 bytes per second */
  readonly minDataRate?: Partial<MinDataRate>;
  /** Time limit for reading the OpenID provider's keys, in milliseconds. @default 5000 */
  readonly providerTimeoutMs?: number;
  /** Threads for the work on schemas. By default, they are started with the first task. */
  readonly workers?: Workers;
}

/** Everything that has been opened so far. */
class OpenResources {
  readonly #closers: (() => Promise<unknown>)[] = [];

  add(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }

  /** Closes everything, the latest first. An error while closing one does not keep the others open. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close().catch(() => {});
  }
}

/**
 * Builds the gateway from its configuration and starts listening. If no broker is configured, starts the embedded one.
 *
 * @throws the listen error, e.g. EADDRINUSE; DatabaseUnusableError
 */
export async function startGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const resources = new OpenResources();
  try {
    return await start(config, options, resources);
  } catch (error) {
    await resources.close();
    throw error;
  }
}

/** Returns what the console needs to sign users in. */
function consoleSignIn({ AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience, AUTH_CLIENT_ID: clientId }: Config) {
  return issuer === undefined || audience === undefined ? undefined : { issuer, clientId, audience };
}

async function start(config: Config, options: GatewayOptions, resources: OpenResources): Promise<Gateway> {
  const { clock = systemClock, random = Math.random } = options;
  const logger = options.logger.child({}, { serializers: { err: loggedError } });
  const store = await openStore(config, {
    clock,
    onAway: (err) => logger.error({ err }, 'the database cannot be reached'),
    onBack: () => logger.info('the database can be used again'),
  });
  resources.add(() => store.close());
  const tracing = await openTracing({
    endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    serviceName: config.OTEL_SERVICE_NAME,
    instanceName: config.INSTANCE_NAME,
    samplingRatio: config.OTEL_TRACES_SAMPLER_ARG,
    onAway: (reason) => logger.warn({ reason }, 'the collector does not accept traces'),
    onBack: () => logger.info('the collector accepts traces again'),
  });
  resources.add(async () => tracing?.close());
  const schemas = openSchemas(config, store, clock, options.workers);
  resources.add(() => schemas.close());
  const metrics = createMetrics({
    purgesRunning: () => purges.jobs.registry.purges,
    scansRunning: () => purges.jobs.registry.scans,
    purgesQueued: () => purges.jobs.queued(),
    workers: () => schemas.workers(),
    isBrokerUp: () => isBrokerUp(),
    isStoreUp: () => store.isReady(),
  });
  const viaName = createViaName();
  const newConnections = new PendingConnections();
  const broker = await openBroker(config, {
    viaName,
    newConnections,
    onEnded(end) {
      metrics.requests.brokerAnswered(end);
      tracing?.brokerAnswered(end);
    },
  });
  resources.add(() => broker.close());
  const { client } = broker;
  const isBrokerUp = createBrokerProbe(client, clock);
  const archives = await openConfiguredArchives(config, logger, metrics.purges);
  resources.add(async () => archives?.close());
  const purges = openPurges(config, {
    store,
    broker,
    isBrokerUp,
    archives,
    clock,
    random,
    logger,
    metrics,
    tracing,
  });
  resources.add(() => purges.close());
  const scans = new ScanService(purges.jobs, {
    setup: purges.kinds.entities,
    judge: schemas.judge,
    entities: store.scanEntities,
  });
  const writes = await openWriteChecks(config, { store, schemas, client, clock, metrics, logger });
  const baseUrlOf = createBaseUrl(config.PUBLIC_URL);
  const passThrough = createPassThrough({
    dispatcher: broker.pool,
    brokerUrl: broker.url,
    viaName,
    strippedHeaders: [TOKEN_HEADER, POLICY_HEADER],
    brokerTimeoutMs: config.BROKER_TIMEOUT_MS,
    onEnded: metrics.requests.passedThrough,
    onError: (error, failure) => {
      if (failure.kind === 'slow-client') logger.info(failure, 'pass-through ended: its client is too slow');
      else logger.warn({ err: error, ...failure }, 'pass-through failed');
    },
  });

  const signIn = createTokenVerifier(config, {
    clock,
    timeoutMs: options.providerTimeoutMs,
    onAway: (err) => logger.error({ err }, 'the keys of the OpenID provider cannot be read'),
    onBack: () => logger.info('the keys of the OpenID provider can be read again'),
  });
  resources.add(async () => signIn?.close());
  const access = new Access({
    tokens: config.GATEWAY_TOKEN,
    signIn,
    isTokenForwarded: config.AUTH_FORWARD,
    isClientRecorded: signIn !== undefined || config.TRUSTED_PROXIES !== undefined,
    onTokenRefused: () => metrics.requests.refused('token'),
  });
  const pipeline = createRequestPipeline(() =>
    logger.info('connection closed: too many requests waited on it'),
  );
  const consoleFolder = config.CONSOLE === 'on' ? findConsole(import.meta.dirname) : undefined;
  const app = buildApp({
    logger,
    pipeline,
    onRequest: tracing && ((req, res) => tracing.request(req, res)),
    minDataRate: options.minDataRate,
    client,
    purges: purges.service,
    scans,
    retention: purges.retention,
    access,
    trustedProxies: config.TRUSTED_PROXIES,
    onRefused: (reason) => metrics.requests.refused(reason),
    metrics: config.METRICS_PORT === undefined ? metrics : undefined,
    checkHost: createHostCheck({
      names: configuredNames(config),
      anyHost: config.GATEWAY_TOKEN !== undefined || config.GATEWAY_OPEN,
    }),
    checkLoop: createLoopCheck(viaName),
    schemas: schemas.service,
    workbench: schemas.workbench,
    transfer: schemas.transfer,
    baseUrlOf,
    publicPath: config.PUBLIC_URL?.pathname.replace(/\/+$/, ''),
    consoleFolder,
    bodyLimit: config.BODY_LIMIT_BYTES,
    importLimit: config.IMPORT_LIMIT_BYTES,
    isShuttingDown: () => shutdown.hasBegun,
    learnt: () => purges.capabilities(),
    environment: config.ENVIRONMENT_NAME,
    consoleSignIn: consoleSignIn(config),
    writePolicies: writes.policies,
    writeChecks: writes.checks,
    onWritten: writes.onStoreWritten,
    passThrough: createWriteGate({
      passThrough,
      checks: writes.checks,
      access,
      bodyLimit: config.BODY_LIMIT_BYTES,
      onRefused: (req, draft) => {
        metrics.requests.refused('write-check');
        logger.debug({ reqId: requestIdOf(req), ...refusalFields(req, draft) }, 'write refused');
      },
    }),
  });
  const metricsServer =
    config.METRICS_PORT === undefined
      ? undefined
      : await startMetricsServer(metrics, {
          host: config.HOST,
          port: config.METRICS_PORT,
          onFailed: (err) => logger.error({ err }, 'the metrics cannot be read'),
        });
  resources.add(async () => metricsServer?.close());
  app.server.on('connection', () => newConnections.recordConnection());
  resources.add(async () => {
    // Idle connections are closed first; clients still being served at this point are cut off.
    app.server.closeIdleConnections();
    const closed = app.close();
    app.server.closeAllConnections();
    await closed;
  });
  const shutdown = new GracefulShutdown({
    graceMs: config.SHUTDOWN_GRACE_MS,
    clock,
    stop: () => {
      for (const event of ['request', 'checkContinue', 'checkExpectation'])
        app.server.prependListener(event, endConnection);
      purges.stop();
    },
    idle: async () => {
      await purges.jobs.registry.idle();
      // Requests that have arrived on idle or new connections are read and answered, too.
      await yieldToEventLoop();
      await newConnections.acceptPending();
      await pipeline.idle();
    },
    abortRequests: () => void broker.abortRequests(),
    close: () => resources.close(),
  });
  // Fastify passes all options on to node:net, but its types do not know reusePort.
  const address = { host: config.HOST, port: config.PORT, reusePort: config.REUSE_PORT };
  await app.listen(address);
  purges.start();
  store.listen((notice) => purges.jobs.onNotice(notice));

  const { address: ip, port, family } = app.server.address() as AddressInfo;
  const url = `http://${family === 'IPv6' ? `[${ip}]` : ip}:${port}`;
  return {
    url,
    metricsUrl: metricsServer?.url ?? `${url}/metrics`,
    consoleUrl: consoleFolder === undefined ? undefined : `${url}${CONSOLE_PATH}`,
    brokerUrl: broker.url.href.replace(/\/$/, ''),
    embeddedBroker: broker.embedded,
    close: () => shutdown.begin(),
  };
}

/** Tells the client that its connection ends with this answer. */
function endConnection(_: IncomingMessage, res: ServerResponse): void {
  res.shouldKeepAlive = false;
}

/**
 * Returns what the log says of an error: its type, its code, and the messages and stacks of the error and its causes.
 * Libraries put data into other members, such as a part of the broker's answer.
 */
function loggedError(error: Error): object {
  const { type, message, stack } = stdSerializers.err(error);
  return { type, code: errorCode(error), message, stack };
}
