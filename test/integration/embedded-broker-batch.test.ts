import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import { assertProblem, startBroker, type BrokerUnderTest } from './embedded-broker-client.js';
import { stopAll } from '../support/gateway-harness.js';

let send: BrokerUnderTest['send'];
let entities: BrokerUnderTest['entities'];
before(async () => {
  ({ send, entities } = await startBroker());
});
after(stopAll);
const idAt = (index: number) => `urn:ngsi-ld:B:${index}`;
const item = (index: number, n = index) => ({ id: idAt(index), type: 'B', n });

interface BatchResult {
  readonly success: readonly string[];
  readonly errors: readonly {
    readonly entityId: string;
    readonly error: { readonly type: string; readonly status: number };
  }[];
}

beforeEach(async () => {
  if (entities.count() > 0) await send('POST', '/entityOperations/delete', entities.ids());
  entities.seed(4, (index) => item(index));
});

it('a batch delete answers 204 if all entities were deleted', async () => {
  const answer = await send('POST', '/entityOperations/delete', [idAt(0), idAt(1)]);
  assert.deepEqual([answer.status, answer.body], [204, undefined]);
  assert.deepEqual(entities.ids(), [idAt(2), idAt(3)]);
});

it('a batch delete answers 207 with an error for each missing, repeated or malformed id, and deletes the rest', async () => {
  const answer = await send('POST', '/entityOperations/delete', [
    idAt(0),
    'urn:x:1',
    idAt(0),
    'nonsense',
    idAt(1),
  ]);
  assert.equal(answer.status, 207);
  const { success, errors } = answer.body as BatchResult;
  assert.deepEqual(success, [idAt(0), idAt(1)]);
  assert.deepEqual(
    errors.map(({ entityId, error }) => [entityId, error.status]),
    [['urn:x:1', 404], [idAt(0), 400], ['nonsense', 400]],
  ); // oxfmt-ignore
  assert.equal(entities.count(), 2);
});

it('an empty batch, a batch with null, and a body that is not an array are 400 and change nothing', async () => {
  for (const body of [[], [null], [idAt(0), null], {}, 'x'.repeat(3), { id: idAt(0) }]) {
    assertProblem(await send('POST', '/entityOperations/delete', body), 400);
  }
  for (const operation of ['create', 'upsert', 'update']) {
    assertProblem(await send('POST', `/entityOperations/${operation}`, []), 400, 'BadRequestData');
  }
  assert.equal(entities.count(), 4);
});

it('a batch create answers 201 with the ids, and 207 when one exists already', async () => {
  const created = await send('POST', '/entityOperations/create', [item(10), item(11)]);
  assert.deepEqual([created.status, created.body], [201, [idAt(10), idAt(11)]]);
  const partial = await send('POST', '/entityOperations/create', [item(12), item(0), { id: idAt(13) }]);
  assert.equal(partial.status, 207);
  const { success, errors } = partial.body as BatchResult;
  assert.deepEqual([success, errors.map(({ error }) => error.status)], [[idAt(12)], [409, 400]]);
});

it('a batch upsert creates and replaces entities, or adds attributes with options=update', async () => {
  const mixed = await send('POST', '/entityOperations/upsert', [{ ...item(0), m: 1 }, item(20)]);
  assert.deepEqual([mixed.status, mixed.body], [201, [idAt(20)]]);
  assert.equal((await send('POST', '/entityOperations/upsert', [item(0, 9)])).status, 204);
  assert.equal(entities.get(idAt(0))?.['m'], undefined);
  assert.equal(
    (await send('POST', '/entityOperations/upsert?options=update', [{ id: idAt(0), m: 2 }])).status,
    204,
  );
  assert.deepEqual(entities.get(idAt(0))?.['n'], { type: 'Property', value: 9 });
  assert.deepEqual(entities.get(idAt(0))?.['m'], { type: 'Property', value: 2 });
});

it('a batch upsert replaces types and scopes with the attributes', async () => {
  const content = { ...item(0), scope: ['/a', '/b'] };
  assert.equal((await send('POST', '/entityOperations/upsert', [content])).status, 204);
  assert.deepEqual(entities.get(idAt(0))?.['scope'], ['/a', '/b']);
  assert.equal((await send('POST', '/entityOperations/upsert', [{ ...item(0), type: 'Other' }])).status, 204);
  assert.deepEqual([entities.get(idAt(0))?.['scope'], entities.get(idAt(0))?.['type']], [undefined, 'Other']);
});

it('a batch update changes existing entities and reports missing ones', async () => {
  assert.equal((await send('POST', '/entityOperations/update', [item(0, 5)])).status, 204);
  const kept = await send('POST', '/entityOperations/update?options=noOverwrite', [item(0, 6), item(30)]);
  assert.equal(kept.status, 207);
  assert.deepEqual(entities.get(idAt(0))?.['n'], { type: 'Property', value: 5 });
  assert.equal(entities.has(idAt(30)), false);
});
