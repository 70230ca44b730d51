import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pagesUpTo } from '../../../../sidecar/purge/listing/index.js';
import { idsOf, listerOf, pageOf } from '../hand-made-lister.js';

/** The listed part of six ids at a broker that shows this many of five on a page, and the requested offsets. */
async function listed(perPage: number) {
  const { lister, asked } = listerOf(({ offset = 0 }) =>
    pageOf(idsOf(5).slice(offset, Math.min(5, offset + perPage))),
  );
  const ids: string[] = [];
  for await (const page of pagesUpTo(lister, [], 6)) ids.push(...page.ids);
  return { ids, offsets: asked.map(({ offset }) => offset) };
}

it('the entities of given ids are listed completely, however short the pages are', async () => {
  assert.deepEqual(await listed(2), { ids: idsOf(5), offsets: [0, 2, 4, 5] });
  assert.deepEqual(await listed(6), { ids: idsOf(5), offsets: [0, 5] });
});

it('no more pages of given ids are requested once there can be no more entities', async () => {
  const { lister, asked } = listerOf(() => pageOf(idsOf(3)));
  for await (const { ids } of pagesUpTo(lister, [], 6)) assert.equal(ids.length, 3);
  assert.equal(asked.length, 2, 'a broker that ignores the offset');
});
