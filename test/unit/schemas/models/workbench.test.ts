import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Lifecycle, Workbench, type WorkbenchParts } from '../../../../sidecar/schemas/models/index.js';
import type { Model } from '../../../../sidecar/store/records.js';
import {
  DeadlineExceededError,
  UnreadableBodyError,
  WorkbenchRefusedError,
} from '../../../../sidecar/schemas/models/workbench-errors.js';
import { TaskTooCostlyError, WorkersBusyError } from '../../../../sidecar/shared/workers/errors.js';
import type { RunOptions } from '../../../../sidecar/shared/workers/tasks.js';

interface Run {
  readonly kind: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly options: RunOptions | undefined;
}

/** A workbench whose workers end with the given outcomes, one after the other; errors are thrown. */
function benchWith(...outcomes: readonly unknown[]) {
  return benchOf(PUBLISHED, ...outcomes);
}

const PUBLISHED: Lifecycle = { status: 'published', deprecatedAt: undefined, sunsetAt: undefined };

function benchOf(lifecycle: Lifecycle, ...outcomes: readonly unknown[]) {
  return benchOver([], lifecycle, outcomes);
}

/** @param found the models of every type */
function benchOver(found: readonly Model[], lifecycle: Lifecycle, outcomes: readonly unknown[]) {
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
  const contextSupply = {
    stamp: async () => 'now',
    supply: async (url: string) => ({ sha256: `hash of ${url}`, text: '{}' }),
  };
  const search = { ofType: async () => Promise.resolve(found) };
  const schemas = {
    of: async () => ({ contentHash: 'hash', lifecycle, text: async () => '{"type":"object"}' }),
  };
  const parts = { schemas, search, contextSupply, workers, deadlineMs: 100 };
  return { runs, workbench: new Workbench(parts as unknown as WorkbenchParts) };
}

const MODEL = { domain: 'City', name: 'Bike' };
const AT = { baseUrl: 'http://gateway.example' };

