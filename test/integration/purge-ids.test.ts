import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerReplyError } from '../../sidecar/purge/errors.js';
import { PurgeStoppedError, UnexpectedEntityError } from '../../sidecar/purge/index.js';
import { purge, purged, things } from '../support/purge-harness.js';
import { startStubBroker } from '../support/stub-broker.js';
import { column } from '../support/columns.js';

/** Ids with characters that have a meaning in URLs, JSON or JavaScript. */
const ODD_IDS = [
  'urn:a/b',
  'urn:a?b=c',
  'urn:a#b',
  'urn:a%b',
  'urn:a%2Fb',
  'urn:a%25b',
  'urn:é',
  'urn:日本',
  'urn:😀',
  'urn:a+b',
  'urn:a&b',
  'urn:a=b',
  'urn:a;b',
  'urn:a b',
  'urn:"a"',
  "urn:'a'",
  'urn:a,b',
  'urn:a\\b',
  'urn:{"a":[1]}',
  `urn:${'x'.repeat(400)}`,
  'https://example.org/a/b?c=d#e',
  'http://example.org/',
  'attrs',
  'entities',
  '__proto__',
  'constructor',
  'hasOwnProperty',
];

/** Ids that no URL can contain, or that name or leave the collection when decoded too early. */
const UNADDRESSABLE = [
  '.',
  '..',
  '/',
  '//',
  '/a',
  'urn:x/..',
  'urn:x/../y',
  'urn:x/.',
  '%2e%2e',
  'urn:x%2F..',
  'urn:\u0000',
  'urn:a\nb',
  '*',
  ' ',
  `urn:${String.fromCharCode(0xd800)}`,
];

const entitiesOf = (ids: readonly string[]) => ids.map((id) => ({ id, type: 'Thing' }));

it('ids that are unsafe in URLs are deleted by batch unchanged', async (t) => {
  const entities = entitiesOf([...ODD_IDS, ...UNADDRESSABLE]);
  const broker = await startStubBroker(t, { entities });
  const report = await purged(broker, 'type=Thing');
  assert.equal(report.deleted, entities.length);
  assert.equal(broker.entities.size, 0);
  assert.equal(broker.of('single').length, 0);
});

