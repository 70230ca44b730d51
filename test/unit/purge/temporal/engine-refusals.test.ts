import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { EmbeddedBroker } from '../../../../sidecar/embedded-broker/index.js';
import {
  createBrokerClient,
  type BrokerClient,
  type BrokerRequest,
} from '../../../../sidecar/purge/broker/index.js';
import {
  BrokerRefusedError,
  FilterIgnoredError,
  PurgeStoppedError,
  QueryRefusedError,
  TooManyMatchesError,
  UncountableError,
  UnsupportedRequestError,
} from '../../../../sidecar/purge/errors.js';
import {
  closeBrokers,
  altering,
  brokerWith,
  deletes,
  hour,
  idOf,
  kept,
  oneInEach,
  purge,
  purged,
  stored,
} from './histories.js';

after(closeBrokers);

it('a purge by value without a time filter is refused at a broker that shows matching instances only', async () => {
  const history = [0, 1, 2, 3].map((at) => stored({ hour: at }));
  for (const qShowsMatchesOnly of [true, false]) {
    const broker = await brokerWith(history, { qShowsMatchesOnly });
    for (const query of ['type=T&q=a>1', 'type=T&q=a>1&attrs=a', 'type=T&q=a>1&dryRun=true']) {
      const all = kept(broker);
      const { error } = await purge(broker, query);
      assert.equal(error instanceof UnsupportedRequestError, qShowsMatchesOnly, query);
      if (qShowsMatchesOnly) assert.deepEqual([kept(broker), deletes(broker)], [all, 0]);
    }
  }
});

/** A broker that shows the same page for every offset, of the given queries. */
function withoutOffsets(
  client: BrokerClient,
  isMeant: (request: BrokerRequest) => boolean = () => true,
): BrokerClient {
  return {
    send: (request) =>
      client.send(isMeant(request) ? { ...request, path: request.path.replace(/&offset=\d+/, '') } : request),
    close: () => client.close(),
  };
}

const clientOf = ({ url }: EmbeddedBroker) =>
  createBrokerClient({ brokerUrl: new URL(url), timeoutMs: 10_000 });

const BURST = Array.from({ length: 20 }, () => stored({ hour: 1 }));
const QUERY = `type=T&timerel=before&timeAt=${hour(8)}`;

it('a bounded temporal purge is refused if instances are hidden, and a dry run gives a lower bound', async () => {
  const broker = await brokerWith(BURST, { instancePageSize: 5 });
  const { error } = await purge(broker, `${QUERY}&maxAffected=1000`);
  assert.ok(error instanceof UncountableError, String(error));
  assert.deepEqual([kept(broker).length, deletes(broker)], [20, 0]);
  const preview = await purged(broker, `${QUERY}&dryRun=true`);
  assert.deepEqual([preview.isLowerBound, preview.matched], [true, 5]);
  assert.equal((await purged(broker, QUERY)).deleted, 20);
});

it('a dry run of whole histories gives a lower bound if the broker shows the same page for every offset', async () => {
  const broker = await brokerWith(oneInEach(3), { noCount: true });
  const preview = await purged(broker, 'type=T&dryRun=true');
  assert.deepEqual([preview.matched, preview.isLowerBound], [3, undefined]);
  const client = withoutOffsets(clientOf(broker));
  const partial = await purged(broker, 'type=T&dryRun=true', { client });
  assert.deepEqual([partial.matched, partial.isLowerBound], [3, true]);
});

it('a bounded purge of whole histories expects from each query only what this query listed or counted', async () => {
  const history = oneInEach(5);
  const broker = await brokerWith(history, { timePropertiesMissing: ['createdAt'] });
  assert.equal((await purged(broker, 'type=T&maxAffected=5')).deleted, 5);
  const pages = broker.requests.entries
    .filter(({ method, search }) => method === 'GET' && !search.includes('Probe'))
    .map(({ search }) => new URLSearchParams(search))
    .map((query) => `${query.get('timeproperty') ?? 'observedAt'} ${query.get('timerel') ?? ''}`);
  const listed = (name: string) => pages.filter((page) => page === name).length;
  // One page for the bound and one for the deletes, and one more for each query that shows entities.
  assert.deepEqual(
    ['createdAt after', 'modifiedAt after', 'observedAt after', 'observedAt before'].map(listed),
    [2, 4, 3, 2],
  );
});

