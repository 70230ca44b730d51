import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { createTestClock } from '../../../support/purge-harness.js';
import { closeBrokers, brokerWith, hour, idOf, kept, purged, stored, textOf } from './histories.js';

after(closeBrokers);

const CREATED = 'type=T&timerel=after&timeAt=2020-01-01T00:00:00Z';

const INSTANCES = `type=T&timerel=before&timeAt=${hour(30)}`;

for (const [what, query, behaviour, newer] of [
  ['entities', 'type=T', {}, 1],
  ['attributes', 'type=T&attrs=a', {}, 1],
  ['instances', INSTANCES, {}, 1],
  ['instances by the time of their creation', `${CREATED}&timeproperty=createdAt`, {}, 1],
  ['instances that hide older ones', INSTANCES, { instancePageSize: 3 }, 4],
] as const) {
  it(`instances that arrive during a temporal purge are left and counted, and earlier items are deleted: ${what}`, async () => {
    const clock = createTestClock();
    let lateMs = -1000;
    const history = Array.from({ length: 12 }, (_, n) => stored({ entity: n % 6, hour: n }));
    const broker = await brokerWith(history, behaviour, { ...clock, now: () => clock.now() + lateMs });
    lateMs = 1000;
    const isOfEntity = what.startsWith('instances');
    let next = 100;
    // With every delete a new instance is written, later than the existing ones.
    const onDelete = () => {
      for (let n = 0; n < newer && next < 3000; n += 1) {
        next += 1;
        const id = idOf(isOfEntity ? next % 6 : next);
        const value = next;
        broker.temporal.seed(1, () => ({
          id,
          type: 'T',
          a: {
            type: 'Property',
            value,
            observedAt: new Date(Date.UTC(2025, 0, 1, 20, 0, value)).toISOString(),
          },
        }));
      }
      return false;
    };
    broker.behaviour.isGhost = onDelete;
    broker.behaviour.isGhostInstance = onDelete;
    const { arrived, failed, deleted, matched } = await purged(broker, query, { clock });
    assert.ok(arrived > 0, 'it is told');
    assert.deepEqual([failed, deleted >= 6, matched], [0, true, deleted]);
    assert.ok(next < 3000, `${next} were written`);
    const left = kept(broker);
    for (const instance of history) assert.ok(!left.includes(textOf(instance)), textOf(instance));
  });
}
