import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EntityJudge, type EntityJudgeParts } from '../../../../sidecar/schemas/models/entity-judge.js';
import { judgingTasks } from '../../../../sidecar/schemas/validation/judging.js';
import { TaskFailedError, TaskTooCostlyError } from '../../../../sidecar/shared/workers/errors.js';
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

const SCHEMA = '{"type": "object", "properties": {"speed": {"maximum": 5}, "geoDistance": false}}';

/** A judge of one scan, and the tasks that its worker ran: their kinds, and the pages that were sent. */
async function judgeOfScan(run: (kind: keyof typeof judgingTasks, input: never) => unknown = runTask) {
  const sent: (readonly [kind: string, page: unknown])[] = [];
  const model = { contentHash: 'maximum', version: 1, text: async () => SCHEMA };
  const parts = {
    schemas: { ofNew: async () => model },
    workers: {
      run: async (kind: keyof typeof judgingTasks, input: { readonly page?: unknown }) => {
        sent.push([kind, input.page]);
        return run(kind, input as never);
      },
    },
    deadlineMs: 1000,
  };
  const judge = await new EntityJudge(parts as unknown as EntityJudgeParts).forScan({ candidate: {} });
  return { judge, sent };
}

function runTask(kind: keyof typeof judgingTasks, input: never) {
  return judgingTasks[kind](input);
}

const { signal } = new AbortController();

const pageOf = (...speeds: readonly number[]) =>
  JSON.stringify(
    speeds.map((speed, n) => ({
      id: `urn:ngsi-ld:T:${n}`,
      type: 'T',
      speed: { type: 'Property', value: speed },
    })),
  );

it('a page is sent to a worker once, which reads its ids and judges it, and again if it is not there any more', async () => {
  const { judge, sent } = await judgeOfScan();
  const text = pageOf(1, 9, 2);
  const read = await judge.readIds(text, signal);
  assert.ok(read !== undefined && 'ids' in read);
  assert.deepEqual(read.ids, ['urn:ngsi-ld:T:0', 'urn:ngsi-ld:T:1', 'urn:ngsi-ld:T:2']);
  const counts = async () => {
    const [verdict] = await judge.judge({ text, ids: read.ids }, [0, 1, 2], 0, signal);
    assert.ok(verdict !== undefined && 'judged' in verdict);
    return [verdict.judged.valid, verdict.judged.invalid];
  };
  assert.deepEqual(await counts(), [2, 1]);
  assert.deepEqual(
    sent.filter(([, page]) => page === text),
    [],
  );
  // A worker forgets a page once it has judged it.
  assert.deepEqual(await counts(), [2, 1]);
  assert.deepEqual(sent.filter(([, page]) => page === text).length, 1);
});

it('a distance that the broker added to the entities of a page is not judged', async () => {
  const { judge } = await judgeOfScan();
  const text = pageOf(1, 9).replaceAll('"type":"T"', '"type":"T","geoDistance":9226.8');
  const [verdict] = await judge.judge(
    { text, ids: ['urn:ngsi-ld:T:0', 'urn:ngsi-ld:T:1'] },
    [0, 1],
    0,
    signal,
  );
  assert.ok(verdict !== undefined && 'judged' in verdict);
  assert.deepEqual([verdict.judged.valid, verdict.judged.invalid], [1, 1]);
});

it('the ids of a page are those that most readers see, even if it cannot be judged as a whole', async () => {
  const { judge } = await judgeOfScan();
  const ids = async (text: string) => judge.readIds(text, signal);
  const twice = await ids('[{"id": "urn:a:1", "type": "T", "id": "urn:a:2"}, {"@id": "urn:a:2"}]');
  assert.ok(twice !== undefined && 'ids' in twice);
  assert.deepEqual(twice.ids, ['urn:a:2', 'urn:a:2']);
  for (const [text, fault] of [
    ['[{"id": ""}]', 'listed an entity without an id'],
    ['[{"id": "urn:a:1"}', 'answered a query with something that is not JSON'],
    ['{"id": "urn:a:1"}', 'answered a query with something that is not an array of entities'],
    ['[[]]', 'answered a query with an array of something other than entities'],
  ] as const)
    assert.deepEqual(await ids(text), { fault }, text);
});

it('ids are left to be read elsewhere if reading them in a worker is too costly or fails', async () => {
  for (const error of [new TaskTooCostlyError('memory', 'too much'), new TaskFailedError('failed')]) {
    const { judge } = await judgeOfScan(() => {
      throw error;
    });
    assert.equal(await judge.readIds(pageOf(1), signal), undefined);
  }
});

it('the page of a worker that is gone is sent again, instead of that with the same number of another worker', async () => {
  const run = (kind: keyof typeof judgingTasks, input: never) => {
    const done = runTask(kind, input);
    return 'kept' in done ? { ...done, kept: { ...done.kept, threadId: done.kept.threadId + 1 } } : done;
  };
  const { judge, sent } = await judgeOfScan(run);
  const text = pageOf(1, 9);
  const read = await judge.readIds(text, signal);
  assert.ok(read !== undefined && 'ids' in read);
  await judge.judge({ text, ids: read.ids }, [0, 1], 0, signal);
  assert.equal(sent.filter(([, page]) => page === text).length, 1);
});
