import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  BrokerMemory,
  type BrokerRequest,
  BrokerUnreachableError,
  type BrokerReply,
} from '../../../../sidecar/purge/broker/index.js';
import type { PurgeLimits, PurgeEvent, PurgeReport } from '../../../../sidecar/purge/run/index.js';
import { purgeEntities } from '../../../../sidecar/purge/entities/index.js';
import {
  BrokerFailedError,
  BrokerRefusedError,
  FilterIgnoredError,
  QueryRefusedError,
  TooManyMatchesError,
} from '../../../../sidecar/purge/errors.js';
import { parseEntityPurgeQuery } from '../../../../sidecar/purge/query/index.js';
import { createTestClock } from '../../../support/purge-harness.js';
import { replyOf } from '../broker/replies.js';

interface HandMadePurge {
  readonly query: string;
  /** Answers in place of the world. */
  readonly answer?: (request: BrokerRequest, query: URLSearchParams) => BrokerReply | undefined;
  readonly limits?: Partial<PurgeLimits>;
  readonly matches?: number;
  /** The filters that the broker looks at. */
  readonly honours?: readonly string[];
}

const FILTERS = ['type', 'q', 'attrs', 'idPattern', 'scopeQ'];

/** A whole purge of things with attributes a and b, at a broker without sockets. */
async function run({ query, answer, limits, matches = 25, honours = FILTERS }: HandMadePurge) {
  const world = new Map<string, Readonly<Record<string, unknown>>>(
    Array.from({ length: matches }, (_, n) => [`urn:t:${n}`, { id: `urn:t:${n}`, type: 'T', a: {}, b: {} }]),
  );
  const sent: string[] = [];
  const list = (given: URLSearchParams): BrokerReply => {
    const isImpossible = honours.some((name) => (given.get(name) ?? '').includes('PurgeProbe'));
    const [offset, limit] = [Number(given.get('offset') ?? 0), Number(given.get('limit') ?? 1000)];
    const all = isImpossible ? [] : [...world.values()];
    const page = all.slice(offset, offset + limit);
    const body = given.get('pick') === 'id' ? page.map(({ id }) => ({ id })) : page;
    return replyOf(200, body, { 'ngsild-results-count': String(all.length) });
  };
  const send = async (request: BrokerRequest): Promise<BrokerReply> => {
    const { method, path, jsonBody } = request;
    const [resource = '', search = ''] = path.split('?');
    sent.push(`${method} ${path}`);
    const given = new URLSearchParams(search);
    const own = answer?.(request, given);
    if (own !== undefined) return own;
    if (method === 'GET') return list(given);
    if (jsonBody !== undefined) for (const id of JSON.parse(jsonBody) as string[]) world.delete(id);
    const [, , id = '', , attribute] = resource.split('/').map(decodeURIComponent);
    if (method === 'DELETE' && attribute !== undefined) {
      const others = Object.entries(world.get(id) ?? {}).filter(([name]) => name !== attribute);
      world.set(id, Object.fromEntries(others));
    } else if (method === 'DELETE' && id === '') world.clear();
    return replyOf(204);
  };
  const parsed = parseEntityPurgeQuery(query);
  const clock = createTestClock();
  const events: PurgeEvent[] = [];
  let report: PurgeReport | undefined;
  let error: unknown;
  try {
    report = await purgeEntities(
      {
        query: parsed,
        headers: {},
        onEvent: (event) => events.push(event),
        limits: {
          ...{ pageSize: 10, pageSizeMax: 10, batchSize: 10, concurrency: 2, strategy: 'auto' },
          maxAffected: parsed.maxAffected,
          ...limits,
        },
      },
      {
        client: { send, close: async () => {} },
        capabilities: new BrokerMemory(clock),
        retry: { maxAttempts: 3, minDelayMs: 1, maxDelayMs: 10, awayMs: 1000 },
        clock,
        random: () => 0,
      },
      new AbortController().signal,
    );
  } catch (thrown) {
    error = thrown;
  }
  return {
    ...{ world, sent, events, error, report },
    progress: events.flatMap((event) => (event.type === 'progress' ? [event] : [])).at(-1),
    deletes: sent.filter((request) => !request.startsWith('GET')),
  };
}

it('a purge of entities ends with a report that adds up, and says how many requests it took', async () => {
  const { report, world, sent } = await run({ query: 'type=T' });
  assert.ok(report !== undefined);
  const { matched, deleted, dryRun, requests, arrived, sample, success, errors } = report;
  assert.deepEqual([matched, deleted, dryRun, arrived, sample, errors], [25, 25, false, 0, [], []]);
  assert.deepEqual([success.length, world.size, requests], [25, 0, sent.length]);
});

it('a dry run deletes nothing, under any strategy', async () => {
  for (const strategy of ['auto', 'batch', 'single', 'native'] as const) {
    for (const query of ['type=T&dryRun=true', 'type=T&drop=a&dryRun=true', 'type=T&keep=a&dryRun=true']) {
      const { report, deletes, world } = await run({ query, limits: { strategy } });
      assert.deepEqual([report?.dryRun, report?.matched, report?.deleted], [true, 25, 0]);
      assert.deepEqual([report?.sample.length, deletes, world.size], [25, [], 25]);
    }
  }
});

