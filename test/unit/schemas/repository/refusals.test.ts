import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SchemaRefusedError } from '../../../../sidecar/schemas/json-schema/errors.js';
import { StoreUnavailableError } from '../../../../sidecar/store/errors.js';
import { changeOf, refusalOf, withChange } from '../../../../sidecar/schemas/repository/refusals.js';
import type { ImportedFile } from '../../../../sidecar/schemas/repository/shapes.js';
import {
  TaskFailedError,
  TaskTooCostlyError,
  WorkersBusyError,
} from '../../../../sidecar/shared/workers/errors.js';

const reasonOf = (message: string, pointer: string, detail: string) =>
  refusalOf(new SchemaRefusedError('schemaInvalid', message, [{ pointer, detail }]), '[]', '/schema').reason;

describe('the reason of a refused file', () => {
  it('the reason of a refused file names the place of a fault within', () => {
    assert.equal(
      reasonOf('It is refused.', '/schema/type', 'is unknown'),
      'It is refused. /type: is unknown.',
    );
  });
});

describe('the refusal of an imported file', () => {
  for (const error of [
    new StoreUnavailableError('The database is away.'),
    new WorkersBusyError(100),
    new TaskFailedError('The workers are being closed.'),
    new TypeError('A fault of ours.'),
  ]) {
    it(`an imported file is not blamed for an unrelated error, and the import fails: ${error.name}`, () => {
      assert.throws(() => refusalOf(error, '{}', ''), error);
    });
  }

  it('an imported file that is too costly is refused instead of ending the import', () => {
    const { status, reason } = refusalOf(new TaskTooCostlyError('time', 'It takes too long'), '{}', '');
    assert.deepEqual([status, reason], ['refused', 'It takes too long.']);
  });
});

describe('the reason and the place of a refusal', () => {
  const refusal = (errors: readonly { pointer: string; detail: string }[], missing: readonly string[] = []) =>
    refusalOf(
      new SchemaRefusedError('schemaInvalid', 'It is refused.', errors, missing),
      '{\n"a": 1,\n"b": 2\n}',
      '/schema',
    );
  const fault = (name: string) => ({ pointer: `/schema/${name}`, detail: `is ${name}` });

  it('a refusal names its first three faults, the number of the others, and the line of the first', () => {
    const some = ['b', 'a', 'c', 'd'].map(fault);
    assert.deepEqual(refusal(some.slice(0, 3)), {
      status: 'refused',
      reason: 'It is refused. /b: is b; /a: is a; /c: is c.',
      line: 3,
    });
    assert.match(refusal(some).reason, /\/c: is c \(and 1 more\)\.$/);
    assert.equal(refusal(some.slice(1)).line, 2);
    assert.deepEqual(refusal([]), { status: 'refused', reason: 'It is refused.' });
  });

  it('a pointer that does not lead into the file is kept unchanged', () => {
    assert.match(refusal([{ pointer: '/context/x', detail: 'is wrong' }]).reason, /\/context\/x: is wrong/);
  });
});

describe('the change of an imported model', () => {
  const difference = (n: number) => ({
    pointer: `/${n}`,
    class: 'narrowing',
    reason: 'unproven',
    detail: '',
  });
  const report = (overall: string, count: number, from = 0) =>
    ({
      overall,
      differences: Array.from({ length: count }, (_, n) => difference(from + n)),
    }) as unknown as Parameters<typeof changeOf>[0];

  it('the change of an imported model lists twenty differences at most', () => {
    assert.deepEqual(changeOf(report('breaking', 20)).differences?.length, 20);
    assert.deepEqual(changeOf(report('breaking', 21)).differences?.length, 20);
  });

  it('a change by a context comes before that of the model itself, and the worse of both counts', () => {
    const entry: ImportedFile = { path: 'x', status: 'updated' };
    assert.deepEqual(withChange(entry, report('compatible', 0)), entry);
    assert.deepEqual(withChange(entry, report('narrowing', 1)), {
      ...entry,
      change: 'narrowing',
      differences: [difference(0)],
    });
    for (const [own, other, worst] of [
      ['narrowing', 'breaking', 'breaking'],
      ['breaking', 'narrowing', 'breaking'],
      ['compatible', 'narrowing', 'narrowing'],
      ['narrowing', 'compatible', 'narrowing'],
    ] as const) {
      const { change, differences } = withChange(
        { ...entry, ...changeOf(report(own, 15, 50)) },
        report(other, 10),
      );
      assert.equal(change, worst);
      assert.deepEqual(
        differences?.map(({ pointer }) => Number(pointer.slice(1))),
        [...Array.from({ length: 10 }, (_, n) => n), ...Array.from({ length: 10 }, (_, n) => 50 + n)],
      );
    }
  });
});
