import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ReadAhead } from '../../../../sidecar/purge/listing/walk.js';
import { idsOf, listerOf, pageOf } from '../hand-made-lister.js';

const SELECTION = [{ name: 'type', value: 'T' }];
const ALL = idsOf(100);

/** A lister of 100 ids in pages of 10. */
const pages = () => listerOf(({ offset = 0, limit = 10 }) => pageOf(ALL.slice(offset, offset + limit)));

describe('ReadAhead', () => {
  it('ReadAhead gives the pages the count that was known when they were asked for', async () => {
    const ahead = new ReadAhead(pages().lister, 2);
    ahead.ask(SELECTION, { offset: 10, limit: 10, end: 30, count: 77 });
    assert.equal((await ahead.page({ selection: SELECTION, offset: 10 })).count, 77);
    ahead.ask(SELECTION, { offset: 20, limit: 10, end: 40, count: 40 });
    assert.equal(
      (await ahead.page({ selection: SELECTION, offset: 30 })).count,
      40,
      'the last is counted too',
    );
  });

  it('ReadAhead gives a page no count that the page shows to be too low', async () => {
    const ahead = new ReadAhead(pages().lister, 2);
    ahead.ask(SELECTION, { offset: 10, limit: 10, end: 12, count: 12 });
    assert.equal((await ahead.page({ selection: SELECTION, offset: 10 })).count, undefined);
  });

  it('ReadAhead asks again for an offset that is not on its way, and forgets the others', async () => {
    const { lister, asked } = pages();
    const ahead = new ReadAhead(lister, 2);
    ahead.ask(SELECTION, { offset: 10, limit: 10, end: 30, count: 100 });
    assert.deepEqual((await ahead.page({ selection: SELECTION, offset: 13 })).ids, ALL.slice(13, 23));
    await ahead.page({ selection: SELECTION, offset: 10 });
    assert.equal(asked.length, 4);
  });

  it('ReadAhead throws the error of a page when the page is wanted, and not before', async () => {
    const { lister } = listerOf(({ offset }) => {
      if (offset === 20) throw new Error('no such page');
      return pageOf(['urn:t:1']);
    });
    const ahead = new ReadAhead(lister, 2);
    ahead.ask(SELECTION, { offset: 10, limit: 10, end: 30, count: 100 });
    await ahead.page({ selection: SELECTION, offset: 10 });
    // Nobody waits for the other page yet.
    await turn();
    await assert.rejects(ahead.page({ selection: SELECTION, offset: 20 }), /no such page/);
  });
});
