import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NO_DATASET } from '../../../../sidecar/ngsi-ld/members.js';
import { deleteWholeAttribute } from '../../../../sidecar/purge/attributes/index.js';
import { BrokerRefusedError } from '../../../../sidecar/purge/errors.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { replyOf } from '../broker/replies.js';
import { contextOf } from '../hand-made-context.js';

const PATH = '/entities/urn%3At%3A1/attrs/speed';
const HOW = { collection: '/entities', operation: 'delete an attribute', isStale: () => false } as const;

/** Deletes attributes at a broker that answers by the query of a delete ('' without one). */
function at(answer: (query: string) => number) {
  const sent: string[] = [];
  const context = contextOf({
    brokerQuery: { resource: entities('attributes'), selection: [] },
    broker: ({ method, path }) => {
      assert.deepEqual([method, path.split('?')[0]], ['DELETE', PATH]);
      const query = path.split('?')[1] ?? '';
      sent.push(query);
      return replyOf(answer(query));
    },
  });
  const remove = async (...datasets: readonly string[]) => {
    const item = { entityId: 'urn:t:1', attribute: 'speed', datasets };
    return (await deleteWholeAttribute(context, item, HOW)).kind;
  };
  return { ...context, sent, remove };
}

const [A, B] = ['urn:d:a', 'urn:d:b'];
const [ALL, OF_A, OF_B] = ['deleteAll=true', 'datasetId=urn%3Ad%3Aa', 'datasetId=urn%3Ad%3Ab'];

it('the delete of a whole attribute stops after a refusal', async () => {
  const { remove, sent } = at(() => 409);
  assert.equal(await remove(A, B), 'refused');
  assert.deepEqual(sent, [ALL]);
  await assert.rejects(at(() => 501).remove(), BrokerRefusedError);
});

it('the delete of a whole attribute uses deleteAll for datasets, and deletes each dataset if that finds none', async () => {
  const { remove, sent, capabilities } = at((query) => (query === ALL ? 404 : 204));
  capabilities.learn('needs-datasets', true);
  assert.equal(await remove(A, NO_DATASET, B), 'deleted');
  assert.deepEqual(sent, [ALL, OF_A, '', OF_B]);
});

it('the delete of a whole attribute has the worst outcome of its datasets, and succeeds if one of them existed', async () => {
  for (const [a, b, kind] of [
    [204, 204, 'deleted'],
    [404, 204, 'deleted'],
    [204, 404, 'deleted'],
    [404, 404, 'absent'],
    [204, 409, 'refused'],
    [409, 404, 'refused'],
  ] as const) {
    const { remove } = at((query) => (query === ALL ? 404 : query === OF_A ? a : b));
    assert.equal(await remove(A, B), kind, `${a}, ${b}`);
  }
});
