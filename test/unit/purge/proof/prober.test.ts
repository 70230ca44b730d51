import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCapabilities } from '../../../../sidecar/purge/broker/capabilities.js';
import {
  BrokerFailedError,
  BrokerRefusedError,
  FilterIgnoredError,
} from '../../../../sidecar/purge/errors.js';
import type { ListedPage } from '../../../../sidecar/purge/listing/listing.js';
import type { PageQuery } from '../../../../sidecar/purge/listing/page.js';
import type { Parameter } from '../../../../sidecar/purge/query/parameters.js';
import { filtersOf, impossibleSelection, proveFilters } from '../../../../sidecar/purge/proof/prober.js';
import { listerOf, pageOf } from '../hand-made-lister.js';

const HOUR_MS = 3_600_000;

const selectionOf = (given: Readonly<Record<string, string>>): readonly Parameter[] =>
  Object.entries(given).map(([name, value]) => ({ name, value }));

const GEO = { georel: 'within', geometry: 'Point', coordinates: '[1,2]', geoproperty: 'place' };
const EVERY_FILTER = selectionOf({
  ...{ type: 'Car', attrs: 'speed', q: 'speed>1', idPattern: 'Car', scopeQ: '/a', ...GEO },
  ...{ local: 'true', csf: 'a==1' },
});

/** A broker that ignores some filters: it shows an entity unless an impossible value is one it looks at. */
function brokerThatIgnores(...ignored: readonly string[]) {
  return listerOf(({ selection }) => {
    const looksAt = selection.some(({ name, value }) => !ignored.includes(name) && /PurgeProbe/.test(value));
    return pageOf(looksAt ? [] : ['urn:ngsi-ld:Car:1']);
  });
}

const proveWith = (
  answer: (query: PageQuery) => ListedPage,
  selection: readonly Parameter[] = EVERY_FILTER,
) => proveFilters(selection, listerOf(answer).lister, createCapabilities({ now: () => 0 }));

