import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { RequestRefusedError } from '../../../sidecar/http/errors.js';
import { parsePurgePolicy } from '../../../sidecar/http/purge-policy.js';

const assertRefused = (header: string) =>
  assert.throws(
    () => parsePurgePolicy(header),
    (error: unknown) => {
      assert.ok(error instanceof RequestRefusedError, header);
      assert.equal(error.problem.status, 400);
      assert.match(error.message, /X-Purge-Policy/);
      return true;
    },
  );

describe('parsePurgePolicy (RFC 9651 § 3.2)', () => {
  it('parsePurgePolicy (RFC 9651 § 3.2) reads every bound and switch', () => {
    const header =
      'max-affected=100, page-size=50,batch-size=20 ,concurrency=2,\ttemporal-concurrency=8, dry-run-only=?1, allow-temporal=?0';
    assert.deepEqual(parsePurgePolicy(header), {
      maxAffected: 100,
      pageSize: 50,
      batchSize: 20,
      concurrency: 2,
      temporalConcurrency: 8,
      dryRunOnly: true,
      allowTemporal: false,
    });
  });

  it('parsePurgePolicy (RFC 9651 § 3.2) sets no limit without the header, and combines repeated values', () => {
    assert.deepEqual(parsePurgePolicy(undefined), {});
    assert.deepEqual(parsePurgePolicy(['max-affected=1', 'page-size=2']), { maxAffected: 1, pageSize: 2 });
  });

  it('parsePurgePolicy (RFC 9651 § 3.2) takes a switch without a value for true', () => {
    assert.deepEqual(parsePurgePolicy('dry-run-only'), { dryRunOnly: true });
    assert.deepEqual(parsePurgePolicy('dry-run-only=?0, allow-temporal'), {
      dryRunOnly: false,
      allowTemporal: true,
    });
  });

  it('parsePurgePolicy refuses what it does not understand, since a bound that is not read would not hold', () => {
    for (const header of [
      '',
      ' ',
      ',',
      'max-affected=1,',
      'max-affected',
      'max-affected=',
      'max-affected=0',
      'max-affected=-1',
      'max-affected=1.5',
      'max-affected=1e3',
      'max-affected= 5',
      'max-affected="5"',
      'max-affected=?1',
      'max-affected=1=2',
      'max-affected=1;q=1',
      'max-affected=9999999999999999',
      'Max-Affected=5',
      'max_affected=5',
      'maxAffected=5',
      'dry-run-only=true',
      'dry-run-only=1',
      'dry-run-only=?2',
      'unknown=1',
      'constructor=1',
      '__proto__',
      'max-affected=5, toString=?1',
    ]) {
      assertRefused(header);
    }
  });

  it('parsePurgePolicy quotes only a part of what it refuses', () => {
    assert.throws(
      () => parsePurgePolicy('x'.repeat(5000)),
      (error: unknown) => error instanceof RequestRefusedError && error.message.length < 200,
    );
  });

  it('parsePurgePolicy (RFC 9651 § 3.2) answers a policy of positive bounds or refuses, whatever the header holds', () => {
    const member = fc.tuple(
      fc.constantFrom('max-affected', 'page-size', 'dry-run-only', 'x'),
      fc.constantFrom('', '=', '=1', '=?1', '=0', '=-1', '=5'),
    );
    const headers = fc.oneof(
      fc.string(),
      fc.array(member.map((parts) => parts.join(''))).map((list) => list.join(', ')),
    );
    fc.assert(
      fc.property(headers, (header) => {
        try {
          for (const value of Object.values(parsePurgePolicy(header))) {
            assert.ok(typeof value === 'boolean' || (Number.isSafeInteger(value) && value > 0));
          }
        } catch (error) {
          assert.ok(error instanceof RequestRefusedError, String(error));
        }
      }),
    );
  });
});
