import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import { UnsupportedRequestError } from '../../../../sidecar/purge/errors.js';
import { temporalEntities, type PageShape } from '../../../../sidecar/purge/listing/index.js';
import { parseTemporalPurgeQuery } from '../../../../sidecar/purge/temporal/index.js';
import { QuerySet } from '../../../../sidecar/purge/temporal/query-set.js';
import { replyOf } from '../../../support/replies.js';
import { scopeOf } from '../hand-made-context.js';

const TIMED = '&timerel=before&timeAt=2026-01-01T00:00:00Z';

/** Two neighbouring instances with different values, in each of a few entities. */
const history = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `urn:t:${index}`,
    speed: [1, 2].map((value) => ({
      value,
      instanceId: `urn:i:${index}:${value}`,
      observedAt: `2025-01-01T00:00:0${value}Z`,
    })),
  }));

/** The time filter of a query, as its values in a row. */
const timesOf = (query: URLSearchParams) =>
  ['timeproperty', 'timerel', 'timeAt', 'endTimeAt'].flatMap((name) => query.getAll(name)).join(' ');

const CREATED = 'createdAt after 1970-01-01T00:00:00Z';
const ALL_TIMES = [
  CREATED,
  'modifiedAt after 1970-01-01T00:00:00Z',
  'after 1970-01-01T00:00:00Z',
  'before 1970-01-01T00:00:00Z',
];

const empty = () => replyOf(200, [], { 'ngsild-results-count': '0' });

/** A query set at a broker that shows three entities, or the given answers. */
function setOf(text: string, answer: (query: URLSearchParams) => BrokerReply | undefined = () => undefined) {
  const asked: URLSearchParams[] = [];
  const probed: URLSearchParams[] = [];
  const query = parseTemporalPurgeQuery(text);
  const scope = scopeOf({
    brokerQuery: { resource: temporalEntities(), selection: query.selection },
    broker: ({ path }) => {
      assert.match(path, /^\/temporal\/entities\/?\?/);
      const given = new URLSearchParams(path.split('?')[1]);
      const isProbe = [...given.values()].some((value) => /PurgeProbe|^1800-/.test(value));
      (isProbe ? probed : asked).push(given);
      if (isProbe) return empty();
      return answer(given) ?? replyOf(200, history(3), { 'ngsild-results-count': '3' });
    },
  });
  const set = new QuerySet(query);
  const open = async (shape?: PageShape) => {
    const opened = [];
    for await (const each of set.open(scope, shape)) opened.push(each);
    return opened;
  };
  const times = () => asked.filter((given) => given.has('count')).map(timesOf);
  return { open, asked, probed, times };
}

it('a purge without a time filter queries by every time of an instance since 1970, and for older observations', async () => {
  for (const text of ['type=T', 'type=T&attrs=speed', 'type=T&dryRun=true']) {
    const { open, times, asked } = setOf(text);
    const opened = await open();
    assert.deepEqual(times(), ALL_TIMES, text);
    assert.deepEqual(
      opened.map(({ datasetId }) => datasetId),
      Array(4).fill(undefined),
    );
    for (const query of asked) assert.equal(query.get('attrs'), text.includes('attrs') ? 'speed' : null);
  }
});

it('a purge without a time filter never counts items as gone because one of its queries does not show them', async () => {
  for (const text of ['type=T', 'type=T&attrs=speed', 'type=T&datasetId=urn:d:1']) {
    for (const { context } of await setOf(text).open()) assert.equal(context.showsAll, false, text);
  }
});

it('a purge of datasets queries one dataset at a time, and names it', async () => {
  const { open, asked } = setOf('type=T&attrs=speed&datasetId=urn:d:1,@none');
  const opened = await open();
  const datasets = [...Array<string>(4).fill('urn:d:1'), ...Array<string>(4).fill('@none')];
  assert.deepEqual(
    opened.map(({ datasetId }) => datasetId),
    datasets,
  );
  for (const [index, query] of asked.entries()) {
    assert.deepEqual(query.getAll('datasetId'), [datasets[index]]);
    assert.deepEqual([query.get('type'), query.get('attrs')], ['T', 'speed']);
  }
  assert.deepEqual(asked.map(timesOf), [...ALL_TIMES, ...ALL_TIMES]);
});

