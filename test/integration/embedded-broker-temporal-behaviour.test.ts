import assert from 'node:assert/strict';
import { after as atEnd, before, beforeEach, it } from 'node:test';
import { goodBehaviour } from '../../sidecar/embedded-broker/behaviour.js';
import { assertProblem, startBroker, type BrokerUnderTest } from './embedded-broker-client.js';
import { stopAll } from '../support/gateway-harness.js';
import { column } from '../support/columns.js';

let behaviour: BrokerUnderTest['behaviour'];
let send: BrokerUnderTest['send'];
let temporal: BrokerUnderTest['temporal'];
before(async () => {
  ({ behaviour, send, temporal } = await startBroker());
});
atEnd(stopAll);
const idAt = (index: number) => `urn:ngsi-ld:X:${index}`;
const day = (n: number) => new Date(Date.UTC(2026, 0, n)).toISOString();
const after = (n: number) => `type=X&timerel=after&timeAt=${day(n)}`;

type Shown = Record<string, unknown> & { readonly id: string };
async function query(text: string, status = 200) {
  const answer = await send('GET', `/temporal/entities?${text}`);
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  return { items: answer.body as readonly Shown[], headers: answer.headers };
}
function instancesOf(item: Shown | undefined): readonly Record<string, unknown>[] {
  const shown = item?.['n'] ?? [];
  return (Array.isArray(shown) ? shown : [shown]) as readonly Record<string, unknown>[];
}
const valuesOf = (item: Shown | undefined) => instancesOf(item).map(({ value }) => value);
const instanceIdOf = (id: string) =>
  String(instancesOf(temporal.get(id) as unknown as Shown)[0]?.['instanceId']);

beforeEach(async () => {
  Object.assign(behaviour, goodBehaviour());
  for (const id of temporal.ids()) await send('DELETE', `/temporal/entities/${id}`);
  // Entity i has instances on days 1 to i + 1.
  temporal.seed(6, (index) => ({
    id: idAt(index),
    type: 'X',
    n: Array.from({ length: index + 1 }, (_, at) => ({
      type: 'Property',
      value: at + 1,
      observedAt: day(at + 1),
    })),
  }));
});

it('a broker without temporal data answers every temporal request, or only writes, with the configured status', async () => {
  const path = `/temporal/entities/${idAt(1)}`;
  const reads = [
    ['GET', `/temporal/entities?${after(1)}`],
    ['GET', path],
  ] as const;
  const writes = [['POST', '/temporal/entities'], ['POST', `${path}/attrs`], ['DELETE', path],
    ['DELETE', `${path}/attrs/n`], ['DELETE', `${path}/attrs/n/${instanceIdOf(idAt(1))}`],
    ['PATCH', `${path}/attrs/n/${instanceIdOf(idAt(1))}`]] as const; // oxfmt-ignore
  behaviour.temporalStatus = 501;
  for (const [method, target] of [...reads, ...writes]) {
    assertProblem(await send(method, target), 501, 'OperationNotSupported');
  }
  Object.assign(behaviour, { temporalStatus: undefined, temporalWriteStatus: 422 });
  for (const [method, target] of reads) assert.equal((await send(method, target)).status, 200);
  for (const [method, target] of writes) assertProblem(await send(method, target), 422);
  assert.equal(temporal.instances(), 21);
  assert.equal((await send('GET', '/entities?type=X')).status, 200);
});

it('the embedded broker can omit instance ids', async () => {
  behaviour.noInstanceIds = true;
  const { items } = await query(after(1));
  for (const item of items) assert.ok(instancesOf(item).every((each) => !('instanceId' in each)));
  assert.notEqual(instanceIdOf(idAt(0)), 'undefined');
});

it('the embedded broker can silently limit instances to the newest', async () => {
  behaviour.silentInstanceLimit = 2;
  const { items, headers } = await query(after(1));
  assert.deepEqual(valuesOf(items[5]), [5, 6]);
  assert.equal(headers.get('content-range'), null);
  assert.deepEqual(valuesOf((await query(`${after(1)}&lastN=4`)).items[5]), [6, 5]);
});

it('the embedded broker can limit instances, with status 206', async () => {
  behaviour.instancePageSize = 2;
  const { items, headers } = await query(after(2), 206);
  assert.deepEqual(valuesOf(items[4]), [2, 3]);
  assert.equal(headers.get('content-range'), `DateTime ${day(2)}-${day(3)}/*`);
  assert.deepEqual(valuesOf((await query(`${after(2)}&lastN=5`, 206)).items[4]), [6, 5]);
  await query(after(5));
  assert.equal((await send('GET', `/temporal/entities/${idAt(4)}`)).status, 206);
});

