import { setFlagsFromString } from 'node:v8';
import { pino, type DestinationStream } from 'pino';
import { loadConfig, type Config } from './shared/config/load.js';
import { startGateway, type Gateway } from './gateway.js';
import { isLoopback } from './shared/loopback.js';
import { ENOUGH_MEMORY_BYTES, MEMORY_BYTES } from './shared/memory.js';
import { shutDownOnSignals, exitAfter, isNpmStart } from './shared/signals.js';
import { writeWithoutWaiting } from './shared/terminal-output.js';
import { isMistake, startErrorLines } from './start-error.js';

/** Exit codes: a configuration mistake has a different one than a failed start. */
const EXIT_CONFIG = 2;
const EXIT_FAILED = 1;

/** Maximum time for the process to exit after the gateway is closed, in milliseconds. */
const EXIT_TIMEOUT_MS = 500;

/** Maximum size of log lines that wait for a reader of standard output. */
const LOG_BACKLOG_BYTES = 8 * 1024 * 1024;

async function main(): Promise<void> {
  tuneGarbageCollector();
  writeWithoutWaiting(process.stdout, process.stderr);
  let config: Config;
  try {
    config = loadConfig(process.env);
  } catch (error) {
    fail(error, EXIT_CONFIG);
    return;
  }
  const logger = pino({ level: config.LOG_LEVEL }, logOutput());
  const gateway = await startGateway(config, { logger }).catch((error: unknown) =>
    fail(error, isMistake(error) ? EXIT_CONFIG : EXIT_FAILED),
  );
  if (gateway === undefined) return;

  if (config.GATEWAY_TOKEN === undefined && config.AUTH_ISSUER === undefined && !isLoopback(config.HOST)) {
    logger.warn(
      'GATEWAY_OPEN is set: anyone who can reach this address can ' +
        'purge, bypassing the limits of a gateway in front, and change schemas',
    );
  }
  if (config.GATEWAY_TOKEN !== undefined && config.AUTH_ISSUER !== undefined) {
    logger.warn(
      'GATEWAY_TOKEN is set as well as AUTH_ISSUER: a request with it may do everything without signing in, so a proxy must add it ' +
        'only to requests that it has authenticated itself',
    );
  }
  const takesAnyHost = config.GATEWAY_TOKEN !== undefined || config.GATEWAY_OPEN;
  const isNamed = config.PUBLIC_URL !== undefined || config.ALLOWED_HOSTS !== undefined;
  if (!takesAnyHost && !isNamed && !isLoopback(config.HOST)) {
    logger.warn(
      'neither PUBLIC_URL nor ALLOWED_HOSTS names the host of this gateway: requests that change something are refused ' +
        'if their Host is a name and not an IP address (host-not-allowed)',
    );
  }
  if (MEMORY_BYTES < ENOUGH_MEMORY_BYTES) {
    logger.warn(
      { memoryBytes: MEMORY_BYTES },
      'there is less than 512 MiB of memory: purges run, but the system may end the gateway during an import, or while it ' +
        'judges large bodies',
    );
  }
  shutDownOnSignals(process, {
    close: () => gateway.close(),
    log: (cause, message) => logger.info(cause, message),
    onClosed: () => {
      logger.info('closed');
      process.exitCode = 0;
      exitAfter(process, EXIT_TIMEOUT_MS);
    },
    startedByNpm: isNpmStart(process.env),
    nowMs: () => performance.now(),
  });
  // Printed last, because whoever reads it may stop the gateway, or npm, at once.
  if (process.env['NODE_ENV'] === 'production')
    logger.info({ url: gateway.url, broker: gateway.brokerUrl, metrics: gateway.metricsUrl }, 'listening');
  else process.stdout.write(startupMessage(gateway, credentialsOf(config)));
}

/**
 * Opens standard output for the log. While it cannot be written, e.g. because the disk is full or the reader of a pipe
 * hangs, lines are lost, and the gateway keeps working: pino would throw the error, keep all lines in memory, and try for
 * ever to write the rest before the process exits.
 */
function logOutput(): DestinationStream {
  process.stdout.on('error', () => {});
  const open = () => {
    let giveUpAtMs = Infinity;
    const output = pino.destination({
      minLength: 0,
      maxLength: LOG_BACKLOG_BYTES,
      retryEAGAIN: () => performance.now() < giveUpAtMs,
    });
    const flushSync = output.flushSync.bind(output);
    // Called when the process exits.
    output.flushSync = () => {
      giveUpAtMs = performance.now() + EXIT_TIMEOUT_MS;
      try {
        flushSync();
      } catch {
        // Nobody reads the rest.
      }
    };
    output.on('error', () => {
      output.flushSync = () => {};
      current = open();
    });
    return output;
  };
  let current = open();
  return { write: (line) => current.write(line) };
}

/** Tunes V8's garbage collector for a server whose requests leave nothing behind. */
function tuneGarbageCollector(): void {
  // Objects made for the first requests, while code is slow, seem to live long. V8 would then allocate similar objects directly
  // in old space, where each keeps a whole request with all its bytes alive until a full collection.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Run a full collection when old space has as much garbage as live objects; V8 would wait for three times that.
  setFlagsFromString('--heap-growing-percent=100');
}

/** Returns the curl option that authorizes a purge. */
function credentialsOf({ GATEWAY_TOKEN: tokens = [], AUTH_ISSUER: issuer }: Config): string {
  if (issuer !== undefined) return ' -H "Authorization: Bearer $ACCESS_TOKEN"';
  // If there are two tokens, use the first.
  const variable = tokens.length > 1 ? '${GATEWAY_TOKEN%%,*}' : '$GATEWAY_TOKEN';
  return tokens.length > 0 ? ` -H "X-Gateway-Token: ${variable}"` : '';
}

/** Returns the text shown after `npm start`. */
function startupMessage(
  { url: address, brokerUrl, metricsUrl, consoleUrl, embeddedBroker }: Gateway,
  credentials: string,
): string {
  // One can listen on an unspecified address, but not call it.
  const callable = (text: string) =>
    text.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  const url = callable(address);
  const entities = `${url}/ngsi-ld/v1/entities`;
  const query = `${entities}?type=Vehicle&q=speed%3E100`;
  const lines =
    embeddedBroker === undefined
      ? [
          `Broker: ${brokerUrl}`,
          'Try it: count what a purge would delete',
          `  curl -X DELETE${credentials} '${entities}?type=YourType&dryRun=true'`,
        ]
      : [
          `Broker: embedded, in memory, with ${embeddedBroker.entities.count()} sample entities (set BROKER_URL for a real one)`,
          'Try it: see what matches, purge it, and look again',
          `  curl '${query}'`,
          `  curl -i -X DELETE${credentials} '${query}'`,
        ];
  const what = `NGSI-LD gateway on ${url}: purges entities by query, passes everything else under /ngsi-ld to the broker.`;
  const schemas = `Schemas, models and contexts: ${url}/api/v2/openapi.json describes their API`;
  const page =
    consoleUrl === undefined
      ? []
      : [`In a browser: ${callable(consoleUrl)} previews, runs and shows purges, and edits models`];
  const metrics = metricsUrl.startsWith(`${address}/`) ? [] : [`Metrics: ${metricsUrl}`];
  return [what, ...lines, ...page, schemas, ...metrics, ''].join('\n');
}

function fail(error: unknown, exitCode: number): void {
  for (const line of startErrorLines(error)) process.stderr.write(`${line}\n`);
  process.exitCode = exitCode;
}

await main();
