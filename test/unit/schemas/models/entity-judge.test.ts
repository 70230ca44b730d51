import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EntityJudge, type EntityJudgeParts } from '../../../../sidecar/schemas/models/entity-judge.js';
import { judgingTasks } from '../../../../sidecar/schemas/validation/judging.js';
import { StoreUnavailableError } from '../../../../sidecar/store/index.js';

const TYPES = Array.from({ length: 50 }, (_, n) => `Type${n}`);

it('a scan finds the models of its types even after a long outage of the store', async () => {
  let failuresLeft = 45;
  const schema = {
    contentHash: 'hash',
    version: 1,
    text: async () => '{"type": "object", "required": ["id"]}',
  };
  const parts = {
    typeModels: {
      lookUp: async () => {
        if ((failuresLeft -= 1) >= 0) throw new StoreUnavailableError('away');
        return { model: { domain: 'City', name: 'Thing' }, schema };
      },
    },
    workers: {
      run: async (_: string, input: Parameters<typeof judgingTasks.judge>[0]) => judgingTasks.judge(input),
    },
    deadlineMs: 1000,
  };
  const judge = await new EntityJudge(parts as unknown as EntityJudgeParts).forScan({});
  const ids = TYPES.map((type) => `urn:ngsi-ld:${type}:1`);
  const text = JSON.stringify(TYPES.map((type, n) => ({ id: ids[n], type })));
  const judged = () => judge.judge({ text, ids }, [...ids.keys()], 0, new AbortController().signal);

  while (failuresLeft > 0) await assert.rejects(judged(), StoreUnavailableError);
  const [verdict] = await judged();
  assert.ok(verdict !== undefined && 'judged' in verdict);
  assert.deepEqual(verdict.judged.others, [], 'no type is without a model');
  const { valid, invalid } = verdict.judged;
  assert.equal(valid + invalid, TYPES.length);
});
