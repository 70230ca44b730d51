import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { assertProblem, startBroker, type BrokerUnderTest } from './embedded-broker-client.js';
import { stopAll } from '../support/gateway-harness.js';

let send: BrokerUnderTest['send'];
let temporal: BrokerUnderTest['temporal'];
const idAt = (index: number) => `urn:ngsi-ld:Room:${index}`;
const hour = (n: number) => `2026-01-01T${String(n).padStart(2, '0')}:00:00.000Z`;

before(async () => {
  ({ send, temporal } = await startBroker({ limits: { instancesPerAttribute: 8 } }));
  // Room i has instances of n from hour 0 to hour i, and one of m without observedAt.
  temporal.seed(20, (index) => ({
    id: idAt(index),
    type: index % 2 === 0 ? 'Room' : 'Hall',
    ...(index === 0 ? { scope: '/House/Cellar' } : {}),
    n: Array.from({ length: index + 1 }, (_, at) => ({
      type: 'Property',
      value: at,
      observedAt: hour(at),
      ...(at % 2 === 0 ? {} : { datasetId: 'urn:ngsi-ld:ds:odd' }),
    })),
    m: { type: 'Property', value: index },
    location: {
      type: 'GeoProperty',
      value: { type: 'Point', coordinates: [index, 0] },
      observedAt: hour(index),
    },
  }));
});
after(stopAll);

interface Shown {
  readonly id: string;
  readonly [attribute: string]: unknown;
}
async function query(text: string, status = 200) {
  const answer = await send('GET', `/temporal/entities?${text}`);
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  const items = answer.body as readonly Shown[];
  return { items, ids: items.map(({ id }) => id), headers: answer.headers };
}
/** Returns the values of an attribute of an entity on a page. */
function valuesOf(item: Shown | undefined, attribute: string): readonly unknown[] {
  const shown = item?.[attribute] ?? [];
  const instances = (Array.isArray(shown) ? shown : [shown]) as readonly { readonly value: unknown }[];
  return instances.map(({ value }) => value);
}
const numbered = (...numbers: number[]) => numbers.map(idAt);
const encode = encodeURIComponent;

it('the interval selects entities with an instance in it and shows only those instances', async () => {
  const { items, ids } = await query(`type=Room&attrs=n&timerel=after&timeAt=${hour(16)}`);
  assert.deepEqual(ids, numbered(16, 18));
  assert.deepEqual(valuesOf(items[0], 'n'), [16]);
  assert.deepEqual(valuesOf(items[1], 'n'), [16, 17, 18]);
  assert.equal(Array.isArray(items[0]?.['n']), false);
  assert.equal(items[0]?.['m'], undefined);
});

it('the interval includes timeAt for after and between, and excludes the end (clause 4.11)', async () => {
  const shown = async (time: string) => {
    const { items } = await query(`type=Hall&id=${idAt(5)}&attrs=n&${time}`);
    return valuesOf(items[0], 'n');
  };
  assert.deepEqual(await shown(`timerel=before&timeAt=${hour(2)}`), [0, 1]);
  assert.deepEqual(await shown(`timerel=after&timeAt=${hour(4)}`), [4, 5]);
  assert.deepEqual(await shown(`timerel=between&timeAt=${hour(1)}&endTimeAt=${hour(3)}`), [1, 2]);
  assert.deepEqual(await shown(`timerel=between&timeAt=${hour(3)}&endTimeAt=${hour(1)}`), []);
});

it('the interval applies to observedAt by default, and instances without the time property are not found', async () => {
  const always = 'timerel=after&timeAt=1970-01-01T00:00:00Z';
  assert.deepEqual((await query(`attrs=m&${always}`)).ids, []);
  for (const property of ['createdAt', 'modifiedAt']) {
    const { items } = await query(`attrs=m&limit=100&${always}&timeproperty=${property}`);
    assert.equal(items.length, 20);
    assert.deepEqual(valuesOf(items[3], 'm'), [3]);
  }
  assert.deepEqual((await query(`local=true&${always}&timeproperty=deletedAt`)).ids, []);
});

const time = `timerel=between&timeAt=${hour(2)}&endTimeAt=${hour(4)}`;

