import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { it } from 'node:test';
import Fastify from 'fastify';
import { Access, setRule } from '../../../sidecar/http/access.js';
import { registerPurgeRoutes } from '../../../sidecar/http/purge-routes.js';
import type { NewPurge } from '../../../sidecar/jobs/purge-kinds.js';
import type { PurgeService } from '../../../sidecar/jobs/purge-service.js';
import { yieldToEventLoop } from '../../../sidecar/shared/event-loop.js';

const REPORT = { dryRun: false, matched: 3, failed: 0, unknown: 0, warnings: [], errors: [] };

/** The routes of purges only, with a service that collects its calls. */
function routesOf() {
  const ran: NewPurge[] = [];
  const failures: unknown[] = [];
  const purges: Pick<PurgeService, 'run'> = {
    run: async (order) => {
      ran.push(order);
      return { report: REPORT, record: { id: 'p-2' } } as unknown as Awaited<ReturnType<PurgeService['run']>>;
    },
  };
  const app = Fastify().addHook('onRoute', setRule);
  app.setErrorHandler(async (error, _request, reply) => {
    failures.push(error);
    return reply.code(500).send({});
  });
  registerPurgeRoutes(app, {
    purges: purges as PurgeService,
    access: new Access({ tokens: undefined }),
  });
  return { app, ran, failures };
}

it('a purge applies to the collection of its path, with or without a trailing slash, and keeps its query unchanged', async () => {
  const { app, ran } = routesOf();
  for (const [path, target] of [
    ['/ngsi-ld/v1/entities', 'entities'],
    ['/ngsi-ld/v1/entities/', 'entities'],
    ['/ngsi-ld/v1/temporal/entities', 'temporal'],
    ['/ngsi-ld/v1/temporal/entities/', 'temporal'],
  ] as const) {
    for (const query of ['type=T&q=a%3E1?b', undefined]) {
      const { statusCode } = await app.inject({
        method: 'DELETE',
        url: query === undefined ? path : `${path}?${query}`,
      });
      assert.equal(statusCode, 204);
      const order = ran.at(-1) ?? assert.fail();
      assert.deepEqual([order.target, order.query], [target, query ?? ''], path);
    }
  }
  assert.equal(ran.length, 8);
});

it('a purge whose body is cut off before its first byte ends as failed, and is not run', async () => {
  const { app, ran, failures } = routesOf();
  try {
    await app.listen({ host: '127.0.0.1', port: 0 });
    const arrived = once(app.server, 'request');
    const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined);
    client.write(
      'DELETE /ngsi-ld/v1/entities?type=T HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const [, response] = (await arrived) as [unknown, NodeJS.EventEmitter];
    const closed = once(response, 'close');
    client.destroy();
    await closed;
    await yieldToEventLoop();
    assert.deepEqual([ran.length, failures.length], [0, 1]);
  } finally {
    await app.close();
  }
});
