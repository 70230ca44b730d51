import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Item } from '../../../../sidecar/purge/ledger/index.js';
import { temporalEntities } from '../../../../sidecar/purge/listing/index.js';
import { instanceListsOf, removeInstance, toItem } from '../../../../sidecar/purge/temporal/instances.js';
import type { TimeFilter } from '../../../../sidecar/purge/temporal/time-filter.js';
import { replyOf } from '../../../support/replies.js';
import { contextOf } from '../hand-made-context.js';

const ID = 'urn:t:0';
const TIME: TimeFilter = { property: 'modifiedAt', from: undefined, to: '2026-01-01T00:00:00Z' };
const [CREATED, MODIFIED] = ['2025-01-01T00:00:00Z', '2025-02-01T00:00:00Z'];

/** An instance as the broker shows it, as an item. */
function itemOf(shown: Readonly<Record<string, unknown>>): Item {
  const [list] = instanceListsOf({ id: ID, speed: shown }, TIME.property);
  const [instance] = list?.instances ?? [];
  return toItem(ID, 'speed', instance ?? assert.fail('there is no instance'), TIME);
}

it('an instance as an item has its instanceId, its dataset and its times, each only if shown', () => {
  const plain = { entityId: ID, attribute: 'speed', instanceId: 'urn:i:1' };
  for (const [shown, more] of [
    [{}, {}],
    [{ datasetId: 'urn:d:1' }, { datasetId: 'urn:d:1' }],
    [{ modifiedAt: MODIFIED }, { time: { modifiedAt: MODIFIED } }],
    [{ createdAt: CREATED }, { time: { createdAt: CREATED } }],
    [{ createdAt: CREATED, modifiedAt: MODIFIED }, { time: { createdAt: CREATED, modifiedAt: MODIFIED } }],
    [{ observedAt: MODIFIED }, {}],
  ] as const) {
    assert.deepEqual(itemOf({ value: 1, instanceId: 'urn:i:1', ...shown }), { ...plain, ...more });
  }
});

it('an instance without an instanceId is identified by its content', () => {
  const [one, other] = [itemOf({ value: 1 }), itemOf({ value: 2 })];
  assert.ok(one.digest !== undefined && one.digest !== other.digest);
});

const ITEM: Item = { entityId: ID, attribute: 'speed', instanceId: 'urn:i:1' };
async function removed(item: Item) {
  const sent: string[] = [];
  const context = contextOf({
    brokerQuery: { resource: temporalEntities(), selection: [] },
    broker: ({ method, path }) => {
      sent.push(`${method} ${decodeURIComponent(path)}`);
      return replyOf(204);
    },
  });
  context.ledger.add(item);
  return { verdict: await removeInstance(context, item, TIME, { isStale: () => false }), sent };
}

it('an instance without an instanceId, or without the time of the query, is refused without a request', async () => {
  const NAMELESS: Item = { entityId: ID, attribute: 'speed', digest: 'x', time: { modifiedAt: MODIFIED } };
  for (const [item, type, title] of [
    [NAMELESS, 'instance-without-id', 'Instance without instanceId'],
    [ITEM, 'instance-without-time', 'Instance without modifiedAt'],
    [{ ...ITEM, time: { createdAt: CREATED } }, 'instance-without-time', 'Instance without modifiedAt'],
  ] as const) {
    const { verdict, sent } = await removed(item);
    assert.deepEqual(sent, []);
    assert.ok(verdict.kind === 'refused');
    const { problem } = verdict;
    assert.deepEqual(
      [problem.type, problem.title, problem.status],
      [`urn:ngsi-ld-gateway:problem:${type}`, title, 501],
    );
  }
});
