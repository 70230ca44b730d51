import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerRefusedError, FilterIgnoredError } from '../../../../sidecar/purge/errors.js';
import type { ListedPage, PageQuery } from '../../../../sidecar/purge/listing/index.js';
import { proveValueFilters } from '../../../../sidecar/purge/temporal/narrowed-queries.js';
import { listerOf, pageOf, selectionOf } from '../hand-made-lister.js';

const SELECTION = selectionOf({ id: 'urn:t:0', attrs: 'speed', q: 'speed>1;brand!="x"' });
const TIME = { property: 'observedAt', from: undefined, to: '2026-01-01T00:00:00Z' } as const;
const SHOWN = pageOf(['urn:t:0'], { entities: [{ id: 'urn:t:0', speed: [{ value: 1 }] }] });

const proveAt = async (answer: (query: PageQuery) => ListedPage) => {
  const { lister, asked } = listerOf(answer);
  await proveValueFilters({ lister }, SELECTION, TIME);
  return asked.map(({ selection }) => selection.find(({ name }) => name === 'q')?.value);
};

it('filters by value in a query for one entity are proven with that query, condition by condition', async () => {
  const expected = ['speedNoSuchPurgeProbe>1;brand!="x"', 'speed>1;brandNoSuchPurgeProbe=="x"'];
  assert.deepEqual(await proveAt(() => pageOf([])), expected);
  assert.deepEqual(
    await proveAt(() => pageOf(['urn:t:0'])),
    expected,
    'an entity without attributes shows nothing',
  );
});

it('a purge stops if the broker drops a filter by value beside one id', async () => {
  const dropsOne = ({ selection }: PageQuery) =>
    selection.some(({ value }) => value.startsWith('speed>1')) ? SHOWN : pageOf([]);
  await assert.rejects(
    proveAt(dropsOne),
    (error: unknown) =>
      error instanceof FilterIgnoredError && error.parameter === 'q' && error.message.includes('brand!="x"'),
  );
});

it('a refusal of the impossible value proves the filter, and no other error does', async () => {
  for (const status of [400, 404, 422, 403, 501]) {
    const proof = proveAt(() => {
      throw new BrokerRefusedError('list', { status });
    });
    if (status < 501 && status !== 403) await proof;
    else await assert.rejects(proof, BrokerRefusedError);
  }
});
