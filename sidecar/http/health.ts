import type { FastifyInstance } from 'fastify';
import { type BrokerClient, isUnknownTenant, parseBrokerProblem } from '../purge/broker/index.js';
import type { SchemaService } from '../schemas/models/index.js';
import type { Clock } from '../shared/clock.js';

/** The broker and the database to ask, and whether the gateway is shutting down. */
export interface HealthOptions {
  readonly client: BrokerClient;
  readonly schemas: SchemaService;
  readonly isShuttingDown: () => boolean;
}

/** Whether the gateway accepts work, and whether its broker and its database respond. */
export interface Health {
  readonly status: 'up' | 'down' | 'shutting down';
  readonly broker: 'up' | 'down' | 'not asked';
  readonly database: 'up' | 'down' | 'not asked';
}

/** Maximum response time of the broker for the gateway to be ready, in milliseconds. */
const READY_TIMEOUT_MS = 2000;

/** The running check of each broker. Anyone may ask for the health, so everyone who waits shares one check. */
const CHECKS = new WeakMap<BrokerClient, Promise<Health>>();

/** Checks the broker and the database. Never rejects. */
export async function readHealth(options: HealthOptions): Promise<Health> {
  const { client, isShuttingDown } = options;
  if (isShuttingDown()) return { status: 'shutting down', broker: 'not asked', database: 'not asked' };
  const pending = CHECKS.get(client) ?? checked(options).finally(() => CHECKS.delete(client));
  CHECKS.set(client, pending);
  return pending;
}

async function checked({ client, schemas }: HealthOptions): Promise<Health> {
  const [isBrokerUp, isDatabaseUp] = await Promise.all([brokerAnswers(client), schemas.store.isReady()]);
  return {
    status: upOrDown(isBrokerUp && isDatabaseUp),
    broker: upOrDown(isBrokerUp),
    database: upOrDown(isDatabaseUp),
  };
}

function upOrDown(isUp: boolean): 'up' | 'down' {
  return isUp ? 'up' : 'down';
}

/** The paths of the collection: some brokers know only the one with a slash. */
const COLLECTIONS = ['/entities', '/entities/'] as const;

/**
 * Whether the broker responds. Any answer except a server error counts, since a gateway without credentials of its own
 * may well be refused. A 404 only counts if it is about the tenant: else BROKER_URL does not lead to a broker.
 */
async function brokerAnswers(client: BrokerClient): Promise<boolean> {
  const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
  try {
    for (const collection of COLLECTIONS) {
      const reply = await client.send({
        method: 'GET',
        path: `${collection}?type=NoSuchTypeHealthProbe&limit=1`,
        signal,
      });
      if (reply.status !== 404 || isUnknownTenant(parseBrokerProblem(reply))) return reply.status < 500;
    }
    return false;
  } catch {
    return false;
  }
}

/** Minimum time between two requests to the broker, in milliseconds. */
const BROKER_ASKED_EVERY_MS = 15_000;

/**
 * Returns a function that says whether the broker responds. The broker is asked at most every 15 seconds, however many
 * callers there are.
 */
export function createBrokerProbe(
  client: BrokerClient,
  clock: Pick<Clock, 'monotonicMs'>,
): () => Promise<boolean> {
  let askedMs = -Infinity;
  let answers = Promise.resolve(false);
  return () => {
    if (clock.monotonicMs() - askedMs >= BROKER_ASKED_EVERY_MS) {
      askedMs = clock.monotonicMs();
      answers = brokerAnswers(client);
    }
    return answers;
  };
}

/**
 * Registers `GET /health/live` (the process is running) and `GET /health/ready` (it accepts work, and broker and
 * database respond).
 */
export function registerHealthRoutes(app: FastifyInstance, options: HealthOptions): void {
  app.get('/health/live', async () => ({ status: 'up' }));
  app.get('/health/ready', async (_request, reply) => {
    const health = await readHealth(options);
    return reply.code(health.status === 'up' ? 200 : 503).send(health);
  });
}
