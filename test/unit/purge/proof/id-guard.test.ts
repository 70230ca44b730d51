import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compilePattern } from '../../../../sidecar/ngsi-ld/pattern.js';
import { UnexpectedEntityError } from '../../../../sidecar/purge/errors.js';
import { createIdGuard } from '../../../../sidecar/purge/proof/index.js';

const guardOf = (ids: readonly string[] | undefined, idPattern?: string) =>
  createIdGuard(ids, idPattern === undefined ? undefined : compilePattern('idPattern', idPattern));

const isAllowed = async (guard: ReturnType<typeof createIdGuard>, id: string) => {
  try {
    await guard.check([id]);
    return true;
  } catch (error) {
    assert.ok(error instanceof UnexpectedEntityError);
    assert.ok(id.startsWith(error.entityId) && error.entityId.length <= 200);
    return false;
  }
};

describe('createIdGuard', () => {
  it('createIdGuard lets everything pass for a query that names neither id nor idPattern', async () => {
    const guard = guardOf(undefined);
    for (const id of ['urn:a:1', '', '__proto__']) assert.equal(await isAllowed(guard, id), true);
  });

  it('createIdGuard lets only the ids of the query pass, compared exactly', async () => {
    const guard = guardOf(['urn:a:1', 'urn:a:2']);
    assert.equal(await isAllowed(guard, 'urn:a:2'), true);
    for (const id of ['urn:a:3', 'urn:a:1 ', 'URN:a:1', 'urn:a:11', 'constructor']) {
      assert.equal(await isAllowed(guard, id), false, id);
    }
  });

  it('createIdGuard searches the pattern anywhere in the id, as brokers do', async () => {
    assert.equal(await isAllowed(guardOf(undefined, 'Car'), 'urn:ngsi-ld:Car:1'), true);
    assert.equal(await isAllowed(guardOf(undefined, '^Car'), 'urn:ngsi-ld:Car:1'), false);
    assert.equal(await isAllowed(guardOf(undefined, ':\\d+$'), 'urn:ngsi-ld:Car:17'), true);
    assert.equal(await isAllowed(guardOf(undefined, ':\\d+$'), 'urn:ngsi-ld:Car:x'), false);
  });

  it('createIdGuard requires both if the query has both, and names the one that excludes', async () => {
    const guard = guardOf(['urn:a:1', 'urn:b:1'], '^urn:a');
    assert.equal(await isAllowed(guard, 'urn:a:1'), true);
    await assert.rejects(guard.check(['urn:b:1']), { parameter: 'idPattern' });
    await assert.rejects(guard.check(['urn:a:2']), { parameter: 'id' });
  });

  it('createIdGuard leaves patterns that RE2 cannot compile to the broker', async () => {
    for (const pattern of ['(?=Car)', '(?<!a)b', '(a)\\1', '(', '[', '*']) {
      assert.equal(await isAllowed(guardOf(undefined, pattern), 'urn:ngsi-ld:Bus:1'), true, pattern);
    }
  });

  it('createIdGuard takes linear time for patterns that make backtracking engines hang', async () => {
    const id = `urn:${'a'.repeat(4000)}!`;
    const startedMs = performance.now();
    for (const pattern of ['^urn:(a+)+$', '(a|a)*$b', '^urn:(a|aa)+$', '(.*a){12}$x']) {
      assert.equal(await isAllowed(guardOf(undefined, pattern), id), false, pattern);
    }
    // A backtracking engine needs longer than the age of the universe.
    assert.ok(performance.now() - startedMs < 3000);
  });

  it('createIdGuard agrees with plain text search for any literal', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^[a-z:0-9]{1,4}$/),
        fc.stringMatching(/^[a-z:0-9]{0,12}$/),
        async (literal, id) => {
          assert.equal(await isAllowed(guardOf(undefined, literal), id), id.includes(literal));
        },
      ),
    );
  });

  it('createIdGuard refuses an id that is too long to be matched, only if there is a pattern', async () => {
    const id = `urn:${'a'.repeat(100_000)}`;
    assert.equal(await isAllowed(guardOf(undefined, '^urn:'), id), false);
    assert.equal(await isAllowed(guardOf(undefined), id), true);
    assert.equal(await isAllowed(guardOf([id]), id), true);
  });

  it('createIdGuard matches ids of up to 4096 UTF-16 units against the pattern', async () => {
    const guard = guardOf(undefined, '^urn:');
    assert.equal(await isAllowed(guard, 'urn:'.padEnd(4096, 'a')), true);
    assert.equal(await isAllowed(guard, 'urn:'.padEnd(4097, 'a')), false);
  });

  it('createIdGuard yields to other work while it checks a large page', async () => {
    const ids = Array.from({ length: 2000 }, (_, index) => `urn:${'ab'.repeat(30)}${index}`);
    const guard = guardOf(undefined, '[ab]{450}|urn');
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await guard.check(ids).finally(() => (isDone = true));
    // About fifty million steps; without giving way there would be no turn at all.
    assert.ok(turns >= 10, `${turns} turns`);
    // Not after each id, once a million steps were taken.
    assert.ok(turns <= 1000, `${turns} turns`);
  });
});
