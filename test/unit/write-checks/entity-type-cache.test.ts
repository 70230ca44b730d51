import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EntityTypeCache } from '../../../sidecar/write-checks/index.js';
import { replyOf } from '../../support/replies.js';

it('the types of an entity are asked for again after a minute', async () => {
  let nowMs = 0;
  let asked = 0;
  const send = async () => ((asked += 1), replyOf(200, { id: 'urn:a', type: 'A' }));
  const cache = new EntityTypeCache({ send }, { monotonicMs: () => nowMs });
  const lookup = { key: 'e', isTemporal: false, headers: {} };
  for (const [ms, requests] of [
    [0, 1],
    [59_999, 1],
    [60_000, 2],
  ] as const) {
    nowMs = ms;
    assert.deepEqual(await cache.get(lookup, ['urn:a']), [['urn:a', ['A']]]);
    assert.equal(asked, requests);
  }
});
