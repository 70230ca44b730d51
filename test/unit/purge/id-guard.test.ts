import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { UnexpectedEntityError } from '../../../sidecar/purge/errors.js';
import { createIdGuard, matchesAnyId } from '../../../sidecar/purge/id-guard.js';

const isAllowed = (guard: ReturnType<typeof createIdGuard>, id: string) => {
  try {
    guard.check(id);
    return true;
  } catch (error) {
    assert.ok(error instanceof UnexpectedEntityError);
    assert.ok(id.startsWith(error.entityId) && error.entityId.length <= 200);
    return false;
  }
};

describe('createIdGuard', () => {
  it('lets everything pass for a query that names neither id nor idPattern', () => {
    const guard = createIdGuard(undefined, undefined);
    for (const id of ['urn:a:1', '', '__proto__']) assert.equal(isAllowed(guard, id), true);
  });

  it('lets only the ids of the query pass, compared exactly', () => {
    const guard = createIdGuard(['urn:a:1', 'urn:a:2'], undefined);
    assert.equal(isAllowed(guard, 'urn:a:2'), true);
    for (const id of ['urn:a:3', 'urn:a:1 ', 'URN:a:1', 'urn:a:11', 'constructor']) {
      assert.equal(isAllowed(guard, id), false, id);
    }
  });

  it('searches the pattern anywhere in the id, as brokers do', () => {
    assert.equal(isAllowed(createIdGuard(undefined, 'Car'), 'urn:ngsi-ld:Car:1'), true);
    assert.equal(isAllowed(createIdGuard(undefined, '^Car'), 'urn:ngsi-ld:Car:1'), false);
    assert.equal(isAllowed(createIdGuard(undefined, ':\\d+$'), 'urn:ngsi-ld:Car:17'), true);
    assert.equal(isAllowed(createIdGuard(undefined, ':\\d+$'), 'urn:ngsi-ld:Car:x'), false);
  });

  it('demands both where the query names both, and tells which one excludes', () => {
    const guard = createIdGuard(['urn:a:1', 'urn:b:1'], '^urn:a');
    assert.equal(isAllowed(guard, 'urn:a:1'), true);
    assert.throws(() => guard.check('urn:b:1'), { parameter: 'idPattern' });
    assert.throws(() => guard.check('urn:a:2'), { parameter: 'id' });
  });

  it('leaves patterns that RE2 cannot compile to the broker', () => {
    for (const pattern of ['(?=Car)', '(?<!a)b', '(a)\\1', '(', '[', '*']) {
      assert.equal(isAllowed(createIdGuard(undefined, pattern), 'urn:ngsi-ld:Bus:1'), true, pattern);
    }
  });

  it('takes linear time for patterns that make backtracking engines hang', () => {
    const id = `urn:${'a'.repeat(5000)}!`;
    const startedMs = performance.now();
    for (const pattern of ['^urn:(a+)+$', '(a|a)*$b', '^urn:(a|aa)+$', '(.*a){12}$x']) {
      assert.equal(isAllowed(createIdGuard(undefined, pattern), id), false, pattern);
    }
    // A backtracking engine needs longer than the age of the universe.
    assert.ok(performance.now() - startedMs < 3000);
  });

  it('agrees with plain text search for any literal', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z:0-9]{1,4}$/),
        fc.stringMatching(/^[a-z:0-9]{0,12}$/),
        (literal, id) => {
          assert.equal(isAllowed(createIdGuard(undefined, literal), id), id.includes(literal));
        },
      ),
    );
  });
});

describe('matchesAnyId', () => {
  it('knows patterns that exclude no id', () => {
    for (const pattern of ['.*', '', '^', '(a|b)*', 'x?', '^.*$'])
      assert.equal(matchesAnyId(pattern), true, pattern);
    for (const pattern of ['urn', '.+', '^urn:.*', '(?=x)', '('])
      assert.equal(matchesAnyId(pattern), false, pattern);
  });
});
