import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { compilePattern } from '../../../../sidecar/ngsi-ld/pattern.js';
import { UnexpectedEntityError } from '../../../../sidecar/purge/errors.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { replyOf } from '../../../support/replies.js';
import { contextOf } from '../hand-made-context.js';
import { processorTimer } from '../../../support/processor-time.js';

interface Named {
  readonly ids?: readonly string[];
  readonly idPattern?: string;
}

/** Lists a page with these ids for a query that names some. */
async function list(listed: readonly string[], { ids, idPattern }: Named): Promise<void> {
  const selection = [{ name: 'type', value: 'T' }];
  const { lister } = contextOf({
    brokerQuery: { resource: entities('ids'), selection },
    // The broker applies each filter: the proving queries list nothing.
    broker: ({ path }) =>
      replyOf(
        200,
        listed.filter(() => !path.includes('NoSuch')).map((id) => ({ id })),
      ),
    query: { ids, idPattern: idPattern === undefined ? undefined : compilePattern('idPattern', idPattern) },
  });
  await lister.page({ selection });
}

async function isExpected(id: string, named: Named): Promise<boolean> {
  try {
    await list([id], named);
    return true;
  } catch (error) {
    assert.ok(error instanceof UnexpectedEntityError);
    assert.ok(id.startsWith(error.entityId) && error.entityId.length <= 200);
    return false;
  }
}

it('the ids that a purge expects are those that its query names, compared exactly', async () => {
  const ids = ['urn:a:1', 'urn:a:2'];
  assert.equal(await isExpected('urn:a:2', { ids }), true);
  for (const id of ['urn:a:3', 'urn:a:1 ', 'URN:a:1', 'urn:a:11', 'constructor'])
    assert.equal(await isExpected(id, { ids }), false, id);
  for (const id of ['urn:a:1', '__proto__']) assert.equal(await isExpected(id, {}), true);
});

it('the ids that a purge expects have its pattern anywhere in them, as in brokers', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.stringMatching(/^[a-z:0-9]{1,4}$/),
      fc.stringMatching(/^[a-z:0-9]{1,12}$/),
      async (idPattern, id) => assert.equal(await isExpected(id, { idPattern }), id.includes(idPattern)),
    ),
  );
  assert.equal(await isExpected('urn:ngsi-ld:Car:1', { idPattern: '^Car' }), false);
  assert.equal(await isExpected('urn:ngsi-ld:Car:17', { idPattern: ':\\d+$' }), true);
});

it('the ids that a purge expects match both filters of the query, and an unexpected id is reported with the filter that excludes it', async () => {
  const named = { ids: ['urn:a:1', 'urn:b:1'], idPattern: '^urn:a' };
  assert.equal(await isExpected('urn:a:1', named), true);
  await assert.rejects(list(['urn:b:1'], named), { parameter: 'idPattern' });
  await assert.rejects(list(['urn:a:2'], named), { parameter: 'id' });
});

it('a purge expects any id if RE2 cannot compile the pattern, which is left to the broker', async () => {
  for (const idPattern of ['(?=Car)', '(?<!a)b', '(a)\\1', '(', '[', '*'])
    assert.equal(await isExpected('urn:ngsi-ld:Bus:1', { idPattern }), true, idPattern);
});

it('the ids that a purge expects have at most 4096 UTF-16 units, but only with a pattern', async () => {
  const idPattern = '^urn:';
  assert.equal(await isExpected('urn:'.padEnd(4096, 'a'), { idPattern }), true);
  const long = 'urn:'.padEnd(4097, 'a');
  assert.equal(await isExpected(long, { idPattern }), false);
  assert.equal(await isExpected(long, {}), true);
  assert.equal(await isExpected(long, { ids: [long] }), true);
});

it('the ids that a purge expects are checked in linear time for patterns that make backtracking engines hang', async () => {
  const usedMs = processorTimer();
  for (const idPattern of ['^urn:(a+)+$', '(a|a)*$b', '^urn:(a|aa)+$', '(.*a){12}$x'])
    assert.equal(await isExpected(`urn:${'a'.repeat(4000)}!`, { idPattern }), false, idPattern);
  // A backtracking engine needs longer than the age of the universe.
  assert.ok(usedMs() < 3000);
});

it('the ids that a purge expects are checked with other work in between, even on a large page', async () => {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const ids = Array.from({ length: 2000 }, (_, index) => `urn:${'ab'.repeat(30)}${index}`);
  await list(ids, { idPattern: '[ab]{450}|urn' }).finally(() => (isDone = true));
  // About fifty million steps. Without yielding there would hardly be a turn. It does not yield after each id, which would take a
  // million turns.
  assert.ok(turns >= 10 && turns <= 1000, `${turns} turns`);
});