it('each filter narrows a temporal query, and several filters narrow it together', async () => {
  const ids = async (text: string) => (await query(`${text}&${time}&limit=100`)).ids;
  assert.equal((await ids('type=Room,Hall')).length, 18);
  assert.equal((await ids('type=Room')).length, 9);
  assert.deepEqual(await ids('attrs=location'), numbered(2, 3));
  assert.deepEqual(await ids(`type=*&id=${idAt(3)},${idAt(1)},${idAt(2)}`), numbered(2, 3));
  assert.deepEqual(await ids('local=true&idPattern=:1[89]$'), numbered(18, 19));
  assert.deepEqual(await ids('type=Room&scopeQ=/House/%23'), []);
  assert.equal((await ids(`q=${encode('n==3')}`)).length, 17);
  assert.deepEqual(await ids(`q=${encode('n==4')}`), [], 'outside the interval');
  assert.equal((await ids(`q=${encode('n!=2')}`)).length, 17, 'some other instance will do');
  assert.deepEqual(await ids(`q=${encode('n>2;location')}&type=Hall`), numbered(3));
  const near = 'georel=near;maxDistance==1000&geometry=Point&coordinates=[3,0]';
  assert.deepEqual(await ids(near), numbered(3));
  assert.deepEqual(await ids(`q=${encode('n==3')}&${near}`), numbered(3));
});

it('scopeQ selects by the scope of the entity', async () => {
  const { ids } = await query(`type=Room&scopeQ=/House/%23&timerel=before&timeAt=${hour(3)}`);
  assert.deepEqual(ids, numbered(0));
});

it('datasetId narrows the shown instances, and keeps entities without attributes on the page', async () => {
  const show = async (datasetId: string) => {
    const { items } = await query(`type=Hall&attrs=n&${time}&limit=1&datasetId=${datasetId}`);
    return valuesOf(items[0], 'n');
  };
  assert.deepEqual(await show('@none'), [2]);
  assert.deepEqual(await show('urn:ngsi-ld:ds:odd'), [3]);
  assert.deepEqual(await show('urn:ngsi-ld:ds:odd,@none'), [2, 3]);
  const { items } = await query(`type=Hall&id=${idAt(3)}&${time}&datasetId=urn:x:none`);
  assert.deepEqual(items, [{ id: idAt(3), type: 'Hall' }]);
});

it('pick narrows the shown members, not the selected entities', async () => {
  const { items } = await query(`type=Room&${time}&pick=id&limit=2`);
  assert.deepEqual(items, [{ id: idAt(2) }, { id: idAt(4) }]);
  const { items: picked } = await query(`type=Room&${time}&pick=type,m&limit=1`);
  assert.deepEqual(picked, [{ type: 'Room' }]);
});

it('a temporal query that is too wide or has no time is 400 BadRequestData', async () => {
  for (const wide of [
    time,
    `id=${idAt(1)}&${time}`,
    `attrs=createdAt&${time}`,
    'type=Room',
    'type=Room&lastN=1',
  ]) {
    assertProblem(await send('GET', `/temporal/entities?${wide}`), 400, 'BadRequestData');
  }
});

it('a parameter of a temporal query is refused if it is unknown, repeated, empty or malformed', async () => {
  const refused: readonly [string, number, string][] = [
    ['timeRel=after', 400, 'InvalidRequest'],
    ['geometryProperty=location', 400, 'InvalidRequest'],
    ['type=Hall', 400, 'InvalidRequest'],
    ['lastN=', 400, 'InvalidRequest'],
    ['lastN=0', 400, 'BadRequestData'],
    ['datasetId=B', 400, 'BadRequestData'],
    ['q=n==', 400, 'BadRequestData'],
    ['limit=0', 400, 'BadRequestData'],
    ['limit=1001', 403, 'TooManyResults'],
    ['options=concise', 400, 'InvalidRequest'],
    ['options=temporalValues', 501, 'OperationNotSupported'],
    ['aggrPeriodDuration=P1D', 501, 'OperationNotSupported'],
    ['orderBy=id', 501, 'OperationNotSupported'],
  ];
  for (const [text, status, type] of refused) {
    const answer = await send('GET', `/temporal/entities?type=Room&${time}&${text}`);
    assertProblem(answer, status, type);
  }
});

const all = `local=true&timerel=after&timeAt=${hour(0)}`;