describe('proveFilters', () => {
  it('proveFilters probes each provable filter of the query once, with a limit of 1 and all other filters kept', async () => {
    const { lister, asked } = brokerThatIgnores();
    await proveFilters(EVERY_FILTER, lister, createCapabilities({ now: () => 0 }));
    assert.equal(asked.length, 6);
    for (const { selection, limit, offset } of asked) {
      assert.deepEqual([limit, offset], [1, undefined]);
      assert.deepEqual(selection.map(({ name }) => name).sort(), EVERY_FILTER.map(({ name }) => name).sort());
      const changed = selection.filter(
        (parameter) => !EVERY_FILTER.some((own) => own.value === parameter.value),
      );
      assert.equal(changed.length, 1);
      assert.match(changed[0]?.value ?? '', /PurgeProbe/);
    }
  });

  it('proveFilters asks nothing for a query without provable filters', async () => {
    const { lister, asked } = brokerThatIgnores('everything');
    const selection = selectionOf({ id: 'urn:a:1', local: 'true', csf: 'a==1' });
    await proveFilters(selection, lister, createCapabilities({ now: () => 0 }));
    assert.deepEqual(asked, []);
  });

  for (const [ignored, parameter] of [
    ['type', 'type'],
    ['attrs', 'attrs'],
    ['q', 'q'],
    ['idPattern', 'idPattern'],
    ['scopeQ', 'scopeQ'],
    ['geoproperty', 'georel'],
  ] as const) {
    it(`proveFilters refuses, by name, a purge whose broker ignores ${parameter}`, async () => {
      const { lister } = brokerThatIgnores(ignored);
      const proof = proveFilters(EVERY_FILTER, lister, createCapabilities({ now: () => 0 }));
      await assert.rejects(proof, (error: unknown) => {
        assert.ok(error instanceof FilterIgnoredError);
        assert.equal(error.parameter, parameter);
        assert.match(error.message, /Nothing was deleted/);
        return true;
      });
    });
  }

  it('proveFilters remembers an honoured filter for an hour, and an ignored one not at all', async () => {
    let nowMs = 0;
    const capabilities = createCapabilities({ now: () => nowMs });
    const selection = selectionOf({ type: 'Car', q: 'speed' });
    const careless = brokerThatIgnores('q');
    await assert.rejects(proveFilters(selection, careless.lister, capabilities), FilterIgnoredError);
    const careful = brokerThatIgnores();
    await proveFilters(selection, careful.lister, capabilities);
    const first = careful.asked.length;
    assert.ok(
      careful.asked.some(({ selection: sent }) => sent.some(({ value }) => /^noSuch.*==1$/.test(value))),
    );
    nowMs = HOUR_MS - 1;
    await proveFilters(selection, careful.lister, capabilities);
    assert.equal(careful.asked.length, first);
    nowMs = HOUR_MS;
    await proveFilters(selection, careful.lister, capabilities);
    assert.equal(careful.asked.length, first + 2);
  });

  it('proveFilters proves a filter beside id separately, since brokers are known to ignore it only there', async () => {
    const capabilities = createCapabilities({ now: () => 0 });
    const { lister, asked } = brokerThatIgnores();
    await proveFilters(selectionOf({ idPattern: 'Car' }), lister, capabilities);
    await proveFilters(selectionOf({ id: 'urn:a:1', idPattern: 'Car' }), lister, capabilities);
    assert.equal(asked.length, 2);
  });

  it('proveFilters takes a refusal of the impossible value for an honoured filter, and a 501 for an ignored one', async () => {
    for (const status of [400, 404, 422]) {
      await proveWith(() => {
        throw new BrokerRefusedError('list', { status });
      });
    }
    const unsupported = proveWith(() => {
      throw new BrokerRefusedError('list', { status: 501 });
    });
    await assert.rejects(unsupported, FilterIgnoredError);
  });

  it('proveFilters takes a count or a next link for more, where pages may be empty before the end', async () => {
    for (const [more, isIgnored] of [
      [{ hasNext: true }, true],
      [{ count: 1 }, true],
      [{ count: 0 }, false],
      [{}, false],
    ] as const) {
      const capabilities = createCapabilities({ now: () => 0 });
      const { lister } = listerOf(() => pageOf([], more));
      const proof = proveFilters(selectionOf({ q: 'a>1' }), lister, capabilities, { countsUnshown: true });
      if (isIgnored) await assert.rejects(proof, FilterIgnoredError, JSON.stringify(more));
      else await proof;
      assert.deepEqual([capabilities.isHonoured('q'), capabilities.countsBefore('q')], [!isIgnored, false]);
    }
  });

  it('proveFilters names a geoquery as such where it is ignored', async () => {
    const proof = proveWith(() => pageOf(['urn:a:1']), selectionOf(GEO));
    await assert.rejects(proof, /The broker ignores the geoquery \(georel\): /);
    await assert.rejects(
      proveWith(() => pageOf(['urn:a:1']), selectionOf({ q: 'a>1' })),
      /The broker ignores q: /,
    );
  });

  it('proveFilters passes every other error on: a failing broker proves nothing', async () => {
    for (const error of [
      new BrokerRefusedError('list', { status: 403 }),
      new BrokerFailedError('list', { kind: 'timeout' }, 'attempts-used-up'),
    ]) {
      const proof = proveWith(() => {
        throw error;
      });
      await assert.rejects(proof, error);
    }
  });
});

