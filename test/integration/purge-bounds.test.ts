import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerFailedError, TooManyMatchesError } from '../../sidecar/purge/index.js';
import { isProbe, purge, purged, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBrokerOptions } from '../support/stub-broker.js';

const COUNTS: Readonly<Record<string, NonNullable<StubBrokerOptions['count']>>> = {
  right: (total) => total,
  missing: () => undefined,
  negative: () => -2,
  zero: () => 0,
  'too low': (total) => Math.floor(total / 3),
  'of the page': (_total, page) => page,
};

const PAGES: Readonly<Record<string, Partial<StubBrokerOptions>>> = {
  'full pages': {},
  'short pages': { shortPages: true },
  'pages of 7 whatever the limit': { pageMax: 7 },
  'no paging': { paging: 'whole-result' },
};

for (const [countName, count] of Object.entries(COUNTS)) {
  for (const [pagesName, pages] of Object.entries(PAGES)) {
    it(`a purge with one match more than maxAffected is refused before the first delete, and one with exactly as many succeeds: count ${countName}, ${pagesName}`, async (t) => {
      const entities = [...things(51), ...things(9, 'Other')];
      const broker = await startStubBroker(t, { entities, count, ...pages });
      const limits = { pageSize: 20 };
      const { error, progress } = await purge(broker, 'type=Thing&maxAffected=50', { limits });
      assert.ok(error instanceof TooManyMatchesError);
      assert.equal(error.maxAffected, 50);
      assert.ok(error.matched >= 51);
      assert.equal(progress.hasBegun, false);
      assert.ok(broker.requests.every(({ kind }) => kind === 'query'));

      const report = await purged(broker, 'type=Thing&maxAffected=51', { limits });
      assert.equal(report.deleted, 51);
      assert.equal(broker.entities.size, 9);
    });
  }
}

it('a purge whose count exceeds maxAffected is refused after a single query', async (t) => {
  const broker = await startStubBroker(t, { entities: things(500) });
  const { error } = await purge(broker, 'type=Thing&maxAffected=10');
  assert.ok(error instanceof TooManyMatchesError);
  assert.equal(error.matched, 500);
  assert.equal(broker.requests.filter((request) => !isProbe(request)).length, 1);
});

it('maxAffected is not exceeded even if matches keep arriving', async (t) => {
  for (const count of Object.values(COUNTS)) {
    let born = 0;
    const broker = await startStubBroker(t, {
      entities: things(100),
      count,
      after: ({ kind }, { entities }) => {
        if (kind !== 'batch') return;
        for (let n = 0; n < 5; n++) {
          const id = `urn:ngsi-ld:Thing:late:${born++}`;
          entities.set(id, { id, type: 'Thing' });
        }
      },
    });
    const { error, report, progress } = await purge(broker, 'type=Thing&maxAffected=102', {
      limits: { batchSize: 20, pageSize: 50 },
    });
    assert.ok(progress.deleted <= 102);
    assert.equal(100 + born - broker.entities.size, progress.deleted);
    if (report === undefined) assert.ok(error instanceof TooManyMatchesError);
  }
});

it('a purge whose maxAffected equals the count deletes the counted matches and leaves later ones', async (t) => {
  for (const present of [95, 120, 250]) {
    let born = 0;
    const broker = await startStubBroker(t, {
      entities: things(present),
      after: (request, { entities }) => {
        if (isProbe(request) || request.kind !== 'batch' || born > 60) return;
        for (let n = 0; n < 10; n++) {
          const id = `urn:ngsi-ld:Thing:late:${born++}`;
          entities.set(id, { id, type: 'Thing' });
        }
      },
    });
    const report = await purged(broker, `type=Thing&maxAffected=${present}`, {
      limits: { batchSize: 20, pageSize: 50 },
    });
    assert.equal(report.deleted, present);
    assert.ok([...broker.entities.keys()].every((id) => id.includes('late')));
    assert.equal(report.arrived, broker.entities.size);
  }
});

it('maxAffected limits attributes, not entities, if attributes are dropped', async (t) => {
  const entities = things(20).map((thing) => ({ ...thing, m: { type: 'Property', value: 1 } }));
  const broker = await startStubBroker(t, { entities });
  const { error } = await purge(broker, 'type=Thing&drop=n,m&maxAffected=39');
  assert.ok(error instanceof TooManyMatchesError);
  assert.equal(broker.of('attribute').length, 0);
  assert.equal((await purged(broker, 'type=Thing&drop=n,m&maxAffected=40')).deleted, 40);
});

for (const [countName, count] of Object.entries(COUNTS)) {
  it(`a dry run reports the number of matches and up to 100 of their ids, and deletes nothing: count ${countName}`, async (t) => {
    for (const [total, pages] of [
      [0, {}],
      [1, {}],
      [30, PAGES['short pages']],
      [250, {}],
      [250, PAGES['no paging']],
    ] as const) {
      const broker = await startStubBroker(t, {
        entities: [...things(total), ...things(5, 'Other')],
        count,
        ...pages,
      });
      if (total === 0 && Number(count(0, 0)) < 0) {
        // It may be a failed query.
        const { error } = await purge(broker, 'type=Thing&dryRun=true');
        assert.ok(error instanceof BrokerFailedError, String(error));
        continue;
      }
      const report = await purged(broker, 'type=Thing&dryRun=true', { limits: { pageSize: 50 } });
      // A plausible count that is too low cannot be distinguished from a correct one without
      // listing everything.
      const counted = countName === 'too low' && report.matched === Math.floor(total / 3);
      assert.ok(report.matched === total || counted, `${report.matched} of ${total}`);
      assert.equal(report.dryRun, true);
      assert.equal(report.sample.length, Math.min(total, 100));
      assert.equal(new Set(report.sample).size, report.sample.length);
      assert.ok(report.sample.every((id) => id.startsWith('urn:ngsi-ld:Thing:')));
      assert.ok(broker.requests.every(({ method }) => method === 'GET'));
      assert.equal(broker.entities.size, total + 5);
    }
  });
}

it('a dry run lists no more than its sample if the count is known', async (t) => {
  const broker = await startStubBroker(t, { entities: things(5000) });
  const report = await purged(broker, 'type=Thing&dryRun=true', { limits: { pageSize: 1000 } });
  assert.equal(report.matched, 5000);
  assert.equal(broker.requests.filter((request) => !isProbe(request)).length, 1);
});

it('a dry run neither applies nor requires maxAffected', async (t) => {
  const broker = await startStubBroker(t, { entities: things(50) });
  assert.equal((await purged(broker, 'type=Thing&dryRun=true&maxAffected=3')).matched, 50);
  assert.equal((await purged(broker, 'local=true&dryRun=true')).matched, 50);
});

it('a dry run counts attributes when attributes would be removed, and names a hundred entities that have some', async (t) => {
  const some = things(130).map((thing) => ({ ...thing, m: { type: 'Property', value: 1 } }));
  const broker = await startStubBroker(t, { entities: [...things(3, 'Thing', 'without'), ...some] });
  const report = await purged(broker, 'type=Thing&keep=n&dryRun=true', { limits: { pageSize: 7 } });
  assert.equal(report.matched, 130);
  assert.deepEqual([report.sample.length, report.sample.join().includes('without')], [100, false]);
  assert.equal(broker.of('attribute').length, 0);
});
