import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import { car, enforcing, ENTITIES, sending, UnluckyBroker } from '../support/write-mishaps.js';

after(stopAll);

it('the memory of bodies is released when their clients disconnect', async () => {
  const broker = await new UnluckyBroker().start();
  const gateway = await enforcing(broker);
  // Together, the bodies exceed the body budget.
  const body = JSON.stringify(car(5, { load: 'x'.repeat(4_900_000) }));
  for (let round = 0; round < 30; round += 1) {
    const before = broker.writes.length;
    const sent = sending(gateway, ENTITIES, body, { 'x-mishap': 'silence' });
    sent.end(body);
    await broker.until(() => (broker.writes.length > before ? true : undefined));
    sent.destroy();
    await broker.until(() => (broker.writes[before]?.isGone === true ? true : undefined));
  }
  const last = await gateway.send('POST', ENTITIES, {
    headers: { 'content-type': 'application/json' },
    body,
  });
  assert.equal(last.status, 201, last.text);
});
