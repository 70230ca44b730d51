import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readHealth, type HealthOptions } from '../../../sidecar/http/health.js';

type Sent = Parameters<HealthOptions['client']['send']>[0];

/** A status with an empty body, or what the broker answers at a path. */
type Answer = number | ((path: string) => { readonly status: number; readonly body?: string });

/** The health of a gateway whose broker answers so, or not at all. */
function gatewayOf(answer: Answer | undefined, isReady: boolean, isShuttingDown = false) {
  const sent: Sent[] = [];
  const options = {
    client: {
      send: async (request: Sent) => {
        sent.push(request);
        if (answer === undefined) throw new Error('out of reach');
        return {
          body: '',
          headers: new Map(),
          ...(typeof answer === 'number' ? { status: answer } : answer(request.path)),
        };
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

it('a broker is up if it answers with anything except a server error or 404', async () => {
  for (const status of [200, 204, 301, 400, 401, 403, 499])
    assert.equal((await healthOf(status, true).health).broker, 'up', `${status}`);
  for (const status of [500, 501, 503, 599])
    assert.equal((await healthOf(status, true).health).broker, 'down', `${status}`);
});

it('a broker is down if it answers 404 for its entities, unless it does not know the tenant', async () => {
  const stateOf = async (answer: Answer) => (await healthOf(answer, true).health).broker;
  assert.equal(await stateOf(404), 'down');
  assert.equal(await stateOf(() => ({ status: 404, body: '<html>Not Found</html>' })), 'down');
  const type = 'https://uri.etsi.org/ngsi-ld/errors/NonexistentTenant';
  assert.equal(await stateOf(() => ({ status: 404, body: JSON.stringify({ type }) })), 'up');
  // Some brokers know the collection only with a slash.
  const isSlashed = (path: string) => path.startsWith('/entities/?');
  assert.equal(await stateOf((path) => ({ status: isSlashed(path) ? 200 : 404 })), 'up');
  assert.equal(await stateOf((path) => ({ status: isSlashed(path) ? 500 : 404 })), 'down');
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