it('a bounded purge of whole histories does not wait at its first query for matches of later ones', async () => {
  const history = oneInEach(5);
  const broker = await brokerWith(history, { noCount: true });
  const isFirst = ({ path }: BrokerRequest) => path.includes('timeproperty=createdAt');
  // The first query shows two of the five, on the same page for every offset, so it cannot be listed whole.
  const shown = history.slice(0, 2).map(({ entity }) => idOf(entity));
  const showingTwo = altering(broker, (request, reply) => {
    if (!isFirst(request) || request.path.includes('Probe')) return reply;
    const all = JSON.parse(reply.body) as readonly { readonly id: string }[];
    return { ...reply, body: JSON.stringify(all.filter(({ id }) => shown.includes(id))) };
  });
  const client = withoutOffsets(showingTwo, isFirst);
  const { matched, deleted } = await purged(broker, 'type=T&maxAffected=5', { client });
  assert.deepEqual([matched, deleted], [5, 5]);
  const looks = broker.requests.entries.filter(({ search }) => search.includes('timeproperty=createdAt'));
  assert.equal(looks.length, 7);
});

it('a dry run of parts gives a lower bound if any of its queries omits an entity, including the first', async () => {
  for (const property of ['createdAt', 'modifiedAt']) {
    const broker = await brokerWith(oneInEach(3), { noCount: true });
    for (const query of ['type=T', 'type=T&attrs=a', 'type=T&datasetId=@none']) {
      const client = withoutOffsets(clientOf(broker), ({ path }) =>
        path.includes(`timeproperty=${property}`),
      );
      const { matched, isLowerBound } = await purged(broker, `${query}&dryRun=true`, { client });
      assert.deepEqual([matched, isLowerBound], [3, true], `${query} ${property}`);
    }
  }
});

it('a temporal dry run samples a hundred entities and items, and counts them all', async () => {
  const broker = await brokerWith(oneInEach(130));
  for (const query of ['type=T', 'type=T&attrs=a', `type=T&timerel=before&timeAt=${hour(8)}`]) {
    const { matched, sample, items } = await purged(broker, `${query}&dryRun=true`);
    assert.deepEqual([matched, sample.length], [130, 100], query);
    assert.equal(items?.length, query === 'type=T' ? undefined : 100, query);
  }
});

it('a temporal purge lists at most one match more than the maximum if the broker does not count', async () => {
  const broker = await brokerWith(oneInEach(130), { noCount: true });
  const { error } = await purge(broker, 'type=T&maxAffected=3');
  assert.ok(error instanceof TooManyMatchesError);
  const asked = broker.requests.entries.map(({ search }) => new URLSearchParams(search).get('limit'));
  assert.ok(asked.every((limit) => limit === null || Number(limit) <= 100));
  assert.equal(asked[0], '4');
});

it('a temporal purge takes every match even if the broker counts only the page, and matches move up', async () => {
  for (const parts of ['&attrs=a', `&timerel=before&timeAt=${hour(8)}`]) {
    const broker = await brokerWith(oneInEach(24));
    const client = altering(broker, ({ method }, reply) => {
      if (method !== 'GET' || !reply.headers.has('ngsild-results-count')) return reply;
      const count = String((JSON.parse(reply.body) as unknown[]).length);
      return { ...reply, headers: new Map([...reply.headers, ['ngsild-results-count', count]]) };
    });
    const limits = { pageSize: 2, pageSizeMax: 2 };
    const { deleted, arrived } = await purged(broker, `type=T${parts}`, { client, limits });
    assert.deepEqual([deleted, arrived, kept(broker)], [24, 0, []], parts);
  }
});