it('a purge without a time filter reuses the first page of each query, in the requested size', async () => {
  const { open, asked } = setOf('type=T', (query) =>
    timesOf(query) === CREATED ? replyOf(200, history(1), { 'ngsild-results-count': '1' }) : undefined,
  );
  const opened = await open({ limit: 7 });
  assert.deepEqual(
    opened.map(({ first }) => first.ids.length),
    [1, 3, 3, 3],
  );
  assert.deepEqual(
    asked.map((query) => query.get('limit')),
    ['7', '7', '7', '7'],
  );
});

it('a purge without a time filter proves its queries before it uses a list, but not if nothing is listed', async () => {
  const shown = setOf('type=T');
  await shown.open();
  assert.ok(shown.probed.some((query) => query.get('type')?.endsWith('NoSuchPurgeProbe')));
  const nothing = setOf('type=T', empty);
  assert.equal((await nothing.open()).length, 4);
  assert.deepEqual(nothing.probed, []);
});

it('a purge with a time filter sends its query unchanged, with all its datasets together', async () => {
  for (const text of [
    `type=T${TIMED}`,
    `type=T&datasetId=urn:d:1,@none${TIMED}`,
    `type=T&q=speed>1${TIMED}`,
  ]) {
    const { open, asked } = setOf(text);
    const opened = await open();
    assert.deepEqual(
      opened.map(({ context, datasetId }) => [context.showsAll, datasetId]),
      [[true, undefined]],
    );
    assert.deepEqual(asked.map(timesOf), ['before 2026-01-01T00:00:00Z']);
    assert.equal(asked[0]?.get('datasetId'), text.includes('datasetId') ? 'urn:d:1,@none' : null);
  }
});

/** A broker whose q shows the matching instances only, or whole histories. */
const selecting = (isByInstance: boolean) => (query: URLSearchParams) => {
  const value = /^speed==(\d)$/.exec(query.get('q') ?? '')?.[1];
  if (value === undefined) return undefined;
  const shown = history(1).map((entity) => ({
    ...entity,
    speed: entity.speed.filter((instance) => !isByInstance || String(instance.value) === value),
  }));
  return replyOf(200, shown, { 'ngsild-results-count': '1' });
};
const learning = (asked: readonly URLSearchParams[]) =>
  asked.filter((query) => /^speed==\d$/.test(query.get('q') ?? '')).length;

it('a purge by value finds out once what q selects, from a sample of three entities with times', async () => {
  const { open, asked } = setOf('type=T&q=speed>1', selecting(false));
  assert.equal((await open()).length, 4);
  await open();
  assert.equal(learning(asked), 1);
  const samples = asked.filter((query) => query.get('lastN') === '20');
  assert.deepEqual(
    samples.map((query) => [query.get('limit'), query.get('q')]),
    [['3', 'speed>1']],
  );
});

it('a purge by value learns what q selects from the first query that lists something', async () => {
  const { open } = setOf('type=T&q=speed>1', (query) =>
    timesOf(query) === CREATED ? empty() : selecting(true)(query),
  );
  await assert.rejects(open(), UnsupportedRequestError);
});

it('a purge learns what q selects only if there is a q and its instances are not deleted one by one', async () => {
  for (const text of ['type=T', `type=T&q=speed>1${TIMED}`, 'type=T&attrs=speed']) {
    const { open, asked } = setOf(text, selecting(true));
    await open();
    assert.equal(learning(asked), 0, text);
    assert.ok(
      asked.every((query) => query.get('lastN') !== '20'),
      text,
    );
  }
});
