import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { clockAheadMs, openBroker } from '../../sidecar/open-broker.js';
import { PendingConnections } from '../../sidecar/shared/event-loop.js';
import { listening } from '../support/listening.js';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const aheadMs = (headers: Readonly<Record<string, string>>) =>
  clockAheadMs({ headers: new Map(Object.entries(headers)) }, NOW);

it('the clock of the broker is read from the Date of its answers', () => {
  for (const headers of [{}, { date: '' }, { date: 'yesterday' }, { date: 'undefined', age: '5' }])
    assert.equal(aheadMs(headers), undefined, JSON.stringify(headers));
  assert.equal(aheadMs({ date: 'Mon, 01 Jun 2026 11:00:00 GMT' }), 3_600_000);
  assert.equal(aheadMs({ date: 'Mon, 01 Jun 2026 12:00:10 GMT' }), -10_000);
});

it('the Date of a cached answer is corrected by its Age', () => {
  const date = 'Mon, 01 Jun 2026 11:00:00 GMT';
  assert.equal(aheadMs({ date, age: '3600' }), 0);
  assert.equal(aheadMs({ date, age: '-1' }), 3_600_000);
});

it('an answer without Date does not change the known clock of the broker', async () => {
  let hasDate = true;
  const server = createServer((_, response) => {
    response.sendDate = hasDate;
    response.end('[]');
  });
  const { url, close } = await listening(server);
  const broker = await openBroker(
    { BROKER_URL: new URL(url), BROKER_TIMEOUT_MS: 5000 },
    { viaName: 'test', newConnections: new PendingConnections(), onEnded: () => {} },
  );
  assert.equal(broker.aheadMs(), undefined);
  await broker.client.send({ method: 'GET', path: '/entities' });
  const shown = broker.aheadMs();
  assert.ok(shown !== undefined && Math.abs(shown) < 60_000);
  hasDate = false;
  await broker.client.send({ method: 'GET', path: '/entities' });
  assert.equal(broker.aheadMs(), shown);
  await broker.close();
  await close();
});

it('connections to the broker are renewed each minute, so that a new address of its name is used under steady traffic', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: NOW });
  const used = new Set<unknown>();
  let isKnown: boolean | undefined;
  const server = createServer((request, response) => {
    isKnown = used.has(request.socket);
    used.add(request.socket);
    response.end('[]');
  });
  const { url, close } = await listening(server);
  t.after(close);
  const broker = await openBroker(
    { BROKER_URL: new URL(url), BROKER_TIMEOUT_MS: 5000 },
    { viaName: 'test', newConnections: new PendingConnections(), onEnded: () => {} },
  );
  t.after(() => broker.close());
  const path = '/entities';
  for (const [of, send] of Object.entries({
    purges: () => broker.client.send({ method: 'GET', path }),
    'pass-through': async () => (await broker.pool.request({ method: 'GET', path })).body.dump(),
  })) {
    await send();
    for (const [ms, isReused] of [
      [60_000, true],
      [1, false],
    ] as const) {
      // A connection is free when the event loop has turned after the end of an answer.
      await setImmediate();
      t.mock.timers.tick(ms);
      await send();
      assert.equal(isKnown, isReused, `${of}, ${ms} ms later`);
    }
  }
});
