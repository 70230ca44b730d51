import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import {
  type DeletingContext,
  sortReappeared,
  type Survey,
} from '../../../../sidecar/purge/deleting/index.js';
import { IdState } from '../../../../sidecar/purge/ledger/index.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { replyOf } from '../../../support/replies.js';
import { deletingContextOf } from '../hand-made-context.js';
import { surveyOf } from '../hand-made-lister.js';

const OLD = '2020-01-01T00:00:00Z';

interface Listed {
  readonly ids: readonly string[];
  /** Entities whose deletes were confirmed twice. */
  readonly isSecond?: boolean;
  /** How long the broker takes to list them. */
  readonly listMs?: number;
  readonly answer?: () => BrokerReply | undefined;
  /** The entity that the broker shows at each path; the entity itself by default. */
  readonly atPath?: string;
}

/** Entities whose deletes were confirmed, and that the broker lists again. */
function listedAgain({ ids, isSecond = false, listMs = 0, answer = () => undefined, atPath }: Listed) {
  let nowMs = Date.UTC(2026, 0, 1);
  let batches = 0;
  const opened = deletingContextOf({
    brokerQuery: { resource: entities('ids'), selection: [{ name: 'type', value: 'T' }] },
    broker: ({ method, path }) => {
      if (method === 'POST') batches += 1;
      const [resource = '', query] = path.split('?');
      const asked = new URLSearchParams(query).get('id')?.split(',');
      if (asked === undefined)
        return replyOf(200, {
          id: atPath ?? decodeURIComponent(resource.split('/')[2] ?? ''),
          createdAt: OLD,
        });
      nowMs += listMs;
      return (
        answer() ??
        replyOf(
          200,
          asked.map((id) => ({ id, createdAt: OLD })),
        )
      );
    },
    limits: { pageSize: 100, pageSizeMax: 100 },
  });
  const context: DeletingContext = { ...opened, clock: { monotonicMs: () => nowMs } };
  for (const entityId of ids) {
    context.ledger.add({ entityId });
    context.ledger.record({ entityId }, { kind: 'deleted' }, isSecond);
  }
  const survey = (): Survey => {
    const reappeared = ids.filter((id) => {
      const state = context.ledger.states.get(id);
      return state === IdState.gone || state === IdState.goneTwice;
    });
    return surveyOf({ reappeared, reappearedCount: reappeared.length, listed: { atMs: nowMs, tookMs: 0 } });
  };
  return { context, survey, batches: () => batches };
}

it('old entities that are listed again after two deletes are all reported, however slow the broker is', async () => {
  const ids = Array.from({ length: 250 }, (_, n) => `urn:t:${n}`);
  const { context, survey } = listedAgain({ ids, isSecond: true, listMs: 1100 });
  let surveys = 0;
  for (let hasMore = true; hasMore; surveys += 1) {
    assert.ok(surveys < 10);
    ({ hasMore } = await sortReappeared(context, survey(), true));
  }
  assert.deepEqual([context.ledger.counts.deleted, context.ledger.counts.failed], [0, 250]);
});

it('entities that are listed again and have a comma in their id count as created again, with a warning', async () => {
  const { context, survey } = listedAgain({ ids: ['urn:t:1,2'] });
  assert.equal((await sortReappeared(context, survey(), false)).lingering, 1);
  await sortReappeared(context, survey(), true);
  assert.deepEqual([context.ledger.madeAgain, context.warnings.size], [1, 1]);
});

it('entities that are listed again count as created again if the broker refuses to list them by id', async () => {
  const ids = ['urn:t:1', 'urn:t:2'];
  const { context, survey } = listedAgain({ ids, answer: () => replyOf(400, { title: 'Not both' }) });
  await sortReappeared(context, survey(), true);
  assert.deepEqual([context.ledger.madeAgain, context.warnings.size], [2, 1]);
  const denied = listedAgain({ ids, answer: () => replyOf(401) });
  await assert.rejects(sortReappeared(denied.context, denied.survey(), true));
});

it('entities that are listed again are not used to test batches if they no longer match', async () => {
  for (const stillMatches of [true, false]) {
    let looks = 0;
    const { context, survey, batches } = listedAgain({
      ids: ['urn:t:1'],
      answer: () => ((looks += 1) > 1 && !stillMatches ? replyOf(200, []) : undefined),
    });
    await sortReappeared(context, survey(), true);
    assert.equal(batches(), stillMatches ? 1 : 0);
  }
});

it('entities that are listed again are not used to test batches if their paths show other entities', async () => {
  const { context, survey, batches } = listedAgain({ ids: ['urn:t:1'], atPath: 'urn:t:2' });
  await sortReappeared(context, survey(), true);
  assert.equal(batches(), 0);
});
