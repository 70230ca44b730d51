import assert from 'node:assert/strict';
import fc from 'fast-check';
import { it } from 'node:test';
import { BrokerReplyError } from '../../../../sidecar/purge/errors.js';
import {
  entitiesIn,
  parsePage,
  readPage,
  entities,
  temporalEntities,
} from '../../../../sidecar/purge/listing/index.js';
import { replyOf } from '../../../support/replies.js';
import type { Projection } from '../../../../sidecar/purge/broker/index.js';
import { projectionParameters, PROJECTION_WORDS } from '../../../../sidecar/purge/listing/page.js';
import { formatParameters } from '../../../../sidecar/purge/query/index.js';
import { words } from '../../../support/words.js';
import { processorTimer } from '../../../support/processor-time.js';

const withHeaders = (headers: Readonly<Record<string, string>>) => parsePage(replyOf(200, [], headers));

it('parsePage keeps ids in order, repeats included, by id or @id', () => {
  const page = parsePage(
    replyOf(200, [{ id: 'urn:a:2' }, { '@id': 'urn:a:1' }, { id: 'urn:a:2', type: 'A' }]),
  );
  assert.deepEqual(page.ids, ['urn:a:2', 'urn:a:1', 'urn:a:2']);
  assert.deepEqual(entitiesIn(page)[2], { id: 'urn:a:2', type: 'A' });
});

it('a list that a cache stored for a second or longer, or says to have had, is refused', () => {
  for (const headers of [
    { age: '1' },
    { age: '3600' },
    { age: '0', 'x-cache-status': 'Hit' },
    { 'x-cache-status': 'STALE' },
    { 'x-cache-status': 'UPDATING' },
    { 'x-cache': 'HIT from proxy, MISS from other' },
    { 'x-cache': 'TCP_HIT' },
    { 'cache-status': 'ExampleCache; hit; ttl=30' },
    { 'cache-status': 'Outer; fwd=miss, "In, ner";ttl=3;hit=?1' },
    { 'cache-status': '"not closed; hit' },
    { 'cache-status': 'HIT' },
    { 'cache-status': 'HIT from proxy' },
  ])
    assert.throws(() => withHeaders(headers), /cache answered/, JSON.stringify(headers));
  for (const headers of [
    {},
    { age: '0' },
    { age: 'x' },
    { 'x-cache-status': 'Miss' },
    { 'x-cache-status': 'REVALIDATED' },
    { 'x-cache': 'RefreshHit from cloudfront' },
    { 'cache-status': 'ExampleCache; fwd=uri-miss; stored' },
    { 'cache-status': 'ExampleCache; fwd=stale' },
    { 'cache-status': 'my-hit-cache; fwd=miss' },
    { 'cache-status': '"first hit; hit, hit"; fwd=method; detail=hit; key="a; hit"' },
    { 'cache-status': 'ExampleCache; hit=?0; hits=1' },
  ])
    assert.deepEqual(withHeaders(headers).ids, []);
});

it('parsePage reads a missing body as an empty page, unless its media type is not JSON', () => {
  for (const type of ['text/html', 'text/plain; charset=utf-8', 'application/octet-stream'])
    assert.throws(() => parsePage(replyOf(200, '', { 'content-type': type })), BrokerReplyError);
  for (const type of ['application/json', 'application/ld+json; charset=utf-8', ''])
    assert.deepEqual(parsePage(replyOf(200, '', { 'content-type': type })).ids, []);
  for (const body of ['', ' \n', '[]']) assert.deepEqual(parsePage(replyOf(200, body)).ids, []);
});

it('parsePage refuses anything but an array of entities with BrokerReplyError', () => {
  for (const body of [
    ...words(`
      <html> { {} null "x" [1] [null] ["urn:a:1"] [[]]
    `),
    '[{"id":"urn:a:1"}, 5]',
  ]) {
    assert.throws(() => parsePage(replyOf(200, body)), BrokerReplyError, body);
  }
  assert.throws(
    () => parsePage(replyOf(200, '{')),
    (error: unknown) => error instanceof BrokerReplyError && error.cause instanceof SyntaxError,
  );
});

