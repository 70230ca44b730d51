import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { it } from 'node:test';
import Fastify from 'fastify';
import { RequestRefusedError } from '../../../sidecar/http/refused.js';
import { Access, setRule } from '../../../sidecar/http/access.js';
import { registerPurgeRoutes } from '../../../sidecar/http/purge-routes.js';
import type { NewPurge } from '../../../sidecar/jobs/purge-kinds.js';
import type { PurgeService } from '../../../sidecar/jobs/purge-service.js';
import { yieldToEventLoop } from '../../../sidecar/shared/event-loop.js';

const REPORT = {
  dryRun: false,
  matched: 3,
  deleted: 2,
  alreadyGone: 1,
  failed: 0,
  unknown: 0,
  arrived: 0,
  requests: 4,
  warnings: [],
  errors: [],
  success: [],
  sample: [],
};

/** The routes of purges only, with a service that collects its calls. */
function routesOf({ token }: { readonly token?: string } = {}) {
  const ran: { readonly order: NewPurge; readonly signal: AbortSignal }[] = [];
  const submitted: NewPurge[] = [];
  const refusals: unknown[] = [];
  const failures: unknown[] = [];
  const purges: Pick<PurgeService, 'submit' | 'run' | 'refusal'> = {
    submit: async (order) => {
      submitted.push(order);
      return { id: 'p-1', state: 'queued' } as Awaited<ReturnType<PurgeService['submit']>>;
    },
    run: async (order, signal) => {
      ran.push({ order, signal });
      return { report: REPORT, record: { id: 'p-2' } } as unknown as Awaited<ReturnType<PurgeService['run']>>;
    },
    refusal: (_order, error) => {
      refusals.push(error);
      return error as ReturnType<PurgeService['refusal']>;
    },
  };
  const app = Fastify().addHook('onRoute', setRule);
  app.setErrorHandler(async (error, _request, reply) => {
    failures.push(error);
    const status = error instanceof RequestRefusedError ? error.problem.status : 500;
    return reply.code(status).send({});
  });
  registerPurgeRoutes(app, {
    purges: purges as PurgeService,
    access: new Access({ tokens: token === undefined ? undefined : [token] }),
  });
  return { app, ran, submitted, refusals, failures };
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
      const { order } = ran.at(-1) ?? assert.fail();
      assert.deepEqual([order.target, order.query], [target, query ?? ''], path);
    }
  }
  assert.equal(ran.length, 8);
});

it('a purge is answered with its counts and the id of its record', async () => {
  const { app } = routesOf();
  const { headers } = await app.inject({ method: 'DELETE', url: '/ngsi-ld/v1/entities?type=T' });
  assert.deepEqual(
    ['purge-matched', 'purge-deleted', 'purge-already-gone', 'purge-id'].map((name) => headers[name]),
    ['3', '2', '1', 'p-2'],
  );
  const asked = await app.inject({
    method: 'DELETE',
    url: '/ngsi-ld/v1/entities?type=T',
    headers: { prefer: 'return=representation' },
  });
  assert.deepEqual([asked.statusCode, asked.headers['content-type']], [200, 'application/json']);
  assert.deepEqual([asked.json<{ id: string }>().id, asked.headers['purge-id']], ['p-2', 'p-2']);
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

it('a purge without the token is neither read nor recorded', async () => {
  const { app, ran, submitted, refusals } = routesOf({ token: 'a-secret' });
  for (const headers of [{}, { 'x-gateway-token': 'another' }, { prefer: 'respond-async' }])
    for (const path of ['/ngsi-ld/v1/entities', '/ngsi-ld/v1/temporal/entities/']) {
      const { statusCode } = await app.inject({
        method: 'DELETE',
        url: `${path}?type=T`,
        headers,
        payload: 'x',
      });
      assert.equal(statusCode, 401);
    }
  assert.deepEqual([ran.length, submitted.length, refusals.length], [0, 0, 0]);
  const headers = { 'x-gateway-token': 'a-secret', 'x-consumer-username': 'me' };
  await app.inject({ method: 'DELETE', url: '/ngsi-ld/v1/entities?type=T', headers });
  assert.deepEqual(
    ran.map(({ order }) => order.caller),
    ['me'],
  );
});