it('pages of temporal entities are connected by links, with the total on request', async () => {
  const seen: string[] = [];
  let next: string | undefined = `/ngsi-ld/v1/temporal/entities?${all}&attrs=location&limit=7&count=true`;
  for (let pages = 0; next !== undefined; pages += 1) {
    assert.ok(pages < 4, 'the links lead in a circle');
    const answer = await send('GET', next.replace('/ngsi-ld/v1', ''));
    assert.equal(answer.headers.get('ngsild-results-count'), '20');
    seen.push(...(answer.body as Shown[]).map(({ id }) => id));
    next = /<([^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  assert.deepEqual(seen, temporal.ids());
});

it('a page of temporal entities can have only the count', async () => {
  const { items, headers } = await query(`${all}&limit=0&count=true`);
  assert.deepEqual([items.length, headers.get('ngsild-results-count')], [0, '20']);
});

const of = (index: number) => `local=true&id=${idAt(index)}&attrs=n`;

it('more instances than the limit are 206, oldest first, and Content-Range allows reading on without loss', async () => {
  const seen = new Set<unknown>();
  let timeAt = hour(0);
  let status = 206;
  for (let parts = 0; status === 206; parts += 1) {
    assert.ok(parts < 5, 'no progress');
    const answer = await send('GET', `/temporal/entities?${of(19)}&timerel=after&timeAt=${timeAt}`);
    ({ status } = answer);
    for (const value of valuesOf((answer.body as Shown[])[0], 'n')) seen.add(value);
    const range = /^DateTime (.*Z)-(.*Z)\/\*$/.exec(answer.headers.get('content-range') ?? '');
    assert.equal(range !== null, status === 206);
    if (range !== null) assert.equal(range[1], timeAt);
    timeAt = range?.[2] ?? '';
  }
  assert.deepEqual(
    [...seen],
    Array.from({ length: 20 }, (_, at) => at),
  );
});

it('a page with exactly as many instances as the limit is 200', async () => {
  const { items, headers } = await query(`${of(7)}&timerel=before&timeAt=${hour(23)}`);
  assert.equal(valuesOf(items[0], 'n').length, 8);
  assert.equal(headers.get('content-range'), null);
});

it('lastN shows the newest instances first, and is 206 if it omitted some', async () => {
  const before = `timerel=before&timeAt=${hour(10)}`;
  const cut = await query(`${of(12)}&${before}&lastN=3`, 206);
  assert.deepEqual(valuesOf(cut.items[0], 'n'), [9, 8, 7]);
  assert.equal(cut.headers.get('content-range'), `DateTime ${hour(10)}-${hour(7)}/3`);
  const whole = await query(`${of(2)}&${before}&lastN=3`);
  assert.deepEqual(valuesOf(whole.items[0], 'n'), [2, 1, 0]);
  const limited = await query(`${of(12)}&timerel=after&timeAt=${hour(0)}&lastN=100`, 206);
  assert.deepEqual(valuesOf(limited.items[0], 'n'), [12, 11, 10, 9, 8, 7, 6, 5]);
  assert.equal(limited.headers.get('content-range'), `DateTime ${hour(12)}-${hour(5)}/100`);
});

it('system attributes of a history are shown on request', async () => {
  const { items } = await query(`${of(0)}&timerel=after&timeAt=${hour(0)}&options=sysAttrs`);
  const [room] = items;
  for (const item of [room, room?.['n'] as Shown]) {
    assert.match(String(item?.['createdAt']), /^\d{4}-.*Z$/);
    assert.equal(item?.['createdAt'], item?.['modifiedAt']);
  }
});

it('the sample data has a history of some months, for trying a temporal purge', async () => {
  const sample = await startBroker({ sampleData: true });
  assert.ok(sample.temporal.count() >= 1 && sample.temporal.instances() >= 24);
  for (const id of sample.temporal.ids()) assert.ok(sample.entities.has(id), id);
  const before = (timeAt: string) => `/temporal/entities?type=Vehicle&timerel=before&timeAt=${timeAt}`;
  const halves = await sample.send('GET', before('2025-10-01T00:00:00Z'));
  assert.equal((halves.body as unknown[]).length, sample.temporal.count());
  assert.deepEqual((await sample.send('GET', before('2025-01-01T00:00:00Z'))).body, []);
});
