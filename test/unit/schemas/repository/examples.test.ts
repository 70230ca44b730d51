import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  checkExamples,
  ExampleTimeBudget,
  keptExamples,
} from '../../../../sidecar/schemas/repository/examples.js';
import { DeadlineExceededError } from '../../../../sidecar/schemas/models/workbench-errors.js';
import { WorkersBusyError } from '../../../../sidecar/shared/workers/errors.js';
import { column } from '../../../support/columns.js';

const MODEL = {
  key: { domain: 'City', name: 'Bench' },
  schema: {
    contentHash: 'x',
    version: 1,
    lifecycle: { status: 'published', deprecatedAt: undefined, sunsetAt: undefined },
    text: () => Promise.resolve('{}'),
  },
} as const;

const VALID = '{"valid": true, "errors": [], "warnings": []}';

/** A clock, and a workbench in which each example takes some time, and beyond a deadline fails. */
function withTime(deadlineMs: number, count: number) {
  let now = 0;
  const clock = {
    now: () => now,
    monotonicMs: () => now,
    sleep: () => Promise.reject(new Error('Nothing is to be waited for.')),
  };
  const time = new ExampleTimeBudget(clock, deadlineMs, count);
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
  it('slow examples of an import end the checks for all of its models, and the unchecked ones are named', async () => {
    const { check, spent } = withTime(2000, 8);
    const slow = await check([9000, 9000, 9000, 9000, 9000, 9000]);
    const [four, others] = [
      ['0.json', '1.json', '2.json', '3.json'],
      ['4.json', '5.json'],
    ];
    assert.deepEqual([slow.valid, column(slow.invalid, 'path')], [0, four]);
    assert.deepEqual(slow.unchecked, others);
    assert.deepEqual(await check([1, 1]), { valid: 0, invalid: [], unchecked: ['0.json', '1.json'] });
    assert.equal(spent(), 8000);
  });

  it('quick examples of an import are all checked, however many there are', async () => {
    const { check } = withTime(2000, 10_000);
    const examples = Array.from({ length: 10_000 }, () => 100);
    assert.deepEqual(await check(examples), { valid: 10_000, invalid: [] });
  });

  it('examples named .jsonld are validated as NGSI-LD, and others are not', async () => {
    const asked: unknown[] = [];
    const { time } = timeOf();
    const signal = new AbortController().signal;
    await checkExamples(
      ['a.jsonld', 'b.json', 'c.jsonld.json'].map((path) => ({ path, text: path })),
      MODEL,
      {
        time,
        signal,
        workbench: {
          validateAgainst: async (schema, key, text, options) => {
            assert.deepEqual([schema, key], [MODEL.schema, MODEL.key]);
            asked.push([text, options.isStrict]);
            return Promise.resolve(VALID);
          },
        },
      },
    );
    assert.deepEqual(asked, [
      ['a.jsonld', true],
      ['b.json', false],
      ['c.jsonld.json', false],
    ]);
  });

  it('an invalid example has its first five errors, over all of its entities, with their lines', async () => {
    const fault = (n: number) => ({
      pointer: `/${n}`,
      detail: `fault ${n}`,
      ...(n === 2 ? { line: 7 } : {}),
    });
    const verdict = (...numbers: readonly number[]) => ({ valid: false, errors: numbers.map(fault) });
    const valid = { valid: true, errors: [] };
    const check = async (answer: unknown) =>
      checkExamples([{ path: 'a.json', text: '[]' }], MODEL, {
        ...timeOf(),
        workbench: { validateAgainst: () => Promise.resolve(JSON.stringify(answer)) },
      });
    const { invalid, valid: count } = await check([verdict(1, 2), valid, verdict(3, 4, 5, 6)]);
    assert.equal(count, 0);
    assert.deepEqual(
      invalid,
      [1, 2, 3, 4, 5].map((n) => ({ path: 'a.json', ...fault(n) })),
    );
    assert.deepEqual(await check([valid, valid]), { valid: 1, invalid: [] });
  });

  it('an example that is not an entity is invalid with its reason, and an outage ends the import', async () => {
    const check = (error: Error, signal?: AbortSignal) =>
      checkExamples([{ path: 'a.json', text: '{\n' }], MODEL, {
        ...timeOf(),
        signal,
        workbench: { validateAgainst: () => Promise.reject(error) },
      });
    const late = await check(new DeadlineExceededError('It took too long.'));
    assert.deepEqual(late, {
      valid: 0,
      invalid: [{ path: 'a.json', pointer: '', detail: 'It took too long.' }],
    });
    const away = new WorkersBusyError(1);
    await assert.rejects(check(away), away);
    await assert.rejects(check(away, AbortSignal.abort(new Error('gone'))), /gone/);
  });

  it('an import keeps as many examples of a model as allowed, and gives the reason for leaving out others', () => {
    const example = (name: string, text = '{}') => ({ path: `examples/${name}`, name, text });
    const large = '"'.padEnd(256 * 1024, 'x');
    const { kept, leftOut } = keptExamples([
      example('_a.json'),
      example('a.txt'),
      example('large.json', `${large}"`),
      example('full.json', large),
      example('b.json', '1'),
      { ...example('b.json', '2'), path: 'examples/b?.json' },
      ...Array.from({ length: 99 }, (_, n) => example(`n${n}.jsonld`)),
    ]);
    assert.equal(kept?.size, 100);
    assert.deepEqual([...kept.keys()].slice(0, 2), ['full.json', 'b.json']);
    assert.equal(kept.get('b.json')?.text, '1');
    assert.deepEqual(
      leftOut.map(({ path, reason }) => [path, reason.replace(/ must be .*/, ' must be …')]),
      [
        ['examples/_a.json', 'The name of an example must be …'],
        ['examples/a.txt', 'The name of an example must be …'],
        ['examples/large.json', 'It has more than 262144 bytes.'],
        ['examples/b?.json', 'Another example of the model is also called b.json.'],
        ['examples/n98.jsonld', 'A model has at most 100 examples.'],
      ],
    );
    assert.deepEqual(keptExamples([]), { kept: undefined, leftOut: [] });
  });

  it('the time of the examples is the processor time of the process, or at least a quarter of the elapsed time', async () => {
    let [now, had] = [0, 0];
    const clock = {
      now: () => now,
      monotonicMs: () => now,
      processTimeMs: () => had,
      sleep: () => Promise.resolve(),
    };
    const spend = (time: ExampleTimeBudget, passedMs: number, hadMs: number) =>
      time.spend(() => {
        now += passedMs;
        had += hadMs;
        return Promise.resolve();
      });
    // 2,000 ms of processor time, 8,000 ms of elapsed time.
    const busy = new ExampleTimeBudget(clock, 1000, 0);
    await spend(busy, 7_999, 1_999);
    assert.equal(busy.isExhausted, false);
    await spend(busy, 0, 1);
    assert.equal(busy.isExhausted, false);
    await spend(busy, 1, 0);
    assert.equal(busy.isExhausted, true);
    const alone = new ExampleTimeBudget(clock, 1000, 0);
    await spend(alone, 1_999, 9_000);
    assert.equal(alone.isExhausted, false);
    await spend(alone, 1, 1);
    assert.equal(alone.isExhausted, true);
  });
});

/** Time that never ends. */
function timeOf() {
  return {
    time: new ExampleTimeBudget(
      { now: () => 0, monotonicMs: () => 0, sleep: () => Promise.resolve() },
      1000,
      1,
    ),
  };
}
