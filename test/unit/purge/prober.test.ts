import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCapabilities } from '../../../sidecar/broker/capabilities.js';
import { BrokerFailedError, BrokerRefusedError, FilterIgnoredError } from '../../../sidecar/purge/errors.js';
import type { ListedPage, PageQuery } from '../../../sidecar/purge/listing.js';
import type { Parameter } from '../../../sidecar/purge/parameters.js';
import { filtersOf, impossibleSelection, proveFilters } from '../../../sidecar/purge/prober.js';
import { listerOf, pageOf } from './hand-made-lister.js';

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
  it('probes each provable filter of the query once, with a limit of 1 and all other filters kept', async () => {
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

  it('asks nothing for a query without provable filters', async () => {
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
    it(`refuses, by name, a purge whose broker ignores ${parameter}`, async () => {
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

  it('remembers an honoured filter for an hour, and an ignored one not at all', async () => {
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

  it('proves a filter beside id apart, since brokers are known to ignore it only there', async () => {
    const capabilities = createCapabilities({ now: () => 0 });
    const { lister, asked } = brokerThatIgnores();
    await proveFilters(selectionOf({ idPattern: 'Car' }), lister, capabilities);
    await proveFilters(selectionOf({ id: 'urn:a:1', idPattern: 'Car' }), lister, capabilities);
    assert.equal(asked.length, 2);
  });

  it('takes a refusal of the impossible value for honouring it, and a 501 for the contrary', async () => {
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

  it('passes every other error on: a failing broker proves nothing', async () => {
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

describe('impossibleSelection', () => {
  it('replaces the one parameter, or adds an unknown geoproperty to a geoquery', () => {
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