describe('the workbench', () => {
  it('the workbench compiles an unknown model in a worker, with more time and under the queue key of the model', async () => {
    const { workbench, runs } = benchWith(
      ...[{ answer: '1' }, { needs: 'model' }, { isPrepared: true }, { answer: '2' }],
    );
    assert.equal(await workbench.validate(MODEL, '{}', {}), '1');
    assert.equal(await workbench.validate(MODEL, '{}', { form: 'concise' }), '2');
    const model = { key: 'hash', type: 'Bike' };
    assert.deepEqual(
      runs.map(({ kind, input, options }) => [kind, input, options?.deadlineMs]),
      [
        ['validate', { ...model, text: '{}' }, undefined],
        ['validate', { ...model, text: '{}', form: 'concise' }, undefined],
        ['prepareModel', { ...model, schema: '{"type":"object"}' }, 500],
        ['validate', { ...model, text: '{}', form: 'concise' }, undefined],
      ],
    );
    for (const { options } of runs) assert.equal(options?.queueKey, 'validate hash');
  });

  it('the workbench gives entities no more time by type than otherwise: unknown models are compiled apart from them', async () => {
    const found = { found: [{ types: [{ type: 'Bike', localName: 'Bike' }], pointer: '' }] };
    const needs = { needs: ['hash'] };
    const again = [needs, { areKept: true }];
    const model = { ...MODEL, status: 'published' } as unknown as Model;
    const { workbench, runs } = benchOver([model], PUBLISHED, [found, ...again, ...again, { answer: '1' }]);
    assert.equal(await workbench.validateByType('{}', {}), '1');
    const [validation, preparation] = [
      ['validateByType', true, false, undefined],
      ['prepareByType', false, true, 500],
    ];
    assert.deepEqual(
      runs
        .slice(1)
        .map(({ kind, input, options }) => [kind, 'text' in input, 'schemas' in input, options?.deadlineMs]),
      [validation, preparation, validation, preparation, validation],
    );
    for (const { options } of runs.slice(1)) assert.equal(options?.queueKey, 'validate hash');
    const late = new TaskTooCostlyError('time', 'late');
    const slow = benchOver([model], PUBLISHED, [found, ...again, late]);
    await assert.rejects(slow.workbench.validateByType('{}', {}), DeadlineExceededError);
    const endless = Array.from({ length: 100 }, () => again).flat();
    const lost = benchOver([model], PUBLISHED, [found, ...endless]);
    await assert.rejects(lost.workbench.validateByType('{}', {}), WorkersBusyError);
  });

  it('the workbench compiles models that no worker keeps together along with each validation by type', async () => {
    const found = { found: [{ types: [{ type: 'Bike', localName: 'Bike' }], pointer: '' }] };
    const model = { ...MODEL, status: 'published' } as unknown as Model;
    const needs = { needs: ['hash'] };
    const outcomes = [found, needs, needs, needs, { areKept: false }, { answer: '1' }];
    const { workbench, runs } = benchOver([model], PUBLISHED, outcomes);
    assert.equal(await workbench.validateByType('{}', {}), '1');
    const last = runs.at(-1);
    assert.deepEqual([last?.kind, last?.options?.deadlineMs], ['validateByType', 500]);
    assert.deepEqual(last?.input['schemas'], [['hash', '{"type":"object"}']]);
  });

  it('the workbench warns of a deprecated model, with its dates', async () => {
    const deprecated = { status: 'deprecated', deprecatedAt: Date.UTC(2026, 0, 31) } as const;
    for (const [sunsetAt, end] of [
      [undefined, ''],
      [Date.UTC(2027, 11, 31), ', and will be removed on 2027-12-31'],
    ] as const) {
      const { workbench, runs } = benchOf({ ...deprecated, sunsetAt }, { answer: '1' });
      await workbench.validate(MODEL, '{}', {});
      const deprecation = `is of the model Bike, which has been deprecated since 2026-01-31${end}`;
      assert.equal(runs[0]?.input['deprecation'], deprecation);
    }
  });

  it('the workbench compiles a model in each worker it reaches, and gives up after a bounded number of rounds', async () => {
    const again = [{ needs: 'model' }, { isPrepared: true }];
    const { workbench } = benchWith(...again, ...again, { answer: '3' });
    assert.equal(await workbench.validate(MODEL, '{}', {}), '3');
    const { workbench: endless } = benchWith(...Array.from({ length: 100 }, () => again).flat());
    await assert.rejects(endless.validate(MODEL, '{}', {}), WorkersBusyError);
  });

  it('the workbench does not begin abandoned work, and lets work that has begun finish', async () => {
    const { signal } = new AbortController();
    const { workbench, runs } = benchWith({ answer: '4' }, { answer: '5' }, { answer: '6' });
    await workbench.validate(MODEL, '{}', { signal });
    await workbench.expand('{}', { ...AT, signal });
    await workbench.infer('{}', { form: 'keyvalues', enumerates: false, signal });
    for (const { options, input } of runs) {
      assert.equal(options?.signal, signal);
      assert.equal(options.mayFinish, true);
      // Signals do not cross threads.
      assert.ok(!('signal' in input));
    }
  });

  it('the workbench runs a task again with the contexts that it asked for', async () => {
    const { workbench, runs } = benchWith({ needs: { urls: ['urn:a'] } }, { answer: '3' });
    assert.equal(await workbench.compact('{}', AT), '3');
    assert.deepEqual(
      runs.map(({ kind, input }) => [kind, input['stamp'], input['supplied']]),
      [
        ['compactDocument', 'now', []],
        ['compactDocument', 'now', [['urn:a', { sha256: 'hash of urn:a', text: '{}' }]]],
      ],
    );
  });

  it('the workbench throws distinct errors for too much time, too much memory and busy workers', async () => {
    const infer = async (outcome: Error) =>
      benchWith(outcome).workbench.infer('{}', { form: 'keyvalues', enumerates: false });
    await assert.rejects(infer(new TaskTooCostlyError('time', 'late')), DeadlineExceededError);
    await assert.rejects(
      infer(new TaskTooCostlyError('memory', 'much')),
      (error) => error instanceof WorkbenchRefusedError && error.code === 'LIMIT_EXCEEDED',
    );
    await assert.rejects(infer(new WorkersBusyError(1)), WorkersBusyError);
  });

  it('the workbench throws a refusal of a worker with its code and pointers', async () => {
    const unreadable = { line: 2, column: 9, detail: 'expected a colon', isTooDeep: false };
    await assert.rejects(
      benchWith({ unreadable }).workbench.expand('{', AT),
      (error) => error instanceof UnreadableBodyError && /line 2, column 9/.test(error.message),
    );
    const refused = { code: 'CONTEXT_REFUSED', detail: 'not that one', url: 'urn:a' };
    await assert.rejects(
      benchWith({ refused }).workbench.expand('{}', AT),
      (error) =>
        error instanceof WorkbenchRefusedError && error.url === 'urn:a' && error.code === 'CONTEXT_REFUSED',
    );
  });
});
