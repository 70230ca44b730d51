import type { AddressInfo } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { Pool } from 'undici';
import { BrokerClock, createBrokerClient } from './purge/broker/index.js';
import type { Config } from './shared/config/load.js';
import { openSignIn } from './auth/index.js';
import { startEmbeddedBroker, type EmbeddedBroker } from './embedded-broker/index.js';
import { Access } from './http/access.js';
import { createBaseUrl } from './http/api/admission.js';
import { buildApp } from './http/app.js';
import type { ClientPace } from './http/client-pace.js';
import { createBrokerProbe } from './http/health.js';
import { CONSOLE_PATH, findConsole } from './http/console-routes.js';
import { createVoucher, TOKEN_HEADER, createLoopCheck, createHostCheck } from './http/request-checks.js';
import { openTracing } from './tracing/open-tracing.js';
import { startMetricsServer } from './http/metrics-routes.js';
import { POLICY_HEADER } from './http/new-purge.js';
import { createPassThrough } from './http/pass-through.js';
import { refusalFields, requestIdOf } from './http/request-log.js';
import { createTurns } from './http/turns.js';
import { createWriteGate } from './http/write-gate.js';
import { createMetrics } from './metrics/metrics.js';
import { openConfiguredArchives } from './open-archives.js';
import { openPurges, type OpenPurges } from './open-purges.js';
import { openWriteChecks } from './open-write-checks.js';
import { ScanService } from './scans/scan-service.js';
import { openSchemas, type Workers } from './schemas/open-schemas.js';
import { systemClock, type Clock } from './shared/clock.js';
import { Newcomers, OneATurn } from './shared/next-turn.js';
import { createViaName } from './shared/via.js';
import { openStore } from './store/databases.js';

/** A running gateway: purges, schemas, health, and everything else under /ngsi-ld passed through to the broker. */
export interface Gateway {
  /** Where it listens. */
  readonly url: string;
  /** The broker's URL without credentials, for people. */
  readonly brokerUrl: string;
  /** Where the metrics are read: at a port of their own where METRICS_PORT is set. */
  readonly metricsUrl: string;
  /** Undefined where the console is not served. */
  readonly consoleUrl: string | undefined;
  readonly embeddedBroker: EmbeddedBroker | undefined;
  /**
   * Shuts down: running purges stop (deletes in flight finish), new ones are refused, pass-through goes on while
   * anything is running, at most for the grace time. Then what still waits for the broker ends without its answer: purges
   * with what is known of them, and clients get theirs, within two seconds. Resolves when everything is closed; a second
   * call ends the grace time.
   */
  close(): Promise<void>;
}

export interface GatewayOptions {
  readonly logger: FastifyBaseLogger;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** How slowly clients may send and read. @default 60 s at a standstill, or behind 1000 bytes a second */
  readonly clientPace?: Partial<ClientPace>;
  /** For one look at the OpenID provider, in milliseconds. @default 5000 */
  readonly providerTimeoutMs?: number;
  /** Threads for the work on schemas. By default, they are started when the first work comes. */
  readonly workers?: Workers;
}

/** After the grace time: for records and answers of what was at work, in milliseconds. */
const ENDING_MS = 2000;

/** What has been opened so far. */
class Opened {
  readonly #closers: (() => Promise<unknown>)[] = [];

  add(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }

