import type { FastifyInstance } from 'fastify';
import { readHealth, type HealthOptions } from './health.js';

/** `GET /health/live` (the process serves) and `GET /health/ready` (it takes work; broker and database answer). */
export function registerHealthRoutes(app: FastifyInstance, options: HealthOptions): void {
  app.get('/health/live', async () => ({ status: 'up' }));
  app.get('/health/ready', async (_request, reply) => {
    const health = await readHealth(options);
    return reply.code(health.status === 'up' ? 200 : 503).send(health);
  });
}
