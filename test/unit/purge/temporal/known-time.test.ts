import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { FilterIgnoredError } from '../../../../sidecar/purge/errors.js';
import { closeBrokers, brokerWith, oneInEach, purge, purged, stored } from './histories.js';

after(closeBrokers);

const history = oneInEach(3);
const OLD = 'timerel=before&timeAt=1990-01-01T00:00:00Z';

for (const property of ['createdAt', 'modifiedAt']) {
  it(`a temporal purge that matches nothing is refused if the broker does not keep ${property}`, async () => {
    const broker = await brokerWith(history, { timePropertiesMissing: [property] });
    const { error } = await purge(broker, `type=T&${OLD}&timeproperty=${property}`);
    assert.ok(error instanceof FilterIgnoredError, String(error));
    assert.equal(error.parameter, 'timeproperty');
    assert.match(error.message, new RegExp(`by ${property}: .*Nothing was deleted`));
  });
}

it('a temporal purge that matches nothing succeeds if the broker keeps the time, or has no data', async () => {
  const broker = await brokerWith(history, {});
  for (const query of [
    ...['createdAt', 'modifiedAt', 'observedAt'].map((name) => `type=T&${OLD}&timeproperty=${name}`),
    `type=T&${OLD}&timeproperty=createdAt&dryRun=true`,
  ])
    assert.equal((await purged(broker, query)).matched, 0, query);
  const without = await brokerWith(history, { timePropertiesMissing: ['createdAt'] });
  assert.equal((await purged(without, `type=Nothing&${OLD}&timeproperty=createdAt`)).matched, 0);
});

it('a temporal purge by a negated condition is not refused because instances differ', async () => {
  const broker = await brokerWith(
    [1, 2, 3].map((at) => stored({ entity: 0, hour: at })),
    {},
  );
  const after = 'timerel=after&timeAt=1990-01-01T00:00:00Z';
  for (const q of ['a!=1', 'a!=1,2', '!missing']) {
    const { error } = await purge(broker, `type=T&q=${q}&${after}&dryRun=true`);
    assert.equal(error, undefined, q);
  }
});