it('the native strategy lets the broker purge entities itself, but not attributes', async () => {
  const limits = { strategy: 'native' } as const;
  const { report, deletes, sent } = await run({ query: 'type=T', limits });
  assert.deepEqual([report?.deleted, deletes], [25, ['DELETE /entities?type=T']]);
  assert.equal(report?.requests, sent.length);
  const dropped = await run({ query: 'type=T&drop=a', limits });
  assert.deepEqual([dropped.report?.deleted, dropped.deletes.length], [25, 25]);
  const foreign = await run({ query: 'type=T&attrs=a', limits });
  assert.ok(foreign.error instanceof QueryRefusedError);
  assert.deepEqual(foreign.sent, []);
});

it('a purge by the broker itself reports no progress of its own', async () => {
  const answer = ({ method }: BrokerRequest) => (method === 'DELETE' ? replyOf(409) : undefined);
  const native = await run({ query: 'type=T', answer, limits: { strategy: 'native' } });
  assert.ok(native.error instanceof BrokerRefusedError);
  assert.equal(native.progress, undefined);
  // Attributes it purges as ever.
  for (const strategy of ['native', 'auto'] as const) {
    const dropping = await run({
      ...{ query: 'type=T&drop=a', limits: { strategy } },
      answer: ({ method }) => (method === 'DELETE' ? replyOf(405) : undefined),
    });
    assert.ok(dropping.error instanceof BrokerRefusedError);
    assert.equal(dropping.progress?.hasBegun, true);
  }
});

for (const query of ['type=T', 'type=T&drop=a', 'type=T&keep=a', 'type=T&dryRun=true']) {
  it(`a purge of entities deletes nothing where the broker ignores a filter: ${query}`, async () => {
    for (const strategy of ['auto', 'native'] as const) {
      const { error, deletes } = await run({ query, honours: [], limits: { strategy } });
      assert.ok(error instanceof FilterIgnoredError && error.parameter === 'type');
      assert.deepEqual(deletes, []);
    }
  });
}

it('a bounded purge asks for one match more than it may affect, and refuses that before anything else', async () => {
  for (const strategy of ['auto', 'native'] as const) {
    const { error, sent, deletes } = await run({ query: 'type=T&maxAffected=4', limits: { strategy } });
    assert.ok(error instanceof TooManyMatchesError && error.exact);
    assert.deepEqual([error.matched, error.maxAffected, deletes], [25, 4, []]);
    assert.equal(new URLSearchParams(sent[0]?.split('?')[1]).get('limit'), '5');
    assert.equal((await run({ query: 'type=T&maxAffected=25', limits: { strategy } })).world.size, 0);
  }
  // Attributes are counted, not their entities, and a dry run counts all.
  for (const query of ['type=T&drop=a&maxAffected=4', 'type=T&maxAffected=4&dryRun=true', 'type=T']) {
    const { sent } = await run({ query });
    assert.equal(new URLSearchParams(sent[0]?.split('?')[1]).get('limit'), '10', query);
  }
  const dropping = await run({ query: 'type=T&drop=a,b&maxAffected=49' });
  assert.ok(dropping.error instanceof TooManyMatchesError);
  assert.deepEqual(dropping.deletes, []);
  assert.equal((await run({ query: 'type=T&drop=a,b&maxAffected=50' })).report?.deleted, 50);
  assert.equal((await run({ query: 'type=T&maxAffected=4&dryRun=true' })).report?.matched, 25);
});

it('a keep that no match has is refused before the first delete', async () => {
  const answer = (_request: BrokerRequest, query: URLSearchParams) =>
    query.get('attrs') === 'zz' ? replyOf(200, [], { 'ngsild-results-count': '0' }) : undefined;
  const { error, deletes } = await run({ query: 'type=T&keep=zz', answer });
  assert.ok(error instanceof QueryRefusedError);
  assert.deepEqual(deletes, []);
});

it('a purge of entities reports its progress when it fails', async () => {
  let batches = 0;
  const { error, progress, world } = await run({
    query: 'type=T',
    answer: ({ method }) => (method === 'POST' && (batches += 1) > 2 ? replyOf(401) : undefined),
    limits: { concurrency: 1 },
  });
  assert.ok(error instanceof BrokerRefusedError);
  assert.deepEqual([progress?.matched, progress?.deleted, progress?.hasBegun], [25, 20, true]);
  assert.equal(world.size, 5);
});

it('a broker that seems to be away is asked the smallest query that there is', async () => {
  let isAway = false;
  const { error, sent } = await run({
    query: 'type=T',
    answer: ({ method }) => {
      isAway ||= method === 'POST';
      if (isAway) throw new BrokerUnreachableError('The broker could not be reached: x.', false);
      return undefined;
    },
  });
  assert.ok(error instanceof BrokerFailedError && error.reason === 'away-too-long');
  assert.ok(sent.slice(-3).every((request) => request === 'GET /entities?type=T&limit=1'));
});

