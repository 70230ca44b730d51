import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readHealth, type HealthOptions } from '../../../sidecar/http/health.js';

type Sent = Parameters<HealthOptions['client']['send']>[0];

/** The health of a gateway whose broker answers with this status, or not at all. */
function gatewayOf(brokerStatus: number | undefined, isReady: boolean, isShuttingDown = false) {
  const sent: Sent[] = [];
  const options = {
    client: {
      send: async (request: Sent) => {
        sent.push(request);
        if (brokerStatus === undefined) throw new Error('out of reach');
        return { status: brokerStatus };
      },
    },
    schemas: { store: { isReady: async () => isReady } },
    isShuttingDown: () => isShuttingDown,
  } as unknown as HealthOptions;
  return { sent, options };
}

function healthOf(...given: Parameters<typeof gatewayOf>) {
  const { sent, options } = gatewayOf(...given);
  return { sent, health: readHealth(options) };
}

it('a broker is up if it answers with anything except a server error', async () => {
  for (const status of [200, 204, 301, 400, 401, 404, 499])
    assert.equal((await healthOf(status, true).health).broker, 'up', `${status}`);
  for (const status of [500, 501, 503, 599])
    assert.equal((await healthOf(status, true).health).broker, 'down', `${status}`);
});

it('everybody who asks at the same time shares one request to the broker', async () => {
  const { sent, options } = gatewayOf(200, true);
  const first = await Promise.all(Array.from({ length: 100 }, () => readHealth(options)));
  assert.equal(sent.length, 1);
  assert.deepEqual(new Set(first.map(({ status }) => status)), new Set(['up']));
  await readHealth(options);
  assert.equal(sent.length, 2);
});

it('a gateway that shuts down says so, without asking the broker', async () => {
  const { health, sent } = healthOf(200, true, true);
  const nobody = { broker: 'not asked', database: 'not asked' } as const;
  assert.deepEqual(await health, { status: 'shutting down', ...nobody });
  assert.deepEqual(sent, []);
});

it('the health check asks the broker for one entity at most, and waits two seconds', async (t) => {
  const timeout = t.mock.method(AbortSignal, 'timeout');
  const { health, sent } = healthOf(200, true);
  await health;
  assert.equal(sent.length, 1);
  assert.equal(sent[0]?.method, 'GET');
  assert.match(sent[0].path, /^\/entities\?type=\w+&limit=1$/);
  assert.deepEqual(
    timeout.mock.calls.map(({ arguments: [ms] }) => ms),
    [2000],
  );
  assert.equal(sent[0].signal, timeout.mock.calls[0]?.result);
});
