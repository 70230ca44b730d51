import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RateLimiter } from '../../../../sidecar/purge/requests/index.js';
import { MishapBroker, type Mishap } from '../../../support/mishap-broker.js';
import { createTestClock, purge } from '../../../support/purge-harness.js';
import { replyOf } from '../../../support/replies.js';
import { seededRandom } from '../../../support/stub-broker-state.js';

interface Sent {
  readonly atMs: number;
  readonly ids: number;
}

/** A purge of things at a rate, with the deletes that were sent, and their times. */
async function pacedPurge(options: {
  readonly entities: number;
  readonly perSecond: number;
  readonly hasBatches?: boolean;
  readonly mishaps?: readonly Mishap[];
  readonly atProgress?: (setRate: (rate: number | undefined) => void, deleted: number, nowMs: number) => void;
  /** The purge is stopped after this many deletes. */
  readonly endsAfter?: number;
}): Promise<{ readonly sent: readonly Sent[]; readonly left: number }> {
  const clock = createTestClock(0);
  const { entities, hasBatches = true, mishaps = [], perSecond } = options;
  const broker = new MishapBroker({
    clock,
    entities,
    mishaps,
    hasBatches,
    restartMs: 1000,
    dies: false,
    random: seededRandom(1),
  });
  const rateLimiter = new RateLimiter(clock, perSecond);
  const sent: Sent[] = [];
  const stop = new AbortController();
  const outcome = await purge({ url: new URL('http://broker') }, 'type=Thing', {
    clock,
    rateLimiter,
    signal: stop.signal,
    client: {
      send: (request) => {
        if (request.method === 'DELETE') sent.push({ atMs: clock.now(), ids: 1 });
        if (request.method === 'POST')
          sent.push({ atMs: clock.now(), ids: (JSON.parse(request.jsonBody ?? '[]') as unknown[]).length });
        return broker.send(request);
      },
      close: async () => {},
    },
    onEvent: (event) => {
      if (event.type !== 'progress') return;
      options.atProgress?.((rate) => rateLimiter.setRate(rate), event.deleted, clock.now());
      if (event.deleted >= (options.endsAfter ?? Infinity)) stop.abort();
    },
  });
  if (options.endsAfter === undefined) assert.equal(outcome.error, undefined);
  return { sent, left: broker.store.size };
}

/** Items whose delete was sent in a span of time, excluding its end. */
const between = (sent: readonly Sent[], fromMs: number, toMs: number): number =>
  sent.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).reduce((sum, { ids }) => sum + ids, 0);

for (const hasBatches of [true, false]) {
  const how = hasBatches ? 'in batches' : 'one by one';
  it(`a purge at a rate deletes as many in five seconds as the rate allows, within 15 %, ${how}`, async () => {
    const { sent, left } = await pacedPurge({ entities: 600, perSecond: 40, hasBatches });
    assert.equal(left, 0);
    const inFive = between(sent, 1500, 6500);
    assert.ok(Math.abs(inFive - 200) <= 30, String(inFive));
  });
}

it('a purge at a rate never sends a batch that is larger than what a second allows', async () => {
  const { sent } = await pacedPurge({ entities: 50, perSecond: 7 });
  assert.ok(
    sent.every(({ ids }) => ids <= 7),
    JSON.stringify(sent),
  );
});

it('a purge at a rate counts every try, retries included', async () => {
  const mishaps = new Array<Mishap>(30)
    .fill('none')
    .flatMap((one, n): Mishap[] => [one, n > 5 ? '500-after' : one]);
  const { sent, left } = await pacedPurge({ entities: 100, perSecond: 10, mishaps });
  assert.equal(left, 0);
  const end = sent.at(-1)?.atMs ?? 0;
  const all = sent.reduce((sum, { ids }) => sum + ids, 0);
  assert.ok(all <= 10 + (end * 10) / 1000 + 10, `${String(all)} in ${String(end)} ms`);
});

for (const hasBatches of [true, false]) {
  it(`a purge whose rate is lowered sends at the new rate at once, including waiting deletes (${hasBatches ? 'batches' : 'one by one'})`, async () => {
    let loweredMs: number | undefined;
    const { sent, left } = await pacedPurge({
      entities: 700,
      perSecond: 100,
      hasBatches,
      atProgress: (setRate, deleted, nowMs) => {
        if (deleted < 200 || loweredMs !== undefined) return;
        loweredMs = nowMs;
        setRate(1);
      },
      endsAfter: 205,
    });
    const at = loweredMs ?? NaN;
    for (const seconds of [0, 1, 2, 4]) {
      const since = between(sent, at + 1, at + seconds * 1000 + 1);
      assert.ok(since <= seconds + 1, `${String(since)} deletes in ${String(seconds)} s`);
    }
    assert.ok(left > 400, `${String(left)} left`);
  });
}

it('a purge at a rate follows a rate that is changed while it runs', async () => {
  const { sent } = await pacedPurge({
    entities: 1000,
    perSecond: 20,
    atProgress: (setRate, deleted) => {
      if (deleted >= 200) setRate(100);
    },
  });
  const changed = sent.findIndex(
    (_, at) => sent.slice(0, at + 1).reduce((sum, { ids }) => sum + ids, 0) > 260,
  );
  const fromMs = sent[changed]?.atMs ?? NaN;
  const inThree = between(sent, fromMs + 1000, fromMs + 4000);
  assert.ok(Math.abs(inThree - 300) <= 45, String(inThree));
});

/** A purge of attributes of entities that `q` selects: the age of the list at the first delete of each entity. */
async function agesOfFirstDeletes(perSecond: number): Promise<readonly number[]> {
  const clock = createTestClock(0);
  const world = new Map(Array.from({ length: 9 }, (_, n) => [`urn:t:${n}`, new Set(['a', 'b', 'c'])]));
  const listedMs = new Map<string, number>();
  const ages = new Map<string, number>();
  const list = (given: URLSearchParams) => {
    const isImpossible = given.toString().includes('NoSuch');
    const matches = isImpossible ? [] : [...world].filter(([, names]) => names.size > 0);
    const [offset, limit] = [Number(given.get('offset') ?? 0), Number(given.get('limit'))];
    const shown = matches.slice(offset, offset + limit);
    for (const [id] of shown) listedMs.set(id, clock.now());
    const body = shown.map(([id, names]) => ({
      id,
      ...Object.fromEntries([...names].map((name) => [name, { type: 'Property', value: 2 }])),
    }));
    return replyOf(200, body, { 'ngsild-results-count': String(matches.length) });
  };
  const { report } = await purge({ url: new URL('http://broker') }, 'type=Thing&q=n>1&drop=a,b,c', {
    clock,
    rateLimiter: new RateLimiter(clock, perSecond),
    client: {
      send: async ({ method, path }) => {
        const [resource = '', query = ''] = path.split('?');
        if (method === 'GET') return list(new URLSearchParams(query));
        const [, , id = '', , name = ''] = resource.split('/').map(decodeURIComponent);
        if (!ages.has(id)) ages.set(id, clock.now() - (listedMs.get(id) ?? -Infinity));
        world.get(id)?.delete(name);
        return replyOf(204);
      },
      close: async () => {},
    },
  });
  assert.deepEqual([report?.deleted, report?.failed, ages.size], [27, 0, 9]);
  return [...ages.values()];
}

it('a removal at a rate from entities that q selects starts each entity within two seconds after it was listed', async () => {
  const ages = await agesOfFirstDeletes(1);
  assert.ok(Math.max(...ages) <= 2000, JSON.stringify(ages));
});
