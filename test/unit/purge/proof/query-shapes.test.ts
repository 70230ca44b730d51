import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FilterIgnoredError } from '../../../../sidecar/purge/errors.js';
import { FlawedBroker } from '../../../support/flawed-broker.js';
import { purge } from '../../../support/purge-harness.js';
import { checkPurges, FLAWS, HONEST } from '../../../support/query-shapes.js';

it('a purge of any shape deletes exactly its matches at a broker that applies every filter', async () => {
  const { done } = await checkPurges(HONEST, 1, 60);
  assert.ok(done >= 45, String(done));
});

for (const flaw of FLAWS) {
  it(`a purge of any shape deletes nothing outside its query at a broker that drops or misreads in one shape: ${flaw.name}`, async () => {
    await checkPurges(flaw, 2, 15);
  });
}

/** A broker with one car that ignores conditions of q with a time that it cannot read. */
function brokerWithUnreadable(times: RegExp) {
  const broker = new FlawedBroker({
    name: 'unreadable times',
    reads: ({ parameters, tenant }) => {
      const read = (parameters.get('q') ?? '').split(';').filter((condition) => !times.test(condition));
      return [{ parameters: new Map([...parameters, ['q', read.join(';') || 'n']]), tenant }];
    },
  });
  broker.fill('', [{ id: 'urn:v:1', type: 'Car', n: { type: 'Property', value: 1 } }]);
  const purgeBy = async (q: string) =>
    purge({ url: new URL('http://broker.test') }, `type=Car&q=${q}`, { client: broker.client });
  return { broker, purgeBy };
}

for (const [q, times] of [
  ['createdAt>2020-05-14T06:00:00%2B02:00', /[+]/],
  ['n>=0;modifiedAt>="2020-05-14T06:00:00Z"', /"/],
  ['createdAt<=2030-05-14', /At<=[-\d]+$/],
] as const) {
  it(`a purge deletes nothing at a broker that lists everything for a time that it cannot read: ${q}`, async () => {
    const { broker, purgeBy } = brokerWithUnreadable(times);
    const { error } = await purgeBy(q);
    assert.ok(error instanceof FilterIgnoredError, String(error));
    assert.equal(broker.ids('').length, 1);
  });
}

it('a purge by createdAt deletes its matches at a broker that cannot read times before 1970', async () => {
  const { broker, purgeBy } = brokerWithUnreadable(/At[<>=]+1[0-8]/);
  const { report } = await purgeBy('createdAt<2030-05-14T06:00:00%2B02:00');
  assert.equal(report?.deleted, 1);
  assert.equal(broker.ids('').length, 0);
});
