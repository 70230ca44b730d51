import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkExamples, keptExamples } from '../../../../sidecar/schemas/repository/examples.js';
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

/** Checks examples with a workbench in which those that are `slow` exceed their deadline. */
function checker() {
  const slow = { count: 0 };
  return (examples: readonly string[]) =>
    checkExamples(
      examples.map((text, index) => ({ path: `${index}.json`, text })),
      MODEL,
      {
        slow,
        workbench: {
          validateAgainst: (_schema, _key, text) =>
            text === 'slow'
              ? Promise.reject(new DeadlineExceededError('It took too long.'))
              : Promise.resolve(VALID),
        },
      },
    );
}

describe('the examples of an import', () => {
  it('slow examples of an import end the checks for all of its models, and the unchecked ones are named', async () => {
    const check = checker();
    const many = Array.from({ length: 10_000 }, () => 'quick');
    assert.deepEqual(await check(many), { valid: 10_000, invalid: [] });
    const slow = await check(['slow', 'quick', 'slow', 'slow', 'quick', 'slow', 'quick', 'quick', 'quick']);
    assert.deepEqual(
      [slow.valid, column(slow.invalid, 'path')],
      [4, ['0.json', '2.json', '3.json', '5.json']],
    );
    assert.deepEqual(slow.unchecked, ['8.json']);
    assert.deepEqual(await check(['quick']), { valid: 0, invalid: [], unchecked: ['0.json'] });
  });

  it('examples named .jsonld are validated as NGSI-LD, and others are not', async () => {
    const asked: unknown[] = [];
    const signal = new AbortController().signal;
    await checkExamples(
      ['a.jsonld', 'b.json', 'c.jsonld.json'].map((path) => ({ path, text: path })),
      MODEL,
      {
        slow: { count: 0 },
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
        slow: { count: 0 },
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
        slow: { count: 0 },
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
});
