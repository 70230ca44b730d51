import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkExamples, ExampleTime } from '../../../../sidecar/schemas/transfer/examples.js';
import { DeadlineExceededError } from '../../../../sidecar/schemas/workbench/errors.js';

const MODEL = {
  key: { domain: 'City', name: 'Bench' },
  schema: {
    contentHash: 'x',
    lifecycle: { status: 'published', deprecatedAt: undefined, sunsetAt: undefined },
    text: () => Promise.resolve('{}'),
  },
} as const;

const VALID = '{"valid": true, "errors": [], "warnings": []}';

/** A clock, and a workbench with which each example takes some time, and beyond a deadline fails. */
function withTime(deadlineMs: number, count: number) {
  let now = 0;
  const clock = { now: () => now, sleep: () => Promise.reject(new Error('Nothing is to be waited for.')) };
  const time = new ExampleTime(clock, deadlineMs, count);
  const check = (examples: readonly number[]) =>
    checkExamples(
      examples.map((ms, index) => ({ path: `${index}.json`, text: String(ms) })),
      MODEL,
      {
        time,
        workbench: {
          validateAgainst: async (_schema, _key, text) => {
            now += Math.min(Number(text), deadlineMs);
            if (Number(text) > deadlineMs) throw new DeadlineExceededError('It took too long.');
            return VALID;
          },
        },
      },
    );
  return { check, spent: () => now };
}

describe('the examples of an import', () => {
  it('the examples of an import that are slow end the checks for all of its models, and those left are named', async () => {
    const { check, spent } = withTime(2000, 8);
    const slow = await check([9000, 9000, 9000, 9000, 9000, 9000]);
    assert.deepEqual([slow.valid, slow.invalid.map(({ path }) => path)], [0, ['0.json', '1.json', '2.json']]);
    assert.deepEqual(slow.unchecked, ['3.json', '4.json', '5.json']);
    assert.deepEqual(await check([1, 1]), { valid: 0, invalid: [], unchecked: ['0.json', '1.json'] });
    assert.equal(spent(), 6000);
  });

  it('the examples of an import that are quick are all checked, however many they are', async () => {
    const { check } = withTime(2000, 10_000);
    const examples = Array.from({ length: 10_000 }, () => 100);
    assert.deepEqual(await check(examples), { valid: 10_000, invalid: [] });
  });
});