it('parsePage refuses an entity without an id, whose delete would be that of the collection', () => {
  for (const id of ['', null, undefined, 5, {}, ['urn:a:1']]) {
    assert.throws(() => parsePage(replyOf(200, [{ id: 'urn:a:1' }, { id, type: 'A' }])), BrokerReplyError);
  }
});

it('parsePage returns a page or throws BrokerReplyError, whatever the body is', () => {
  const bodies = fc.oneof(
    fc.string(),
    fc.json(),
    fc.array(fc.record({ id: fc.jsonValue() })).map((list) => JSON.stringify(list)),
  );
  fc.assert(
    fc.property(bodies, (body) => {
      try {
        const page = parsePage(replyOf(200, body));
        const { ids } = page;
        assert.equal(ids.length, entitiesIn(page).length);
        for (const id of ids) assert.ok(typeof id === 'string' && id !== '');
      } catch (error) {
        assert.ok(error instanceof BrokerReplyError, String(error));
      }
    }),
  );
});

it('parsePage reads the count (clause 6.3.13), and ignores an invalid one', () => {
  assert.equal(withHeaders({ 'ngsild-results-count': '0' }).count, 0);
  assert.equal(withHeaders({ 'ngsild-results-count': ' 4711 ' }).count, 4711);
  for (const count of ['-2', '', 'many', '1.5', '1e3', '5, 5', '0x10', '9'.repeat(20), 'NaN']) {
    assert.equal(withHeaders({ 'ngsild-results-count': count }).count, undefined, count);
  }
  assert.equal(withHeaders({}).count, undefined);
});

it('parsePage finds a next link among all link-values (RFC 8288), including those for an @context', () => {
  const context =
    '<https://c.test/c.jsonld>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"';
  const next = '</ngsi-ld/v1/entities?offset=10>;rel="next";type="application/json"';
  for (const link of [
    next,
    `${context}, ${next}`,
    '<x>; type="application/json"; rel="next"',
    '<x>; rel=next',
    '<x>; rel = "prev next"',
    '<x>; rel="next last"',
    '<x>; rel="first next last"',
    '<x>; REL="Next"',
  ]) {
    assert.equal(withHeaders({ link }).hasNext, true, link);
  }
  for (const link of [
    context,
    '<next>; rel="prev"',
    '<x>; rel="nextpage"',
    '<x>; rel=nextpage',
    '<x>; rel="unnext"',
    '<x>; rel="prev-next up"',
    '<x>; title="next"',
    '',
  ]) {
    assert.equal(withHeaders({ link }).hasNext, false, link);
  }
  assert.equal(withHeaders({}).hasNext, false);
});

it('parsePage reads a Link of the greatest length quickly, whatever it has', () => {
  const repeated = (text: string, times: number) => text.repeat(times);
  for (const link of [
    `<x>; rel="${repeated(' next', 50_000)}`,
    repeated('; rel="next', 20_000),
    `<x>;${repeated(' ', 250_000)}`,
    `<x>; rel${repeated(' ', 250_000)}`,
  ]) {
    const usedMs = processorTimer();
    withHeaders({ link });
    assert.ok(usedMs() < 1000, link.slice(0, 20));
  }
});

it('parsePage recognises a partial answer (206, clause 6.3.10) by its status, whatever its Content-Range', () => {
  const range = { 'content-range': 'DateTime 2026-01-01T00:00:00Z-2026-01-02T00:00:00Z/*' };
  for (const [status, headers, isPartial] of [
    [206, range, true],
    [206, {}, true],
    [200, range, false],
    [200, {}, false],
    [203, {}, false],
  ] as const) {
    const page = parsePage(replyOf(status, [{ id: 'urn:a:1', speed: [] }], headers));
    assert.deepEqual([page.isPartial, page.ids], [isPartial, ['urn:a:1']]);
  }
});

