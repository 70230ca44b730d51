import assert from 'node:assert/strict';
import { it } from 'node:test';
import { failureIn } from '../../../../sidecar/purge/broker/index.js';
import { firstPage } from '../../../../sidecar/purge/run/index.js';
import { purgeByIds } from '../../../../sidecar/purge/entities/index.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { replyOf } from '../../../support/replies.js';
import { contextOf } from '../hand-made-context.js';

const ID = 'urn:t:1';

/** Purges one entity that stays, where each single delete is answered with a 207. */
async function purgeOne(body: unknown, isGone = false) {
  let isThere = true;
  const context = contextOf({
    brokerQuery: { resource: entities('ids'), selection: [{ name: 'type', value: 'T' }] },
    limits: { strategy: 'single' },
    broker: ({ method, path }) => {
      if (method === 'DELETE') {
        isThere = !isGone;
        return replyOf(207, body);
      }
      const shown = isThere && !path.includes('PurgeProbe') ? [{ id: ID }] : [];
      return replyOf(200, shown, { 'ngsild-results-count': String(shown.length) });
    },
  });
  await purgeByIds(context, await firstPage(context), undefined);
  return { counts: context.ledger.counts, error: context.ledger.errors[0]?.error };
}

it('entities that the refusal of a batch does not name are deleted by further requests, and counted once', async () => {
  for (const hasEffect of [false, true]) {
    const world = new Set(['urn:t:bad', 'urn:t:1', 'urn:t:2', 'urn:t:3']);
    const context = contextOf({
      brokerQuery: { resource: entities('ids'), selection: [{ name: 'type', value: 'T' }] },
      broker: ({ method, path, jsonBody = '[]' }) => {
        const [, , id = ''] = path.split('/').map(decodeURIComponent);
        if (method === 'DELETE') return replyOf(id !== 'urn:t:bad' && world.delete(id) ? 204 : 409);
        if (method === 'POST') {
          const ids = JSON.parse(jsonBody) as readonly string[];
          const isRefused = ids.includes('urn:t:bad');
          for (const one of ids) if (one !== 'urn:t:bad' && (hasEffect || !isRefused)) world.delete(one);
          return isRefused
            ? replyOf(400, { errors: [{ entityId: 'urn:t:bad', error: { status: 409, title: 'Held' } }] })
            : replyOf(204);
        }
        const shown = path.includes('PurgeProbe') ? [] : [...world].map((one) => ({ id: one }));
        return replyOf(200, shown, { 'ngsild-results-count': String(shown.length) });
      },
    });
    const arrived = await purgeByIds(context, await firstPage(context), undefined);
    const { deleted, failed, unknown } = context.ledger.counts;
    assert.deepEqual([deleted, failed, unknown, arrived, [...world]], [3, 1, 0, 0, ['urn:t:bad']]);
    assert.deepEqual([...context.warnings], []);
  }
});

it('a 207 to the delete of one entity is reported in the words of the broker if the entity stays', async () => {
  const said = { title: 'Forbidden here', detail: 'the registration is read-only' };
  for (const [body, expected] of [
    [
      { updated: [], notUpdated: [{ ...said, status: 403 }] },
      { ...said, status: 403 },
    ],
    [
      { updated: [], notUpdated: [{ ...said, statusCode: 404 }] },
      { ...said, status: 404 },
    ],
    [{ errors: [{ entityId: ID, error: { ...said, status: 409 } }] }, { ...said, status: 409 }],
    [
      { notUpdated: [{ attributeName: 'speed', reason: 'No permission', status: 403 }] },
      { title: 'No permission', status: 403 },
    ],
  ] as const) {
    const { counts, error } = await purgeOne(body);
    assert.deepEqual([counts.failed, counts.deleted, counts.unknown], [1, 0, 0], JSON.stringify(body));
    const { type: _type, ...rest } = error ?? assert.fail('there is no error');
    assert.deepEqual(rest, expected);
  }
});

it('a 207 to the delete of one entity counts as deleted if the entity is gone', async () => {
  const { counts, error } = await purgeOne({ notUpdated: [{ status: 403, title: 'Forbidden here' }] }, true);
  assert.deepEqual([counts.deleted, counts.failed, error], [1, 0, undefined]);
});

it('a 207 that names no failure is reported without one', () => {
  for (const body of [undefined, '', { success: [ID] }, { updated: ['a'], notUpdated: [] }, { errors: 'x' }])
    assert.equal(failureIn(replyOf(207, body)), undefined);
  assert.equal(failureIn(replyOf(204)), undefined);
});

it('a 207 with several failures is reported with one that is more than a missing item', () => {
  const failure = failureIn(replyOf(207, { notUpdated: [{ status: 404 }, { status: 503, title: 'Busy' }] }));
  assert.deepEqual(failure, { kind: 'retryable', problem: { status: 503, title: 'Busy' } });
});
