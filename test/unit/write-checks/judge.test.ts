import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { JudgeInput, JudgeOutcome } from '../../../sidecar/schemas/writes/protocol.js';
import { TaskTooCostlyError } from '../../../sidecar/shared/workers/errors.js';
import type { RunOptions } from '../../../sidecar/shared/workers/tasks.js';
import { Judge, type ModelLoader } from '../../../sidecar/write-checks/index.js';
import { createTestClock } from '../../support/purge-harness.js';

const JUDGED: JudgeOutcome = { judged: { valid: [], others: [], ids: [], dependsOn: [] } };
const NO_SIGNAL = {
  aborted: false,
  reason: undefined,
  addEventListener: () => {},
  removeEventListener: () => {},
};

it('after a write that took too long, writes queue by their models, whatever types they seem to have', async () => {
  let answers: (JudgeOutcome | Error)[] = [];
  const queued: (readonly [queueKey: string | undefined, asksModels: boolean | undefined])[] = [];
  const clock = createTestClock();
  const models = { modelsOfTypes: async () => [], modelsNamed: async () => [] } as unknown as ModelLoader;
  const tasks = {
    run: async (_kind: string, { asksModels }: JudgeInput, { queueKey }: RunOptions) => {
      queued.push([queueKey, asksModels]);
      const next = answers.shift() ?? JUDGED;
      if (next instanceof Error) throw next;
      return next;
    },
  };
  const judge = new Judge(tasks as unknown as ConstructorParameters<typeof Judge>[0], models, clock);
  let bytes = '{"x": {"type": "Any"}, "type": "Slow"}';
  const write = async (...given: readonly (JudgeOutcome | Error)[]) => {
    answers = [...given];
    queued.length = 0;
    await judge
      .judge({ bytes, kind: 'create' } as unknown as JudgeInput, {
        signal: NO_SIGNAL,
        typesOf: async () => [],
      })
      .catch(() => undefined);
    return [...queued];
  };
  assert.deepEqual(await write(), [['write Any', false]]);
  await write(new TaskTooCostlyError('time', 'It took too long.'));
  const named: JudgeOutcome = { needs: { judges: ['D/Slow', 'D/Car'] } };
  assert.deepEqual(await write(named), [
    ['models of writes', true],
    ['write by D/Car,D/Slow', false],
  ]);
  const small = bytes;
  // Reading it may take long as well.
  bytes = small.padEnd(100_000);
  assert.deepEqual(await write(), [['models of large writes', true]]);
  bytes = small;
  await clock.sleep(60_000);
  assert.deepEqual(await write(), [['write Any', false]]);
});