const nothing = (request: BrokerRequest, query: URLSearchParams) =>
  query.get('type') === 'There' && !query.has('q') && !query.has('attrs')
    ? undefined
    : request.path.includes('limit')
      ? replyOf(200, [], { 'ngsild-results-count': '0' })
      : replyOf(200, []);
const hintsOf = async (query: string, answer: HandMadePurge['answer'] = nothing) => {
  const { report, sent } = await run({ query, answer });
  assert.equal(report?.requests, sent.length);
  return report.hints;
};

it('the hints of a dry run name missing types, then missing attributes, with five queries at most', async () => {
  assert.deepEqual(await hintsOf('type=Gone&dryRun=true'), ['No entity of type Gone is listed.']);
  assert.deepEqual(await hintsOf('type=There&q=n>1&dryRun=true'), [
    'No entity of type There has the attribute n.',
  ]);
  assert.deepEqual(await hintsOf('type=There&q=n>1&drop=z&dryRun=true'), [
    'No entity of type There has the attribute z.',
    'No entity of type There has the attribute n.',
  ]);
  assert.deepEqual(await hintsOf('type=There&q=n>1&keep=z&dryRun=true'), [
    'No entity of type There has the attribute n.',
  ]);
  assert.equal((await hintsOf('type=A,B,C,D,E,F,G&dryRun=true'))?.length, 5);
  assert.equal((await hintsOf('type=There&attrs=a,b,c,d,e,f,g&dryRun=true'))?.length, 4);
});

it('only a dry run that matched nothing gives hints', async () => {
  assert.equal(await hintsOf('type=Gone'), undefined);
  assert.equal(await hintsOf('type=T&dryRun=true', () => undefined), undefined);
});

it('a dry run gives only hints that are certain', async () => {
  const one = [{ id: 'urn:x' }];
  for (const reply of [
    replyOf(200, one),
    replyOf(200, [], { 'ngsild-results-count': '3' }),
    replyOf(200, [], { link: '<x>; rel="next"' }),
    replyOf(200, [], { 'ngsild-warning': '199 - "a source is away"' }),
    replyOf(400),
    replyOf(500),
    replyOf(200, '<html>'),
  ]) {
    const answer: HandMadePurge['answer'] = (request, query) =>
      query.has('scopeQ') ? replyOf(200, [], { 'ngsild-results-count': '0' }) : reply;
    assert.deepEqual(await hintsOf('type=T&scopeQ=/a&dryRun=true', answer), [], JSON.stringify(reply.status));
  }
});

it('a purge of attributes takes every match where the broker counts only the page, and matches move up', async () => {
  const all = Array.from({ length: 100 }, (_, n) => `urn:t:${n}`);
  const gone = new Set<string>();
  const { report } = await run({
    query: 'type=T&q=a&drop=a',
    answer: ({ method, path }, query) => {
      if (method === 'DELETE') {
        gone.add(decodeURIComponent(path.split('/')[2] ?? ''));
        return replyOf(204);
      }
      if ([...query.values()].some((value) => value.includes('PurgeProbe'))) return replyOf(200, []);
      const offset = Number(query.get('offset') ?? 0);
      const page = all
        .filter((id) => !gone.has(id))
        .slice(offset, offset + Number(query.get('limit') ?? 1000))
        .map((id) => ({ id, type: 'T', a: {} }));
      return replyOf(200, page, { 'ngsild-results-count': String(page.length) });
    },
  });
  assert.deepEqual([report?.deleted, report?.arrived, gone.size], [100, 0, 100]);
});

it('a purge that matches nothing proves no filter', async () => {
  for (const query of ['type=T&q=n>1', 'type=T&drop=a', 'type=T&dryRun=true']) {
    const { sent, report } = await run({ query, matches: 0 });
    assert.equal(report?.matched, 0);
    assert.ok(!sent.some((line) => /PurgeProbe/.test(line)), sent.join());
  }
});

it('a purge that matches one entity is refused where the broker ignores a filter, under any strategy', async () => {
  for (const strategy of ['auto', 'batch', 'single', 'native'] as const) {
    for (const query of ['type=T', 'type=T&dryRun=true', 'type=T&drop=a', 'type=T&maxAffected=1']) {
      const { error, deletes } = await run({ query, matches: 1, honours: [], limits: { strategy } });
      assert.ok(error instanceof FilterIgnoredError, `${strategy} ${query}: ${String(error)}`);
      assert.deepEqual(deletes, []);
    }
  }
});

it('a purge that ends early tells what it could not delete until then', async () => {
  let lists = 0;
  const { error, events } = await run({
    query: 'type=T',
    limits: { strategy: 'single' },
    answer: ({ method, path }, given) => {
      if (method === 'DELETE' && path.endsWith('%3A1')) return replyOf(423, { title: 'Locked' });
      if (method !== 'GET' || given.get('offset') === null) return undefined;
      return (lists += 1) > 3 ? replyOf(401) : undefined;
    },
  });
  assert.ok(error !== undefined);
  const told = events.flatMap((event) => (event.type === 'failures' ? event.errors : []));
  assert.deepEqual(
    told.map(({ entityId, error: { status } }) => [entityId, status]),
    [['urn:t:1', 423]],
  );
});