it('ids that are unsafe in URLs are deleted singly only after a GET of the same path has returned the same id', async (t) => {
  for (const strategy of ['auto', 'single'] as const) {
    const broker = await startStubBroker(t, { entities: entitiesOf(ODD_IDS), batch: 405 });
    const report = await purged(broker, 'type=Thing', { limits: { strategy } });
    assert.deepEqual(report.errors, []);
    assert.equal(broker.entities.size, 0);
    const proven = new Set(broker.of('retrieve').map(({ target }) => target));
    assert.ok(proven.size >= 20, 'some are plain');
    for (const { target, id = '' } of broker.of('single')) {
      assert.match(target, /^\/ngsi-ld\/v1\/entities\/[\w.~!*'()%-]+$/);
      assert.equal(proven.has(target), !/^[a-z][\w:]*$/i.test(id), id);
    }
    assert.equal(broker.of('single').length, ODD_IDS.length);
  }
});

it('the GET that proves an id unsafe in URLs is retried if it fails temporarily', async (t) => {
  let retrievals = 0;
  const broker = await startStubBroker(t, {
    entities: entitiesOf(['urn:a?b', 'urn:a']),
    batch: 405,
    fault: ({ kind }) => (kind === 'retrieve' && ++retrievals <= 7 ? { status: 503 } : undefined),
  });
  const report = await purged(broker, 'type=Thing');
  assert.deepEqual([report.deleted, report.failed, broker.entities.size], [2, 0, 0]);
});

it('ids that are unsafe in URLs are proven only once, even if their delete is retried', async (t) => {
  let deletes = 0;
  const broker = await startStubBroker(t, {
    entities: entitiesOf(['urn:a?b', 'urn:c']),
    batch: 405,
    fault: ({ kind, id }) =>
      kind === 'single' && id === 'urn:a?b' && ++deletes <= 8 ? { status: 500 } : undefined,
  });
  const report = await purged(broker, 'type=Thing');
  assert.deepEqual([report.deleted, report.failed, broker.of('retrieve').length], [2, 0, 1]);
});

it('the delete of an id that is unsafe in URLs is not sent if the purge is stopped during its proof', async (t) => {
  const stop = new AbortController();
  const broker = await startStubBroker(t, {
    entities: entitiesOf(['urn:a?b', 'urn:a?c']),
    batch: 405,
    fault: ({ kind }) => {
      if (kind === 'retrieve') stop.abort();
      return undefined;
    },
  });
  const { error } = await purge(broker, 'type=Thing', { signal: stop.signal });
  assert.ok(error instanceof PurgeStoppedError);
  assert.equal(broker.of('single').length, 0);
});

it('an id that a server could read as the collection is never used in a path, and is reported', async (t) => {
  for (const strategy of ['auto', 'single'] as const) {
    const entities = [...entitiesOf(UNADDRESSABLE), ...things(3)];
    const broker = await startStubBroker(t, { entities, batch: 405 });
    const report = await purged(broker, 'type=Thing', { limits: { strategy } });
    assert.equal(report.deleted, 3);
    assert.deepEqual(report.errors.map(({ entityId }) => entityId).sort(), [...UNADDRESSABLE].sort());
    assert.equal(broker.of('collection').length, 0);
    assert.equal(broker.of('other').length, 0);
    assert.equal(broker.of('single').length, 3);
  }
});

it('ids that no path can contain safely are retried in a separate batch', async (t) => {
  let isFirst = true;
  const broker = await startStubBroker(t, {
    entities: entitiesOf(['urn:x/..', 'urn:x:1', 'urn:x?y']),
    fault: ({ kind }) => {
      if (kind === 'retrieve') return { status: 200, body: { id: 'urn:x' } };
      if (kind !== 'batch' || !isFirst) return undefined;
      isFirst = false;
      return { status: 204 };
    },
  });
  const report = await purged(broker, 'type=Thing');
  assert.deepEqual([report.deleted, report.failed, broker.entities.size], [3, 0, 0]);
  assert.deepEqual(column(broker.of('single'), 'id'), ['urn:x:1']);
});

it('missing or empty ids in a listing end the purge before any delete', async (t) => {
  for (const entity of [
    { type: 'Thing' },
    { id: '', type: 'Thing' },
    { id: 7 },
    { id: null },
    'urn:x',
    null,
    [],
  ]) {
    const body = [{ id: 'urn:ngsi-ld:Thing:1', type: 'Thing' }, entity];
    const broker = await startStubBroker(t, {
      fault: ({ kind }) => (kind === 'query' ? { status: 200, body } : undefined),
    });
    const { error } = await purge(broker, 'type=Thing');
    assert.ok(error instanceof BrokerReplyError, JSON.stringify(entity));
    assert.ok(broker.requests.every(({ kind }) => kind === 'query'));
  }
});

it('a purge stops, and deletes nothing more, if the broker lists entities that id or idPattern excludes', async (t) => {
  let queries = 0;
  const broker = await startStubBroker(t, {
    entities: [...things(100), ...things(5, 'Other')],
    fault: ({ kind }) =>
      kind === 'query' && ++queries === 5
        ? { status: 200, body: [{ id: 'urn:ngsi-ld:Other:1', type: 'Thing' }] }
        : undefined,
  });
  const { error, progress } = await purge(broker, 'type=Thing&idPattern=:Thing:', {
    limits: { pageSize: 20 },
  });
  assert.ok(error instanceof UnexpectedEntityError);
  assert.equal(error.entityId, 'urn:ngsi-ld:Other:1');
  assert.equal(progress.deleted, 105 - broker.entities.size);
  assert.ok(broker.entities.has('urn:ngsi-ld:Other:1'));
  assert.equal(broker.requests.flatMap(({ ids }) => ids).includes('urn:ngsi-ld:Other:1'), false);
});
