import type { FastifyInstance } from 'fastify';
import type { BrokerClient } from '../purge/broker/client.js';
import type { SchemaService } from '../schemas/service/service.js';

export interface HealthRoutesOptions {
  readonly client: BrokerClient;
  readonly schemas: SchemaService;
  readonly isShuttingDown: () => boolean;
}

/** Time within which the broker must answer for the gateway to be ready, in milliseconds. */
const READY_TIMEOUT_MS = 2000;

/** `GET /health/live` (the process serves) and `GET /health/ready` (it takes work; broker and database answer). */
export function registerHealthRoutes(app: FastifyInstance, options: HealthRoutesOptions): void {
  const { client, schemas, isShuttingDown } = options;
  app.get('/health/live', async () => ({ status: 'up' }));
  app.get('/health/ready', async (_request, reply) => {
    if (isShuttingDown())
      return reply.code(503).send({ status: 'shutting down', broker: 'not asked', database: 'not asked' });
    const [isBrokerUp, isDatabaseUp] = await Promise.all([brokerAnswers(client), schemas.isReady()]);
    const isReady = isBrokerUp && isDatabaseUp;
    return reply
      .code(isReady ? 200 : 503)
      .send({ status: upOrDown(isReady), broker: upOrDown(isBrokerUp), database: upOrDown(isDatabaseUp) });
  });
}

function upOrDown(isUp: boolean): 'up' | 'down' {
  return isUp ? 'up' : 'down';
}

/** Any answer but a server error will do: without credentials of its own, the gateway may well be refused. */
async function brokerAnswers(client: BrokerClient): Promise<boolean> {
  const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
  try {
    const { status } = await client.send({
      method: 'GET',
      path: '/entities?type=NoSuchTypeHealthProbe&limit=1',
      signal,
    });
    return status < 500;
  } catch {
    return false;
  }
}