it('the embedded broker can exclude the bounds of an interval', async () => {
  behaviour.exclusiveBounds = true;
  assert.deepEqual(valuesOf((await query(after(2))).items.at(-1)), [3, 4, 5, 6]);
});

it('the embedded broker can apply lastN before the interval', async () => {
  behaviour.lastNBeforeTime = true;
  const { items } = await query(`type=X&timerel=before&timeAt=${day(6)}&lastN=2`, 206);
  assert.deepEqual(items.map(valuesOf), [[1], [2, 1], [3, 2], [4, 3], [5, 4], [5]]);
});

it('the embedded broker can refuse a time property or lastN with 400', async () => {
  Object.assign(behaviour, { refusedTimeProperties: ['createdAt'], noLastN: true });
  const refuse = async (text: string) => {
    assertProblem(await send('GET', `/temporal/entities?${text}`), 400, 'BadRequestData');
  };
  await refuse(`${after(1)}&timeproperty=createdAt`);
  await refuse(`${after(1)}&lastN=1`);
  await query(`${after(1)}&timeproperty=modifiedAt`);
});

it('a query by a time property that the embedded broker does not store finds nothing', async () => {
  behaviour.timePropertiesMissing = ['createdAt'];
  assert.deepEqual((await query(`${after(1)}&timeproperty=createdAt`)).items, []);
  assert.equal((await query(`${after(1)}&timeproperty=modifiedAt`)).items.length, 6);
  assert.equal((await query(after(1))).items.length, 6);
});

it('a query with a filter that the embedded broker ignores shows as much as without the filter', async () => {
  behaviour.ignoreParameters = ['timerel', 'timeAt', 'datasetId'];
  const { items } = await query(`${after(6)}&datasetId=urn:x:1`);
  assert.deepEqual(
    items.map((item) => valuesOf(item).length),
    [1, 2, 3, 4, 5, 6],
  );
  await query('type=X');
  behaviour.ignoreParameters = ['type'];
  assert.equal((await query(after(6).replace('X', 'None'))).items.length, 1);
});

it('if the embedded broker selects entities regardless of the interval, pages are short or empty and the count is too high', async () => {
  behaviour.selectsIgnoringTime = true;
  const first = await query(`${after(4)}&limit=3&count=true`);
  assert.deepEqual(first.items, []);
  assert.equal(first.headers.get('ngsild-results-count'), '6');
  assert.match(first.headers.get('link') ?? '', /offset=3>; rel="next"/);
  const second = await query(`${after(5)}&limit=3&offset=3&count=true`);
  assert.deepEqual(column(second.items, 'id'), [idAt(4), idAt(5)]);
  assert.doesNotMatch(second.headers.get('link') ?? '', /rel="next"/);
});

it('locked histories are 409, ghosts are reported as deleted, and neither is deleted', async () => {
  const asked: unknown[] = [];
  Object.assign(behaviour, {
    isLocked: (id: string) => id === idAt(1),
    isGhost: (id: string) => id === idAt(2),
    isLockedInstance: (...what: readonly unknown[]) => {
      asked.push(what);
      return what[0] === idAt(3);
    },
    isGhostInstance: (id: string) => id === idAt(4),
  });
  const remove = (target: string) => send('DELETE', `/temporal/entities/${target}`);
  assertProblem(await remove(idAt(1)), 409);
  assert.equal((await remove(idAt(2))).status, 204);
  assertProblem(await remove(`${idAt(3)}/attrs/n?deleteAll=true`), 409);
  assertProblem(await remove(`${idAt(3)}/attrs/n/${instanceIdOf(idAt(3))}`), 409);
  assert.equal((await remove(`${idAt(4)}/attrs/n`)).status, 204);
  assert.equal((await remove(`${idAt(4)}/attrs/n/${instanceIdOf(idAt(4))}`)).status, 204);
  assert.equal(temporal.instances(), 21);
  assert.deepEqual(asked.slice(0, 2), [
    [idAt(3), 'n', undefined],
    [idAt(3), 'n', instanceIdOf(idAt(3))],
  ]);
  assert.equal((await remove(`${idAt(1)}/attrs/n`)).status, 204);
  assertProblem(await remove(`${idAt(1)}/attrs/n`), 404);
});
