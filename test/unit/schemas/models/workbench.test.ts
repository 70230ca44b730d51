import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Lifecycle, Workbench, type WorkbenchParts } from '../../../../sidecar/schemas/models/index.js';
import { DeadlineExceededError } from '../../../../sidecar/schemas/models/workbench-errors.js';
import { TaskTooCostlyError, WorkersBusyError } from '../../../../sidecar/shared/workers/errors.js';
import type { RunOptions } from '../../../../sidecar/shared/workers/tasks.js';

interface Run {
  readonly kind: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly options: RunOptions | undefined;
}

const PUBLISHED: Lifecycle = { deprecatedAt: undefined, sunsetAt: undefined };

/** A workbench whose workers end with the given outcomes, one after the other; errors are thrown. */
function benchWith(...outcomes: readonly unknown[]) {
  return benchOf({}, ...outcomes);
}

interface Setting {
  readonly lifecycle?: Lifecycle;
  /** The models of the types of bodies, by name. */
  readonly found?: readonly string[];
}

function benchOf({ lifecycle = PUBLISHED, found = [] }: Setting, ...outcomes: readonly unknown[]) {
  const runs: Run[] = [];
  const left = [...outcomes];
  const workers = {
    run: async (kind: string, input: Run['input'], options?: RunOptions) => {
      runs.push({ kind, input, options });
      const outcome = left.shift();
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  };
  const contextLoader = {
    stamp: async () => 'now',
    supply: async (url: string) => ({ sha256: `hash of ${url}`, text: '{}' }),
  };
  const schemaOf = (name: string) => ({
    contentHash: `hash of ${name}`,
    lifecycle,
    text: async () => `schema of ${name}`,
  });
  const typeModel = (name: string) => ({
    model: { domain: 'City', name },
    schema: schemaOf(name),
    types: [name],
  });
  const asked: unknown[] = [];
  const typeModels = {
    of: async (types: unknown, domain: unknown) => {
      asked.push([types, domain]);
      return Promise.resolve({ models: found.map(typeModel), unknownTypes: ['Other'] });
    },
  };
  const schemas = { of: async ({ name }: { name: string }) => Promise.resolve(schemaOf(name)) };
  const parts = { schemas, typeModels, contextLoader, workers, deadlineMs: 100 };
  return { runs, asked, workbench: new Workbench(parts as unknown as WorkbenchParts) };
}

const MODEL = { domain: 'City', name: 'Bike' };
/** A worker that has not compiled the model. */
const NEEDS_BIKE = { needs: { schemas: ['hash of Bike'] } };
const AT = { baseUrl: 'http://gateway.example' };
const AS_GIVEN = { text: '{}', form: undefined, isStrict: undefined, unknownTypes: [] };

describe('the workbench', () => {
  it('the workbench compiles an unknown model in a worker, with more time and under the queue key of the model', async () => {
    const { workbench, runs } = benchWith({ answer: '1' }, NEEDS_BIKE, { areKept: true }, { answer: '2' });
    assert.equal(await workbench.validate(MODEL, '{}', {}), '1');
    assert.equal(await workbench.validate(MODEL, '{}', { form: 'concise' }), '2');
    const model = { key: 'hash of Bike', name: 'Bike' };
    assert.deepEqual(
      runs.map(({ kind, input, options }) => [kind, input, options?.deadlineMs]),
      [
        ['validate', { ...AS_GIVEN, models: [model] }, undefined],
        ['validate', { ...AS_GIVEN, models: [model], form: 'concise' }, undefined],
        ['compileModels', { models: [model], schemas: [['hash of Bike', 'schema of Bike']] }, 500],
        ['validate', { ...AS_GIVEN, models: [model], form: 'concise' }, undefined],
      ],
    );
    for (const { options } of runs) assert.equal(options?.queueKey, 'validate hash of Bike');
  });

  it('the workbench validates by type once a worker has said which types the entities have', async () => {
    const { workbench, runs, asked } = benchOf(
      { found: ['Bike', 'Car'] },
      { needs: { types: ['a type'] } },
      { answer: '1' },
    );
    assert.equal(await workbench.validateByType('{}', { isStrict: false, domain: 'City' }), '1');
    assert.deepEqual(asked, [[['a type'], 'City']]);
    const byType = (name: string) => ({ title: `City/${name}`, types: [name] });
    assert.deepEqual(
      runs.map(({ kind, input, options }) => [kind, input, options?.queueKey]),
      [
        ['validate', { ...AS_GIVEN, isStrict: false, models: [] }, undefined],
        [
          'validate',
          {
            ...AS_GIVEN,
            unknownTypes: ['Other'],
            isStrict: false,
            models: ['Bike', 'Car'].map((name) => ({ key: `hash of ${name}`, name, byType: byType(name) })),
          },
          'validate hash of Bike hash of Car',
        ],
      ],
    );
  });

  it('the workbench gives entities only their own time, because unknown models are compiled separately', async () => {
    const again = [NEEDS_BIKE, { areKept: true }];
    const found = { found: ['Bike'] };
    const types = { needs: { types: [] } };
    const { workbench, runs } = benchOf(found, types, ...again, ...again, { answer: '1' });
    assert.equal(await workbench.validateByType('{}', {}), '1');
    const [validation, compilation] = [
      ['validate', true, false, undefined],
      ['compileModels', false, true, 500],
    ];
    assert.deepEqual(
      runs.map(({ kind, input, options }) => [
        kind,
        'text' in input,
        'schemas' in input,
        options?.deadlineMs,
      ]),
      [validation, validation, compilation, validation, compilation, validation],
    );
    const slow = benchOf(found, types, ...again, new TaskTooCostlyError('time', 'late'));
    await assert.rejects(slow.workbench.validateByType('{}', {}), DeadlineExceededError);
  });

  it('the workbench compiles models that no worker keeps together with each validation', async () => {
    const { workbench, runs } = benchOf(
      { found: ['Bike'] },
      { needs: { types: [] } },
      NEEDS_BIKE,
      { areKept: false },
      { answer: '1' },
    );
    assert.equal(await workbench.validateByType('{}', {}), '1');
    const last = runs.at(-1);
    assert.deepEqual([last?.kind, last?.options?.deadlineMs], ['validate', 500]);
    assert.deepEqual(last?.input['schemas'], [['hash of Bike', 'schema of Bike']]);
  });

  it('the workbench compiles a model in each worker that it reaches, and gives up after a limited number of rounds', async () => {
    const again = [NEEDS_BIKE, { areKept: true }];
    const { workbench } = benchWith(...again, ...again, { answer: '3' });
    assert.equal(await workbench.validate(MODEL, '{}', {}), '3');
    const { workbench: endless } = benchWith(...Array.from({ length: 100 }, () => again).flat());
    await assert.rejects(endless.validate(MODEL, '{}', {}), WorkersBusyError);
  });

  it('the workbench does not start abandoned work, and lets running work finish', async () => {
    const { signal } = new AbortController();
    const { workbench, runs } = benchWith({ answer: '4' }, { answer: '5' }, { answer: '6' });
    await workbench.validate(MODEL, '{}', { signal });
    await workbench.expand('{}', { ...AT, signal });
    await workbench.infer('{}', { form: 'keyvalues', enumerates: false, signal });
    for (const { options, input } of runs) {
      assert.equal(options?.signal, signal);
      assert.equal(options.mayFinish, true);
      // Signals cannot be sent to another thread.
      assert.ok(!('signal' in input));
    }
  });
});