  /** Closes everything, the latest first; what fails to close keeps nothing else open. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close().catch(() => {});
  }
}

/**
 * Wires the gateway from its configuration and starts listening. Without a broker configured, starts the embedded one.
 *
 * @throws the listen error, e.g. EADDRINUSE; DatabaseUnusableError
 */
export async function startGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const opened = new Opened();
  try {
    return await start(config, options, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** What the console needs to sign people in. */
function consoleSignIn({ AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience, AUTH_CLIENT_ID: clientId }: Config) {
  return issuer === undefined || audience === undefined ? undefined : { issuer, clientId, audience };
}

async function start(config: Config, options: GatewayOptions, opened: Opened): Promise<Gateway> {
  const { logger, clock = systemClock, random = Math.random } = options;
  const store = await openStore(config, {
    clock,
    onAway: (err) => logger.error({ err }, 'the database cannot be reached'),
    onBack: () => logger.info('the database can be used again'),
  });
  opened.add(() => store.close());
  const tracing = await openTracing({
    endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    serviceName: config.OTEL_SERVICE_NAME,
    instanceName: config.INSTANCE_NAME,
    share: config.OTEL_TRACES_SAMPLER_ARG,
    onAway: (reason) => logger.warn({ reason }, 'the collector takes no traces'),
    onBack: () => logger.info('the collector takes traces again'),
  });
  opened.add(async () => tracing?.close());
  const schemas = openSchemas(config, store, clock, options.workers);
  opened.add(() => schemas.close());
  let purges: OpenPurges | undefined;
  let isBrokerUp = async () => false;
  const metrics = createMetrics({
    purgesRunning: () => purges?.jobs.registry.purges ?? 0,
    scansRunning: () => purges?.jobs.registry.scans ?? 0,
    purgesQueued: async () => purges?.jobs.queued() ?? 0,
    workers: () => schemas.workers(),
    isBrokerUp: () => isBrokerUp(),
    isStoreUp: () => store.isReady(),
    lockWaits: () => store.lockWaits,
  });
  const metricsServer =
    config.METRICS_PORT === undefined
      ? undefined
      : await startMetricsServer(metrics, { host: config.HOST, port: config.METRICS_PORT });
  opened.add(async () => metricsServer?.close());
  const embeddedBroker =
    config.BROKER_URL === 'embedded' ? await startEmbeddedBroker({ sampleData: true }) : undefined;
  opened.add(async () => embeddedBroker?.close());
  const brokerUrl = embeddedBroker === undefined ? (config.BROKER_URL as URL) : new URL(embeddedBroker.url);

  const viaName = createViaName();
  const newcomers = new Newcomers();
  const brokerClock = new BrokerClock();
  const client = createBrokerClient({
    brokerUrl,
    timeoutMs: config.BROKER_TIMEOUT_MS,
    viaName,
    large: new OneATurn(newcomers),
    // The time of day, as retention has it.
    onReply: (reply) => brokerClock.note(reply, systemClock.now()),
    onEnded(end) {
      metrics.requests.brokerAnswered(end);
      tracing?.brokerAnswered(end);
    },
  });
  opened.add(() => client.close());
  isBrokerUp = createBrokerProbe(client, clock);
  // As many connections as pass-through lets requests in.
  const pool = new Pool(brokerUrl.origin, { connections: null });
  opened.add(() => pool.destroy());
  const archives = await openConfiguredArchives(config, logger, metrics.purges);
  opened.add(async () => archives?.close());
  const kept = {
    store: store.jobs,
    policies: store.retention,
    brokerNotes: store.brokerNotes,
    plans: store.plans,
  };
  const brokerAheadMs = () => brokerClock.aheadMs;
  const opening = {
    client,
    brokerUrl,
    brokerAheadMs,
    ...kept,
    clock,
    random,
    logger,
    archives,
    metrics,
    tracing,
  };
  const { service, retention, ...endings } = (purges = openPurges(config, opening));
  opened.add(() => endings.close());
  const scans = new ScanService(endings.jobs, {
    ...{ setup: endings.kinds.entities, judge: schemas.judge, entities: store.scanEntities },
  });
  let isShuttingDown = false;

  const writes = await openWriteChecks(config, { store, schemas, client, clock, metrics, logger });
  const baseUrlOf = createBaseUrl(config.PUBLIC_URL);
  const passThrough = createPassThrough({
    dispatcher: pool,
    brokerUrl,
    viaName,
    strippedHeaders: [TOKEN_HEADER, POLICY_HEADER],
    brokerTimeoutMs: config.BROKER_TIMEOUT_MS,
    onEnded: metrics.requests.passedThrough,
    onError: (error, failure) => {
      if (failure.kind === 'slow-client') logger.info(failure, 'pass-through ended: its client is too slow');
      else logger.warn({ err: error, ...failure }, 'pass-through failed');
    },
  });

  const signIn = openSignIn(config, {
    ...{ clock, timeoutMs: options.providerTimeoutMs },
    onAway: (err) => logger.error({ err }, 'the OpenID provider does not give its keys'),
    onBack: () => logger.info('the OpenID provider gives its keys again'),
  });
  opened.add(async () => signIn?.close());
  const turns = createTurns(() => logger.info('connection closed: too many requests waited on it'));
  const consoleFolder = config.CONSOLE === 'on' ? findConsole(import.meta.dirname) : undefined;
  const app = buildApp({
    logger,
    turns,
    onRequest: tracing && ((req, res) => tracing.request(req, res)),
    clientPace: options.clientPace,
    client,
    purges: service,
    archives: endings.archives,
    scans,
    retention,
    access: new Access({
      ...{ tokens: config.GATEWAY_TOKEN, signIn, forwardsTokens: config.AUTH_FORWARD },
      notesClients: signIn !== undefined || config.TRUSTED_PROXIES !== undefined,
      onTokenRefused: () => metrics.requests.refused('token'),
    }),
    trustedProxies: config.TRUSTED_PROXIES,
    onRefused: (reason) => metrics.requests.refused(reason),
    metrics: metricsServer === undefined ? metrics : undefined,
    checkHost: createHostCheck({
      names: [...(config.ALLOWED_HOSTS ?? []), ...(config.PUBLIC_URL ? [config.PUBLIC_URL.hostname] : [])],
      anyHost: config.GATEWAY_TOKEN !== undefined || signIn !== undefined || config.GATEWAY_OPEN,
    }),
    checkLoop: createLoopCheck(viaName),
    schemas: schemas.service,
    workbench: schemas.workbench,
    transfer: schemas.transfer,
    baseUrlOf,
    consoleFolder,
    bodyLimit: config.BODY_LIMIT_BYTES,
    importLimit: config.IMPORT_LIMIT_BYTES,
    isShuttingDown: () => isShuttingDown,
    learnt: () => endings.learnt(),
    environment: config.ENVIRONMENT_NAME,
    consoleSignIn: consoleSignIn(config),
    writePolicies: writes.policies,
    writeChecks: writes.checks,
    onWritten: writes.noteStored,
    passThrough: createWriteGate({
      passThrough,
      checks: writes.checks,
      baseUrlOf,
      isVouchedFor: createVoucher(config.GATEWAY_TOKEN),
      bodyLimit: config.BODY_LIMIT_BYTES,
      onRefused: (req, draft) => {
        metrics.requests.refused('write-check');
        logger.debug({ reqId: requestIdOf(req), ...refusalFields(req, draft) }, 'write refused');
      },
    }),
  });
  app.server.on('connection', () => newcomers.note());
  opened.add(async () => {
    // Idle connections are closed at once; clients still being served by now are cut off.
    app.server.closeIdleConnections();
    const closed = app.close();
    app.server.closeAllConnections();
    await closed;
  });
  // Fastify hands all options on to node:net; its types do not know reusePort.
  const address = { host: config.HOST, port: config.PORT, reusePort: config.REUSE_PORT };
  await app.listen(address);
  endings.start();
  store.listen((notice) => endings.noticed(notice));

  /** Resolves when no purge runs any more, each has its last record, and every answer is on its way. */
  async function quiet(): Promise<void> {
    await endings.jobs.registry.idle();
    await turns.idle();
  }

  /** @returns whether all was quiet before so many milliseconds had passed, or `enough` aborted */
  async function isQuietWithin(ms: number, enough?: AbortSignal): Promise<boolean> {
    const over = new AbortController();
    const signal = enough === undefined ? over.signal : AbortSignal.any([over.signal, enough]);
    const late = clock.sleep(ms, signal).then(
      () => false,
      () => false,
    );
    const isQuiet = await Promise.race([quiet().then(() => true), late]);
    over.abort();
    return isQuiet;
  }

  async function shutDown(): Promise<void> {
    isShuttingDown = true;
    endings.stop();
    if (!(await isQuietWithin(config.SHUTDOWN_GRACE_MS, forceStop.signal))) {
      // What waits for the broker ends now: deletes in flight are booked as unknown, and every caller is told.
      for (const end of [client.close(), pool.destroy()]) end.catch(() => {});
      await isQuietWithin(ENDING_MS);
    }
    await opened.close();
  }

  const forceStop = new AbortController();
  let closing: Promise<void> | undefined;
  const { address: ip, port, family } = app.server.address() as AddressInfo;
  const url = `http://${family === 'IPv6' ? `[${ip}]` : ip}:${port}`;
  return {
    url,
    metricsUrl: metricsServer?.url ?? `${url}/metrics`,
    consoleUrl: consoleFolder === undefined ? undefined : `${url}${CONSOLE_PATH}`,
    brokerUrl: brokerUrl.href.replace(/\/$/, ''),
    embeddedBroker,
    close() {
      if (closing !== undefined) forceStop.abort();
      return (closing ??= shutDown());
    },
  };
}