it('parsePage keeps a warning of an incomplete result, and notes an unrequested entity map', () => {
  const page = withHeaders({ 'ngsild-warning': '199 csr "no answer"', 'ngsild-entitymap': 'urn:map:1' });
  assert.equal(page.warning, '199 csr "no answer"');
  assert.equal(page.madeEntityMap, true);
  assert.equal(withHeaders({}).warning, undefined);
  assert.equal(withHeaders({}).madeEntityMap, false);
});

const SELECTION = [{ name: 'type', value: 'T' }];
const PROJECTIONS: readonly Projection[] = ['pick', 'key-values', 'recent-times', 'recent', 'times', 'none'];

const parametersOf = (projection: Projection, instances?: number) =>
  formatParameters(
    projectionParameters(projection, {
      selection: SELECTION,
      ...(instances === undefined ? {} : { instances }),
    }),
  );

it('a collection is answered with 200, 201 or 203, a history also with 206, and with nothing else', () => {
  const statuses = Array.from({ length: 500 }, (_, index) => 100 + index);
  const answersOf = ({ answered }: ReturnType<typeof entities>) =>
    statuses.filter((status) => answered.has(status));
  for (const content of ['ids', 'attributes'] as const)
    assert.deepEqual(answersOf(entities(content)), [200, 201, 203]);
  assert.deepEqual(answersOf(temporalEntities()), [200, 201, 203, 206]);
  assert.deepEqual([entities('ids').answered.size, temporalEntities().answered.size], [3, 4]);
});

it('histories are requested with the newest instances and the times as needed, omitting one after the other if refused', () => {
  const shapes = (isBare: boolean, needsTimes: boolean) =>
    temporalEntities().projectionsOf({ selection: SELECTION, isBare, needsTimes });
  assert.deepEqual(shapes(false, true), ['recent-times', 'recent', 'times', 'none']);
  assert.deepEqual(shapes(false, false), ['recent', 'none']);
  assert.deepEqual(shapes(true, true), ['times', 'none']);
  assert.deepEqual(shapes(true, false), ['none']);
});

it('parameters that reduce a request are recognised by each name in a problem, in any case, as whole words', () => {
  for (const projection of PROJECTIONS) {
    const sent = parametersOf(projection)
      .split('&')
      .filter((each) => each !== '');
    for (const [name = '', value = ''] of sent.map((each) => each.split('='))) {
      for (const word of [name, ...(name === 'options' ? [value] : [])]) {
        assert.match(`The parameter ${word.toUpperCase()} is unknown.`, PROJECTION_WORDS[projection] ?? /$^/);
      }
      assert.doesNotMatch(`The parameter x${name}s is unknown.`, PROJECTION_WORDS[projection] ?? /./);
    }
    assert.equal(PROJECTION_WORDS[projection] === undefined, sent.length === 0, projection);
    assert.doesNotMatch('The limit is too large.', PROJECTION_WORDS[projection] ?? /$^/);
  }
});

it('a page of which only the ids were read refuses to show entities, instead of showing none', async () => {
  const read = (body: string, content = JSON.parse(body || '[]') as readonly { readonly id: string }[]) =>
    readPage(
      replyOf(200, body),
      entities('text', async () => ({ ids: content.map(({ id }) => id) })),
    );
  const page = await read('[{"id": "urn:a:1"}]');
  assert.deepEqual([page.ids, page.body], [['urn:a:1'], '[{"id": "urn:a:1"}]']);
  assert.throws(() => entitiesIn(page), /Only the ids/);
  assert.deepEqual(entitiesIn(await read('')), []);
});

it('a page whose ids could not be read elsewhere is read here, and a fault found elsewhere is that of the broker', async () => {
  const reply = replyOf(200, '[{"id": "urn:a:1"}]');
  const page = await readPage(
    reply,
    entities('text', async () => undefined),
  );
  assert.deepEqual([page.ids, entitiesIn(page)], [['urn:a:1'], [{ id: 'urn:a:1' }]]);
  const faulty = readPage(
    reply,
    entities('text', async () => ({ fault: 'listed an entity without an id' })),
  );
  await assert.rejects(faulty, new BrokerReplyError('The broker listed an entity without an id.'));
});
