import type { FastifyInstance } from 'fastify';
import type { BrokerClient } from '../broker/client.js';

export interface HealthRoutesOptions {
  readonly client: BrokerClient;
  readonly isShuttingDown: () => boolean;
}

/** Time within which the broker must answer for the gateway to be ready, in milliseconds. */
const READY_TIMEOUT_MS = 2000;

/** `GET /health/live` (the process serves) and `GET /health/ready` (it takes work, and the broker answers). */
export function registerHealthRoutes(app: FastifyInstance, options: HealthRoutesOptions): void {
  app.get('/health/live', async () => ({ status: 'up' }));
  app.get('/health/ready', async (_request, reply) => {
    const broker = options.isShuttingDown()
      ? 'not asked'
      : (await brokerAnswers(options.client))
        ? 'up'
        : 'down';
    const isReady = broker === 'up';
    return reply
      .code(isReady ? 200 : 503)
      .send({ status: isReady ? 'up' : options.isShuttingDown() ? 'shutting down' : 'down', broker });
  });
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