describe('a temporal purge at a broker that refuses', () => {
  const HISTORY = oneInEach(3);

  it('a time property that the broker refuses is not tried again', async () => {
    const broker = await brokerWith(HISTORY, { refusedTimeProperties: ['createdAt'] });
    assert.equal((await purged(broker, 'type=T&maxAffected=5')).deleted, 3);
    const refused = broker.requests.entries.filter(({ search }) => search.includes('createdAt'));
    const paged = refused.filter(({ search }) => !search.includes('Probe') && search.includes('count=true'));
    assert.ok(paged.length <= 2, `${paged.length} pages`);
  });

  for (const status of [401, 403, 404, 405, 406, 400, 422, 501]) {
    const isOfQuery = [400, 422, 501].includes(status);
    const what = isOfQuery ? 'continues with the others' : 'deletes nothing, and passes the error on';
    it(`a temporal purge that is refused by one time property with ${status} ${what}`, async () => {
      const broker = await brokerWith(HISTORY);
      const { error, report } = await purge(broker, 'type=T', {
        client: altering(broker, (request, reply) =>
          request.path.includes('timeproperty=createdAt') ? { ...reply, status, body: '{}' } : reply,
        ),
      });
      assert.deepEqual([report?.deleted, kept(broker).length], isOfQuery ? [3, 0] : [undefined, 3]);
      if (isOfQuery) return;
      assert.ok(error instanceof BrokerRefusedError, String(error));
      assert.deepEqual([error.problem.status, deletes(broker)], [status, 0]);
    });
  }
});

describe('a temporal purge at a broker that shows more than requested', () => {
  const HISTORY = oneInEach(3, { dataset: 'urn:ds:1' });
  const renaming = (broker: EmbeddedBroker, from: string, to: string) =>
    altering(broker, (request, reply) =>
      request.method === 'GET' ? { ...reply, body: reply.body.replaceAll(from, to) } : reply,
    );

  for (const time of ['', `&timerel=before&timeAt=${hour(8)}`]) {
    it(`a temporal purge deletes no attribute by another name, and no other dataset (${time === '' ? 'whole' : 'instances'})`, async () => {
      const broker = await brokerWith(HISTORY);
      const renamed = await purge(broker, `type=T&attrs=a${time}`, {
        client: renaming(broker, '"a"', '"x"'),
      });
      assert.ok(renamed.error instanceof QueryRefusedError, String(renamed.error));
      assert.equal(renamed.error.parameter, 'attrs');
      const moved = await purge(broker, `type=T&datasetId=urn:ds:1${time}`, {
        client: renaming(broker, 'urn:ds:1', 'urn:ds:9'),
      });
      assert.ok(moved.error instanceof FilterIgnoredError, String(moved.error));
      assert.equal(moved.error.parameter, 'datasetId');
      assert.deepEqual([kept(broker).length, deletes(broker)], [3, 0]);
    });
  }
});

it('a stopped temporal purge advises to continue by id and time only if deletes may change which entities match', async () => {
  const time = `&timerel=before&timeAt=${hour(8)}`;
  for (const [query, isByValue] of [
    [`type=T&q=a>=0${time}`, true],
    [`type=T${time}`, false],
    ['type=T&attrs=a', false],
    ['type=T&q=a>=0&attrs=a', false],
  ] as const) {
    const broker = await brokerWith(oneInEach(30));
    const stop = new AbortController();
    const { error } = await purge(broker, query, {
      signal: stop.signal,
      client: altering(broker, ({ method }, reply) => {
        if (method === 'DELETE') stop.abort();
        return reply;
      }),
    });
    assert.ok(error instanceof PurgeStoppedError, String(error));
    assert.equal(/continue by id and time/.test(error.message), isByValue, query);
    assert.equal(error.cause instanceof PurgeStoppedError, isByValue, query);
    assert.ok(deletes(broker) < 30);
  }
});

it('a temporal purge passes on any other error unchanged, also by value', async () => {
  const broker = await brokerWith([stored({}), stored({ entity: 1 })]);
  const { error } = await purge(broker, `type=T&q=a>=0&timerel=before&timeAt=${hour(8)}`, {
    client: altering(broker, (request, reply) =>
      request.method === 'DELETE' ? { ...reply, status: 501, body: '{}' } : reply,
    ),
  });
  assert.ok(error instanceof BrokerRefusedError, String(error));
});
