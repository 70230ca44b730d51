import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import {
  PATIENT,
  send,
  sendJson,
  startTestBroker,
  startTestGateway,
  stopAll,
  type TestGateway,
} from '../support/gateway-harness.js';
import { startRecordingBroker } from '../support/recording-broker.js';
import {
  BROKEN,
  BROKEN_ENTITIES,
  ROOM,
  roomEntity,
  ROOMS,
  scanned,
  startScan,
  storeRoom,
  type Scan,
} from '../support/scans.js';

after(stopAll);

describe('a scan of what the broker holds', () => {
  let broker: EmbeddedBroker;
  let gateway: TestGateway;
  /** The record of a scan of all rooms. */
  let record: Scan;

  before(async () => {
    broker = await startTestBroker();
    gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL: 'silent', ...PATIENT });
    await storeRoom(gateway.url);
    broker.entities.seed(ROOMS, roomEntity);
    broker.entities.seed(7, (index) => ({ id: `urn:ngsi-ld:Bus:${String(index)}`, type: 'Bus' }));
    record = await scan({ query: 'type=Room' });
  });

  const scan = async (body: object) => scanned(gateway.url, await startScan(gateway.url, body));

  it('a scan finds exactly the entities that violate their model, by place and keyword', () => {
    assert.equal(record.state, 'succeeded');
    const { matched, checked, valid, invalid, notJudged, warnings } = record;
    assert.deepEqual(
      { matched, checked, valid, invalid, notJudged, warnings },
      {
        matched: ROOMS,
        checked: ROOMS,
        valid: ROOMS - BROKEN_ENTITIES,
        invalid: BROKEN_ENTITIES,
        notJudged: 0,
        warnings: [],
      },
    );
    assert.deepEqual(record.models, [
      {
        domain: 'D',
        model: 'Room',
        version: 1,
        checked: ROOMS,
        valid: ROOMS - BROKEN_ENTITIES,
        invalid: BROKEN_ENTITIES,
      },
    ]);
    const found = record.findings.map(({ pointer, keyword, entities }) => ({ pointer, keyword, entities }));
    const wanted = BROKEN.map(({ pointer, keyword, entities }) => ({ pointer, keyword, entities }));
    assert.deepEqual(
      found,
      wanted.sort((one, other) => other.entities - one.entities),
    );
  });

  it('the entities of a finding are listed in pages or streamed, each with its validation errors', async () => {
    const path = `/api/v2/scans/${record.id}/entities?finding=0`;
    const page = await send(gateway.url, 'GET', `${path}&limit=10&offset=5`);
    assert.equal(page.headers.get('x-total-count'), String(record.findings[0]?.entities));
    const listed = page.json() as { id: string; type: string; errors: object[] }[];
    assert.equal(listed.length, 10);
    const all = await send(gateway.url, 'GET', path, { headers: { accept: 'application/x-ndjson' } });
    assert.equal(all.headers.get('content-encoding'), 'gzip', 'fetch accepts it');
    const lines = all.text.trimEnd().split('\n');
    assert.equal(lines.length, record.findings[0]?.entities);
    assert.deepEqual(JSON.parse(lines[5] ?? ''), listed[0]);
    const [first] = listed;
    const stored = await send(broker.url, 'GET', `/ngsi-ld/v1/entities/${String(first?.id)}`);
    const verdict = (
      await sendJson(gateway.url, 'POST', '/api/v2/validate/D/Room', stored.json())
    ).json() as { errors: { pointer: string; keyword: string; detail: string }[] };
    assert.deepEqual(
      first?.errors,
      verdict.errors.map(({ pointer, keyword, detail }) => ({ pointer, keyword, detail })),
    );
    assert.equal((await send(gateway.url, 'GET', path.replace('=0', '=99'))).status, 404);
    const wrong = await send(gateway.url, 'GET', path.replace('=0', '=x'));
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /must be a whole number from 0 to 999\./);
  });

  it('a scan lists types without a model, and does not judge their entities', async () => {
    const record = await scan({ query: 'type=Room,Bus' });
    assert.deepEqual(
      [record.state, record.matched, record.checked, record.notJudged],
      ['succeeded', ROOMS + 7, ROOMS, 7],
    );
    const [bus] = record.unmodelled;
    assert.deepEqual([bus?.type, bus?.entities, bus?.sample.length], ['Bus', 7, 5]);
  });

  it('a scan of more types than it lists still counts each of their entities', async () => {
    broker.entities.seed(1100, (index) => ({
      id: `urn:ngsi-ld:Kind:${String(index)}`,
      type: `Kind${String(index)}`,
      probe: { type: 'Property', value: 1 },
    }));
    const record = await scan({ query: 'q=probe' });
    assert.deepEqual([record.matched, record.notJudged, record.unmodelled.length], [1100, 1100, 1000]);
  });

  it('a scan with a candidate schema judges without storing it, and a scan with a sample ends early', async () => {
    const schema = { type: 'object', properties: { type: { const: 'Room' } }, required: ['humidity'] };
    const record = await scan({ query: 'type=Room', schema, sample: 120 });
    assert.deepEqual(
      [record.state, record.matched, record.checked, record.invalid],
      ['succeeded', ROOMS, 120, 120],
    );
    assert.deepEqual(
      record.findings.map(({ keyword, pointer, entities }) => [keyword, pointer, entities]),
      [['required', '', 120]],
    );
    const invalid = await sendJson(gateway.url, 'POST', '/api/v2/scans', {
      query: 'type=Room',
      schema: { type: 7 },
    });
    assert.equal(invalid.status, 422);
  });

  it('a scan names the previous scan of the same query and model', async () => {
    const first = await scan({ query: 'type=Bus', model: 'D/Room@1' });
    const second = await scan({ query: 'type=Bus', model: 'D/Room@1' });
    assert.deepEqual(second.previous, { id: first.id, invalid: first.invalid, endedAt: first.endedAt });
    assert.equal((await scan({ query: 'type=Bus', model: 'D/Room' })).previous, undefined);
  });

  it('scans are listed without findings and separately from purges, and refuse invalid queries as purges do', async () => {
    const listed = (await send(gateway.url, 'GET', '/api/v2/scans?limit=1')).json() as Partial<Scan>[];
    assert.equal(listed.length, 1);
    assert.equal('findings' in (listed[0] ?? {}), false);
    assert.deepEqual((await send(gateway.url, 'GET', '/api/v2/purges')).json(), []);
    assert.equal((await send(gateway.url, 'GET', `/api/v2/purges/${String(listed[0]?.id)}`)).status, 404);
    for (const [body, status] of [
      [{ query: 'type=Room&attrs=speed' }, 400],
      [{ query: 'typ=Room' }, 400],
      [{ query: 'type=Room&limit=5' }, 400],
      [{ query: '' }, 422],
      [{ query: 'type=Room', model: 'nonsense' }, 422],
      [{ query: 'type=Room', model: 'D/None' }, 404],
      [{ query: 'type=Room', model: 'D/Room@9' }, 404],
      [{ query: 'type=Room', domain: 'None' }, 404],
      [{ query: 'type=Room', dryRun: true }, 422],
    ] as const)
      assert.equal(
        (await sendJson(gateway.url, 'POST', '/api/v2/scans', body)).status,
        status,
        JSON.stringify(body),
      );
  });

  it('a scan is refused if the broker ignores a filter', async () => {
    const careless = await startTestBroker({ behaviour: { ignoreParameters: ['q'] } });
    careless.entities.seed(20, roomEntity);
    const other = await startTestGateway({ BROKER_URL: careless.url, LOG_LEVEL: 'silent', ...PATIENT });
    const record = await scanned(
      other.url,
      await startScan(other.url, { query: 'type=Room&q=temperature>90' }),
    );
    assert.deepEqual([record.state, record.problem?.['status'], record.checked], ['refused', 501, 0]);
  });

  it('an ambiguous entity is not judged by a scan, and the other entities of its page are', async () => {
    const own = await startTestBroker();
    own.entities.seed(40, roomEntity);
    const rewriting = await startRecordingBroker(async ({ method, url, headers, body }) => {
      const { host: _host, connection: _connection, ...passed } = headers as Record<string, string>;
      const answer = await fetch(`${own.url}${url}`, {
        method,
        headers: passed,
        ...(body === '' ? {} : { body }),
      });
      const text = await answer.text();
      return {
        status: answer.status,
        headers: Object.fromEntries([...answer.headers].filter(([name]) => name !== 'content-length')),
        body: text
          .replace('"id":"urn:ngsi-ld:Room:7",', '$&"x":1,"x":2,')
          .replace('"id":"urn:ngsi-ld:Room:9",', '$&"x":2,"x":1,')
          .replace('"id":"urn:ngsi-ld:Room:8",', '$&"y":1e999,')
          .replace('"id":"urn:ngsi-ld:Room:5",', `$&"z":${'['.repeat(100_000)}${']'.repeat(100_000)},`),
      };
    });
    const other = await startTestGateway({ BROKER_URL: rewriting.url, LOG_LEVEL: 'silent', ...PATIENT });
    const record = await scanned(other.url, await startScan(other.url, { query: 'type=Room', schema: ROOM }));
    assert.deepEqual(
      [record.state, record.matched, record.checked, record.valid, record.notJudged, record.warnings],
      [
        'partial',
        40,
        36,
        36,
        4,
        [
          '1 entity was not judged: it is nested deeper than 500 levels (urn:ngsi-ld:Room:5).',
          '2 entities were not judged: not all readers understand the JSON in the same way, because the member "x" occurs twice (urn:ngsi-ld:Room:7, urn:ngsi-ld:Room:9).',
          '1 entity was not judged: not all readers understand the JSON in the same way, because the number is beyond the range of IEEE 754 doubles (urn:ngsi-ld:Room:8).',
        ],
      ],
    );
  });

  it('a scan without matches says so, and suggests a type', async () => {
    const { state, checked, warnings } = await scan({ query: 'type=Rooms' });
    assert.deepEqual(
      [state, checked, warnings],
      [
        'succeeded',
        0,
        [
          'No entity matches the query, so nothing was judged.',
          'No entity of type Rooms is listed. Did you mean Room?',
        ],
      ],
    );
  });

  it('a scan during which entities were deleted warns that others may have been skipped', async () => {
    const halls = Array.from({ length: 30 }, (_, index) => ({
      id: `urn:ngsi-ld:Hall:${index}`,
      type: 'Hall',
    }));
    const shrinking = await startRecordingBroker(({ url }) => {
      const asked = new URL(url, 'http://broker').searchParams;
      const [limit, offset] = [Number(asked.get('limit')), Number(asked.get('offset'))];
      // Ten are deleted after the first page.
      const stored = asked.get('type') !== 'Hall' ? [] : offset === 0 ? halls : halls.slice(10);
      return {
        status: 200,
        headers: { 'content-type': 'application/json', 'ngsild-results-count': String(stored.length) },
        body: JSON.stringify(stored.slice(offset, offset + limit)),
      };
    });
    const { url } = await startTestGateway({ BROKER_URL: shrinking.url, PURGE_PAGE_SIZE: '10', ...PATIENT });
    const schema = { properties: { type: { const: 'Hall' } } };
    const { state, checked, warnings } = await scanned(
      url,
      await startScan(url, { query: 'type=Hall', schema }),
    );
    assert.deepEqual([state, checked], ['succeeded', 20]);
    assert.match(
      warnings.join(),
      /^The broker counted 30 matches at first, and listed 20: some were deleted/,
    );
  });

  it('a candidate schema without a type judges entities of any type', async () => {
    for (const title of [undefined, 'Rooms, second draft']) {
      const schema = { ...(title === undefined ? {} : { title }), properties: { name: { type: 'string' } } };
      const { checked, valid, findings } = await scan({ query: 'type=Room', schema, sample: 300 });
      assert.deepEqual([valid, findings], [checked, []]);
    }
    const schema = { properties: { type: { const: 'Hall' } } };
    const { valid, findings } = await scan({ query: 'type=Room', schema, sample: 300 });
    assert.deepEqual([valid, findings.map(({ pointer }) => pointer)], [0, ['/type']]);
  });

  it('a scan that ends early reports how many entities it has judged', async () => {
    const id = await startScan(gateway.url, { query: 'type=Room', maxPerSecond: 20 });
    const look = async () => (await send(gateway.url, 'GET', `/api/v2/scans/${id}`)).json() as Scan;
    for (let seen = await look(); seen.checked === 0; seen = await look())
      assert.ok(['queued', 'running'].includes(seen.state), seen.state);
    await send(gateway.url, 'POST', `/api/v2/scans/${id}/cancel`);
    const { state, matched, checked, notJudged } = await scanned(gateway.url, id);
    assert.deepEqual([state, matched], ['cancelled', checked + notJudged]);
  });

  it('a scan can be throttled, followed and cancelled', async () => {
    const id = await startScan(gateway.url, { query: 'type=Room', maxPerSecond: 20 });
    const events = await fetch(`${gateway.url}/api/v2/scans/${id}/events`);
    await sendJson(gateway.url, 'PATCH', `/api/v2/scans/${id}`, { maxPerSecond: 10 });
    await send(gateway.url, 'POST', `/api/v2/scans/${id}/cancel`);
    const text = await events.text();
    const last = JSON.parse(text.trimEnd().split('\n').at(-1)?.slice('data: '.length) ?? '') as Scan;
    assert.equal(last.state, 'cancelled');
    assert.ok(last.checked < ROOMS);
    const over = await sendJson(gateway.url, 'PATCH', `/api/v2/scans/${id}`, { maxPerSecond: 5 });
    assert.equal(over.status, 409);
    assert.match(over.text, /scan-over/);
  });
});
