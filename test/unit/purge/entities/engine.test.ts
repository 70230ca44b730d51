import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrokerReply, BrokerRequest } from '../../../../sidecar/purge/broker/index.js';
import type { PurgeLimits, PurgeEvent } from '../../../../sidecar/purge/run/index.js';
import {
  BrokerRefusedError,
  FilterIgnoredError,
  TooManyMatchesError,
} from '../../../../sidecar/purge/errors.js';
import { purge } from '../../../support/purge-harness.js';
import { replyOf } from '../../../support/replies.js';

interface HandMadePurge {
  readonly query: string;
  /** Answers in place of the stored entities. */
  readonly answer?: (request: BrokerRequest, query: URLSearchParams) => BrokerReply | undefined;
  readonly limits?: Partial<PurgeLimits>;
  readonly matches?: number;
  /** The filters that the broker applies. */
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
  const events: PurgeEvent[] = [];
  const { report, error } = await purge({ url: new URL('http://broker.test') }, query, {
    client: { send, close: async () => {} },
    limits: { pageSize: 10, pageSizeMax: 10, batchSize: 10, concurrency: 2, ...limits },
    onEvent: (event) => events.push(event),
  });
  return {
    world,
    sent,
    events,
    error,
    report,
    progress: events.flatMap((event) => (event.type === 'progress' ? [event] : [])).at(-1),
    deletes: sent.filter((request) => !request.startsWith('GET')),
  };
}

it('a dry run deletes nothing, under any strategy', async () => {
  for (const strategy of ['auto', 'batch', 'single', 'native'] as const) {
    for (const query of ['type=T&dryRun=true', 'type=T&drop=a&dryRun=true', 'type=T&keep=a&dryRun=true']) {
      const { report, deletes, world } = await run({ query, limits: { strategy } });
      assert.deepEqual([report?.dryRun, report?.matched, report?.deleted], [true, 25, 0]);
      assert.deepEqual([report?.sample.length, deletes, world.size], [25, [], 25]);
    }
  }
});

it('a purge by the broker itself reports no progress of its own', async () => {
  const answer = ({ method }: BrokerRequest) => (method === 'DELETE' ? replyOf(409) : undefined);
  const native = await run({ query: 'type=T', answer, limits: { strategy: 'native' } });
  assert.ok(native.error instanceof BrokerRefusedError);
  assert.equal(native.progress, undefined);
  // Attributes are purged as usual.
  for (const strategy of ['native', 'auto'] as const) {
    const dropping = await run({
      query: 'type=T&drop=a',
      limits: { strategy },
      answer: ({ method }) => (method === 'DELETE' ? replyOf(405) : undefined),
    });
    assert.ok(dropping.error instanceof BrokerRefusedError);
    assert.equal(dropping.progress?.hasBegun, true);
  }
});

it('a bounded purge requests one match more than it may affect, and refuses too many before anything else', async () => {
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

it('a purge of one entity, or of many, is refused if the broker ignores a filter, under any strategy', async () => {
  const queries = ['type=T', 'type=T&dryRun=true', 'type=T&drop=a', 'type=T&keep=a', 'type=T&maxAffected=25'];
  for (const strategy of ['auto', 'batch', 'single', 'native'] as const) {
    for (const [query, matches] of queries.flatMap((each) => [[each, 1] as const, [each, 25] as const])) {
      const { error, deletes } = await run({ query, matches, honours: [], limits: { strategy } });
      assert.ok(error instanceof FilterIgnoredError, `${strategy} ${query}: ${String(error)}`);
      assert.deepEqual([error.parameter, deletes], ['type', []]);
    }
  }
});

it('a purge that ends early reports the failures until then', async () => {
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
