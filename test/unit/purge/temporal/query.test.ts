import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTemporalPurgeQuery } from '../../../../sidecar/purge/temporal/index.js';
import { queryOf } from '../refusals.js';

const SINCE = { timerel: 'after', timeAt: '2026-01-01T00:00:00Z' };
const parse = (given: Readonly<Record<string, string>>) => parseTemporalPurgeQuery(queryOf(given));
const selectionOf = (given: Readonly<Record<string, string>>) =>
  Object.fromEntries(parse(given).selection.map(({ name, value }) => [name, value]));

describe('what a temporal purge deletes', () => {
  it('a temporal purge without a time filter, attrs and datasetId deletes the whole temporal entity', () => {
    for (const query of ['type=Car', 'q=speed>1', 'type=Car&id=urn:a:1', 'local=true&maxAffected=1']) {
      assert.deepEqual(parseTemporalPurgeQuery(query).target, { kind: 'entities' }, query);
    }
  });

  it('a temporal purge with attrs alone deletes attributes', () => {
    const { target, attributes, datasetIds } = parse({ type: 'Car', attrs: 'speed,https://a.test/n#x' });
    assert.deepEqual(target, { kind: 'attributes' });
    assert.deepEqual([attributes, datasetIds], [['speed', 'https://a.test/n#x'], undefined]);
  });

  it('a temporal purge with attrs and datasetId deletes datasets of the named attributes', () => {
    const query = parse({ attrs: 'speed', datasetId: 'urn:d:1,@none' });
    assert.deepEqual(query.target, { kind: 'datasets', datasetIds: ['urn:d:1', '@none'] });
    assert.deepEqual([query.attributes, query.datasetIds], [['speed'], ['urn:d:1', '@none']]);
  });

  it('a temporal purge with datasetId alone deletes datasets of every attribute shown, never the entity', () => {
    for (const datasetId of ['urn:d:1', '@none']) {
      const { target, attributes } = parse({ type: 'Car', datasetId });
      assert.deepEqual([target, attributes], [{ kind: 'datasets', datasetIds: [datasetId] }, undefined]);
    }
  });

  it('a temporal purge with a time filter deletes instances, whatever else is given', () => {
    const time = { property: 'observedAt', from: SINCE.timeAt, to: undefined };
    for (const more of [
      {},
      { attrs: 'speed' },
      { datasetId: 'urn:d:1' },
      { attrs: 'speed', datasetId: '@none' },
    ]) {
      assert.deepEqual(parse({ type: 'Car', ...SINCE, ...more }).target, { kind: 'instances', time });
    }
  });

  it('a temporal purge with a time filter deletes instances after a time, before one, or between two', () => {
    const [timeAt, endTimeAt] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
    for (const [filter, property, from, to] of [
      [{ timerel: 'after', timeAt }, 'observedAt', timeAt, undefined],
      [{ timerel: 'before', timeAt }, 'observedAt', undefined, timeAt],
      [{ timerel: 'between', timeAt, endTimeAt }, 'observedAt', timeAt, endTimeAt],
      [{ timerel: 'before', timeAt, timeproperty: 'createdAt' }, 'createdAt', undefined, timeAt],
      [{ timerel: 'before', timeAt, timeproperty: 'modifiedAt' }, 'modifiedAt', undefined, timeAt],
      [{ timerel: 'before', timeAt, timeproperty: 'deletedAt' }, 'deletedAt', undefined, timeAt],
      [{ timerel: 'before', timeAt, timeproperty: 'observedAt' }, 'observedAt', undefined, timeAt],
    ] as const) {
      assert.deepEqual(parse({ type: 'Car', ...filter }).target, {
        kind: 'instances',
        time: { property, from, to },
      });
    }
  });
});

describe('what a temporal purge asks the broker', () => {
  it('a temporal purge sends every filter as it was given, and no extension', () => {
    const given = {
      ...{ type: 'Car', id: 'urn:a:1', idPattern: '^urn', attrs: 'speed', q: 'speed>1', scopeQ: '/a' },
      ...{ georel: 'within', geometry: 'Point', coordinates: '[1,2]', geoproperty: 'place', local: 'true' },
      ...{ timerel: 'between', timeAt: '2026-01-01T00:00:00.5Z', endTimeAt: '2026-02-01T00:00:00Z' },
      ...{ datasetId: 'urn:d:2,urn:d:1', timeproperty: 'createdAt' },
    };
    assert.deepEqual(selectionOf({ ...given, dryRun: 'true', maxAffected: '9' }), given);
  });

  it('a temporal purge names the time property unless it is the default, since some brokers support no other', () => {
    assert.deepEqual(selectionOf({ type: 'Car', ...SINCE }), { type: 'Car', ...SINCE });
    assert.deepEqual(selectionOf({ type: 'Car', ...SINCE, timeproperty: 'observedAt' }), {
      type: 'Car',
      ...SINCE,
    });
    assert.equal(
      selectionOf({ type: 'Car', ...SINCE, timeproperty: 'createdAt' })['timeproperty'],
      'createdAt',
    );
  });

  it('a temporal purge by type=* is always local', () => {
    assert.equal(selectionOf({ type: '*', ...SINCE })['local'], 'true');
    assert.equal(selectionOf({ type: 'Car', ...SINCE })['local'], undefined);
  });

  it('a temporal purge keeps the dry run and the bound apart from the query', () => {
    const { dryRun, maxAffected } = parse({ type: 'Car', dryRun: 'true', maxAffected: '5' });
    assert.deepEqual([dryRun, maxAffected], [true, 5]);
    assert.deepEqual([parse({ type: 'Car' }).dryRun, parse({ type: 'Car' }).maxAffected], [false, undefined]);
  });

  it('a temporal purge names each dataset once, up to a hundred', () => {
    assert.deepEqual(parse({ type: 'Car', datasetId: 'urn:d:1,urn:d:1' }).datasetIds, ['urn:d:1']);
    const hundred = Array.from({ length: 100 }, (_, index) => `urn:d:${index}`);
    assert.deepEqual(parse({ type: 'Car', datasetId: hundred.join(',') }).datasetIds, hundred);
  });
});
