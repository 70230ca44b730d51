import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { INFERENCE_LIMITS } from '../../../../sidecar/schemas/inference/errors.js';
import { inferenceTasks, type InferInput } from '../../../../sidecar/schemas/inference/tasks.js';

describe('the task of inference', () => {
  it('the task of inference returns the text of the schema of one sample, or of the samples of an array', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'integer' } },
    };
    for (const text of ['{"a": 1}', '[{"a": 1}]', ' [{"a": 1.0}, {"a": -0}, {"a": 1e300}] '])
      assert.deepEqual(infer(text), { answer: JSON.stringify(schema) });
  });

  it('the task of inference reports the place where a text is not JSON, or is nested too deeply', () => {
    assert.deepEqual(infer('{"a":\n 1,}'), {
      unreadable: {
        line: 2,
        column: 4,
        detail: 'expected the name of a member in double quotes',
        isTooDeep: false,
      },
    });
    const outcome = infer('['.repeat(100_000));
    assert.ok('unreadable' in outcome && outcome.unreadable.isTooDeep);
  });

  it('the task of inference refuses values that are not samples, by their pointers', () => {
    assert.deepEqual(refusalOf('[{}, {}, 1, {}, null, [{}], "x", true]'), {
      kind: 'bodyInvalid',
      detail: 'No schema can be inferred: the samples have 5 faults.',
      errors: [
        { pointer: '/2', detail: 'must be a sample, which is an object; is a number' },
        { pointer: '/4', detail: 'must be a sample, which is an object; is null' },
        { pointer: '/5', detail: 'must be a sample, which is an object; is an array' },
        { pointer: '/6', detail: 'must be a sample, which is an object; is a string' },
        { pointer: '/7', detail: 'must be a sample, which is an object; is a boolean' },
      ],
    });
    assert.deepEqual(refusalOf('null')?.errors, [
      { pointer: '', detail: 'must be a sample, which is an object; is null' },
    ]);
    assert.deepEqual(refusalOf('[]')?.errors, [
      { pointer: '', detail: 'must contain at least one sample, is empty' },
    ]);
    for (const text of ['{}', '[{}, {}]'])
      assert.deepEqual(refusalOf(text)?.errors, [
        { pointer: '', detail: 'must have a member: nothing can be inferred from empty objects' },
      ]);
  });

  it('the task of inference refuses numbers that are too large to be read, wherever they are', () => {
    const refusal = refusalOf('[{"a": 1}, {"a/b": [{"c": 0}, {"c": -1e400}]}]');
    assert.deepEqual(
      refusal?.errors.map(({ pointer }) => pointer),
      ['/1/a~1b/1/c'],
    );
    const several = refusalOf('{"a": {"b": [1e400, {"c": 1e400}, 0, -1e400]}, "d": 1e400, "e": [[], 1e400]}');
    assert.deepEqual(
      several?.errors.map(({ pointer }) => pointer),
      ['/a/b/0', '/a/b/1/c', '/a/b/3', '/d', '/e/1'],
    );
    assert.deepEqual(
      refusalOf('{"a": 1e400}')?.errors.map(({ pointer }) => pointer),
      ['/a'],
    );
  });

  it('the task of inference refuses samples whose type is not the model, and names the type found', () => {
    const text =
      '[{"type": "Car"}, {"type": "Bus"}, {}, {"type": ["Bus", "Car"]}, {"type": ["Car", 1]}, {"type": null}]';
    assert.deepEqual(refusalOf(text, { model: 'Car' }), {
      kind: 'bodyInvalid',
      detail: 'No schema can be inferred: the samples have 3 faults.',
      errors: [
        { pointer: '/1/type', detail: 'must be "Car", or a list of types that contains it; found "Bus"' },
        { pointer: '/4/type', detail: 'must be "Car", or a list of types that contains it; found ["Car",1]' },
        { pointer: '/5/type', detail: 'must be "Car", or a list of types that contains it; found null' },
      ],
    });
    const [fault] = refusalOf(`{"type": "${'x'.repeat(10_000)}"}`, { model: 'Car' })?.errors ?? [];
    assert.equal(fault?.pointer, '/type');
    assert.ok(fault.detail.length < 200);
  });

  it('the task of inference lists the first of many faults, and their number', () => {
    const refusal = refusalOf(JSON.stringify(Array.from({ length: 1000 }, () => 1)));
    assert.equal(refusal?.errors.length, INFERENCE_LIMITS.faults);
    assert.match(refusal.detail, /1000 faults, the first 100 are listed/);
  });

  it('the task of inference keeps its list of faults short, which has at least one', () => {
    const { pointersLength } = INFERENCE_LIMITS;
    const faulty = (name: string, count: number) =>
      `{"a/b": {${JSON.stringify(name)}: [${Array.from({ length: count }, () => '1e400').join()}]}}`;
    const some = refusalOf(faulty('x'.repeat(pointersLength / 20), 100));
    assert.equal(some?.errors.length, 20);
    assert.match(some.detail, /100 faults, the first 20 are listed/);
    const one = refusalOf(faulty('x'.repeat(1_000_000), 3));
    assert.match(one?.detail ?? '', /3 faults, the first is listed/);
    assert.equal(
      one?.errors[0]?.detail,
      'must be a number of the range of IEEE 754 doubles (RFC 8259, section 6)',
    );
  });

  it('the task of inference refuses names with half a surrogate pair, which no model can have', () => {
    const refusal = refusalOf(
      String.raw`[{"id": "urn:a:1", "\ud83d\ude00": "\ud800"}, {"\ud800": 1, "a": [{"x\udc00": {}}]}]`,
    );
    assert.equal(refusal?.kind, 'bodyInvalid');
    assert.deepEqual(
      refusal.errors.map(({ pointer }) => pointer),
      ['/1/\ud800', '/1/a/0/x\udc00'],
    );
    assert.match(refusal.errors[0]?.detail ?? '', /surrogate/);
    assert.ok('answer' in infer(String.raw`{"\ud83d\ude00": "\ud800"}`));
  });

  it('the task of inference returns plain data, which can be sent to another thread', () => {
    for (const text of ['{"a": 1}', '[1]', '{']) assert.deepEqual(structuredClone(infer(text)), infer(text));
  });
});

function infer(text: string, options: Partial<InferInput> = {}) {
  return inferenceTasks.infer({ form: 'keyvalues', enumerates: false, ...options, text });
}

function refusalOf(text: string, options: Partial<InferInput> = {}) {
  const outcome = infer(text, options);
  return 'refused' in outcome ? outcome.refused : undefined;
}