describe('proveFilters: filters on instances', () => {
  const TIMES = { timerel: 'between', timeAt: '2026-01-01T00:00:00Z', endTimeAt: '2026-02-01T00:00:00Z' };
  const TEMPORAL = selectionOf({ type: 'Car', datasetId: 'urn:d:1', ...TIMES, timeproperty: 'createdAt' });
  const CAR = { id: 'urn:ngsi-ld:Car:1', type: 'Car', '@context': 'x', scope: '/a', createdAt: 'T' };

  /** A temporal broker that shows the entity whatever the filters on its instances are, and instances if it ignores them. */
  const brokerOf = (...ignored: readonly string[]) =>
    listerOf(({ selection }) => {
      const given = new Map(selection.map(({ name, value }) => [name, value]));
      if (given.get('type')?.includes('PurgeProbe') === true) return pageOf([]);
      const isEmptied =
        ['datasetId', 'timeproperty'].some(
          (name) => given.get(name)?.includes('PurgeProbe') === true && !ignored.includes(name),
        ) ||
        (Date.parse(given.get('timeAt') ?? '') < Date.UTC(1900, 0) && !ignored.includes('timerel'));
      return pageOf([CAR.id], { entities: [isEmptied ? CAR : { ...CAR, speed: [{ value: 1 }] }] });
    });

  it('a filter on instances counts as honoured where the entity comes without attributes', async () => {
    const { lister, asked } = brokerOf();
    await proveFilters(TEMPORAL, lister, createCapabilities({ now: () => 0 }));
    assert.equal(asked.length, 4);
    assert.ok(asked.every(({ limit }) => limit === 1));
  });

  for (const ignored of ['datasetId', 'timerel', 'timeproperty']) {
    it(`proveFilters refuses, by name, a purge whose broker ignores ${ignored} on instances`, async () => {
      const proof = proveFilters(TEMPORAL, brokerOf(ignored).lister, createCapabilities({ now: () => 0 }));
      await assert.rejects(
        proof,
        (error: unknown) => error instanceof FilterIgnoredError && error.parameter === ignored,
      );
    });
  }

  it('proveFilters takes an entity without attributes as proof for filters on instances only', async () => {
    for (const filter of ['type', 'attrs', 'q', 'idPattern', 'scopeQ']) {
      const proof = proveWith(() => pageOf([CAR.id], { entities: [CAR] }), selectionOf({ [filter]: 'x' }));
      await assert.rejects(proof, FilterIgnoredError, filter);
    }
  });

  it('the probe of a time filter asks for a time before all measured times, in place of the whole filter', () => {
    const probe = impossibleSelection(TEMPORAL, 'timerel');
    const given = new Map(probe.map(({ name, value }) => [name, value]));
    assert.deepEqual([...given.keys()].sort(), ['datasetId', 'timeAt', 'timeproperty', 'timerel', 'type']);
    assert.equal(probe.length, 5);
    assert.deepEqual([given.get('timerel'), given.get('timeproperty')], ['before', 'createdAt']);
    assert.ok(Date.parse(given.get('timeAt') ?? '') < Date.UTC(1900, 0));
  });

  it('filters on instances are proven together with additions to the query, which need no proof', async () => {
    const { lister, asked } = brokerOf('timerel');
    const additions = selectionOf({
      timerel: 'after',
      timeAt: '1970-01-01T00:00:00Z',
      timeproperty: 'createdAt',
    });
    const filters = selectionOf({ type: 'Car', datasetId: 'urn:d:1' });
    await proveFilters(filters, lister, createCapabilities({ now: () => 0 }), { additions });
    assert.equal(asked.length, 2);
    for (const { selection } of asked) {
      assert.deepEqual(selection.slice(-3), additions);
      assert.equal(selection.length, 5);
    }
  });
});

describe('impossibleSelection', () => {
  it('impossibleSelection replaces the one parameter, or adds an unknown geoproperty to a geoquery', () => {
    assert.deepEqual(filtersOf(selectionOf({ q: 'a', georel: 'within', id: 'urn:a:1' })), ['q', 'georel']);
    const { geoproperty, ...withoutProperty } = GEO;
    assert.equal(geoproperty, 'place');
    for (const geo of [GEO, withoutProperty]) {
      const probe = impossibleSelection(selectionOf(geo), 'georel');
      const properties = probe.filter(({ name }) => name === 'geoproperty');
      assert.deepEqual(properties, [{ name: 'geoproperty', value: 'noSuchGeoPropertyPurgeProbe' }]);
      assert.equal(probe.find(({ name }) => name === 'georel')?.value, 'within');
    }
  });
});
