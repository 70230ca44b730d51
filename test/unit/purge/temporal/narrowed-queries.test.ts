import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'node:test';
import {
  entitiesIn,
  temporalEntities,
  type PageQuery,
  type PageSource,
} from '../../../../sidecar/purge/listing/index.js';
import type { Parameter } from '../../../../sidecar/purge/query/index.js';
import { TruncationEvidence } from '../../../../sidecar/purge/temporal/instance-pages.js';
import { instanceListsOf, type AttributeInstance } from '../../../../sidecar/purge/temporal/instances.js';
import { findByNarrowedQueries, interleave } from '../../../../sidecar/purge/temporal/narrowed-queries.js';
import { timeParameters, type TimeFilter } from '../../../../sidecar/purge/temporal/time-filter.js';
import { contextOf } from '../hand-made-context.js';
import { isProbe, listerOf, pageOf, selectionOf } from '../hand-made-lister.js';

const ID = 'urn:ngsi-ld:Car:1';
const NOON = Date.UTC(2026, 0, 1, 12);
const ALL_DAY = filterOf(NOON, NOON + 1000);

/** One instance of the attribute: its time, in microseconds after noon, and the form in which the broker shows it. */
interface Stored {
  readonly at: number;
  readonly shown: Readonly<Record<string, unknown>>;
}

/** How a broker cuts a list of instances. */
interface Cut {
  readonly order: 'newest-first' | 'oldest-first';
  readonly most: number;
  /** The broker marks the cut (206). */
  readonly tells: boolean;
}

function filterOf(fromMs: number | undefined, toMs: number | undefined): TimeFilter {
  const text = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  return { property: 'observedAt', from: text(fromMs), to: text(toMs) };
}

/** A time with microseconds, which no Date can represent. */
function textOf(at: number): string {
  const ms = new Date(NOON + Math.floor(at / 1000)).toISOString().slice(0, -1);
  return `${ms}${String(((at % 1000) + 1000) % 1000).padStart(3, '0')}Z`;
}

function stored(at: number, index: number, more: object = {}): Stored {
  return { at, shown: { value: index, observedAt: textOf(at), instanceId: `urn:i:${index}`, ...more } };
}

/** Instances in an interval, in microseconds: from inclusive, to exclusive. */
function within(
  history: readonly Stored[],
  from: string | undefined,
  to: string | undefined,
): readonly Stored[] {
  const micros = (text: string) => (Date.parse(text) - NOON) * 1000;
  return history.filter(
    ({ at }) => (from === undefined || at >= micros(from)) && (to === undefined || at < micros(to)),
  );
}

function answerOf(history: readonly Stored[], { order, most, tells }: Cut, query: PageQuery) {
  const given = new Map(query.selection.map(({ name, value }) => [name, value]));
  const timeAt = given.get('timeAt');
  const isBefore = given.get('timerel') === 'before';
  const found = within(history, isBefore ? undefined : timeAt, isBefore ? timeAt : given.get('endTimeAt'));
  const sorted = found.toSorted((a, b) => (order === 'newest-first' ? b.at - a.at : a.at - b.at));
  const shown = sorted.slice(
    0,
    order === 'newest-first' ? Math.min(most, query.instances ?? Infinity) : most,
  );
  return pageOf(shown.length === 0 ? [] : [ID], {
    entities: shown.length === 0 ? [] : [{ id: ID, speed: shown.map((instance) => instance.shown) }],
    isPartial: tells && shown.length < found.length,
    limit: 1,
  });
}

const keyOf = ({ instanceId, digest }: AttributeInstance) => instanceId ?? digest ?? '';

interface Found {
  readonly first: readonly AttributeInstance[];
  /** The instances found behind, in order. */
  readonly behind: readonly string[];
  readonly hides: boolean;
  readonly asked: readonly PageQuery[];
}

interface Behind {
  readonly selection?: readonly Parameter[];
  readonly time?: TimeFilter;
  readonly evidence?: TruncationEvidence;
  readonly keepsValues?: boolean;
}

/** Queries for instances behind a list that was shown. */
async function lookBehind(
  lister: PageSource,
  instances: readonly AttributeInstance[],
  { time = ALL_DAY, ...more }: Behind = {},
): Promise<Pick<Found, 'behind' | 'hides'>> {
  const { selection = timeParameters(time), evidence = new TruncationEvidence(), keepsValues = false } = more;
  const context = { ...contextOf({ brokerQuery: { resource: temporalEntities(), selection } }), lister };
  const list = { entityId: ID, attribute: 'speed', instances };
  const behind: string[] = [];
  let hides = false;
  const onHidden = () => {
    hides = true;
  };
  const options = { keepsValues, evidence, asksBare: false, needsTimes: false, onHidden };
  for await (const found of findByNarrowedQueries(context, list, time, options))
    behind.push(...found.map(keyOf));
  return { behind, hides };
}

/** Some instances, as read from a broker's page. */
const read = (shown: unknown, property: TimeFilter['property'] = 'observedAt') =>
  instanceListsOf({ speed: shown }, property)[0]?.instances ?? [];

/** Shows a first list as a broker cuts it, and queries behind it. */
async function look(
  history: readonly Stored[],
  cut: Cut,
  time = ALL_DAY,
  others = selectionOf({ type: 'Car' }),
  { keepsValues = false, longest = 0 } = {},
): Promise<Found> {
  const { lister, asked } = listerOf((query, index) => {
    assert.ok(index < 500, 'the look goes on for ever');
    return isProbe(query) ? pageOf([]) : answerOf(history, cut, query);
  });
  const selection = [...others, ...timeParameters(time)];
  const page = answerOf(history, cut, { selection });
  const first = read(entitiesIn(page)[0]?.['speed'] ?? [], time.property);
  const evidence = new TruncationEvidence();
  evidence.note(page, Math.max(first.length, longest));
  const found = await lookBehind(lister, first, { selection, time, evidence, keepsValues });
  return { first, ...found, asked: asked.filter((query) => !isProbe(query)) };
}

/** The time filter of a query, as its values in a row. */
const timesOf = ({ selection }: PageQuery) =>
  selection
    .filter(({ name }) => /^(?:time|end)/.test(name))
    .map(({ value }) => value)
    .join(' ');

/** Instances at some milliseconds after noon. */
const at = (...ms: readonly number[]) => ms.map((each, index) => stored(each * 1000, index));
const ids = (...indexes: readonly number[]) => indexes.map((index) => `urn:i:${index}`);
const iso = (ms: number) => new Date(NOON + ms).toISOString();
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('narrowed queries for the rest of a list', () => {
  it('narrowed queries for a complete list are two: before the oldest, and from the newest on', async () => {
    const { behind, hides, asked } = await look(at(1, 5, 9), {
      order: 'oldest-first',
      most: 50,
      tells: true,
    });
    assert.deepEqual([behind, hides], [[], false]);
    assert.deepEqual(asked.map(timesOf).sort(), [
      `between ${iso(0)} ${iso(2)}`,
      `between ${iso(9)} ${iso(1000)}`,
    ]);
  });

  it('narrowed queries request one attribute of one entity, with filters by value only on request', async () => {
    const kept = { type: 'Car', datasetId: 'urn:d:1', local: 'true', csf: 'a==1' };
    const byValue = {
      q: 'speed>1',
      georel: 'within',
      geometry: 'Point',
      coordinates: '[1,2]',
      geoproperty: 'place',
    };
    const others = { ...kept, ...byValue, scopeQ: '/a', idPattern: 'Car', attrs: 'speed,color' };
    const given = selectionOf(others);
    const cut: Cut = { order: 'oldest-first', most: 1, tells: true };
    for (const keepsValues of [true, false]) {
      const { asked } = await look(at(1, 2), cut, filterOf(NOON, undefined), given, { keepsValues });
      for (const { selection, limit, instances } of asked) {
        assert.deepEqual([limit, instances], [1, 1000]);
        const untimed = selection.filter(({ name }) => !/^(?:time|end)/.test(name));
        assert.equal(new Set(selection.map(({ name }) => name)).size, selection.length);
        const expected = { ...kept, ...(keepsValues ? byValue : {}), id: ID, attrs: 'speed' };
        assert.deepEqual(Object.fromEntries(untimed.map(({ name, value }) => [name, value])), expected);
      }
    }
  });

  it('narrowed queries report hidden instances if too many share one time', async () => {
    for (const order of ['newest-first', 'oldest-first'] as const) {
      const { hides } = await look(at(3, 3, 3, 3, 3, 3), { order, most: 5, tells: true });
      assert.equal(hides, true, order);
    }
    // A list shorter than another that was shown is not cut.
    const cut: Cut = { order: 'newest-first', most: 6, tells: true };
    const whole = await look(at(3, 3, 3, 3, 3), cut, ALL_DAY, [], { longest: 6 });
    assert.deepEqual([whole.behind, whole.hides], [[], false]);
  });

  describe('narrowed queries of one millisecond', () => {
    /** A list of three instances at one time, at a broker that shows this many with lastN, and this many without. */
    async function lookAtOnce(
      all: number,
      most: number,
      bare: number,
      tells: { lastN: boolean; bare: boolean },
    ) {
      const history = at(...Array<number>(all).fill(3));
      const { lister, asked } = listerOf(({ isBare = false }) =>
        pageOf([ID], {
          entities: [{ id: ID, speed: history.slice(0, isBare ? bare : most).map(({ shown }) => shown) }],
          isPartial: isBare ? tells.bare : tells.lastN,
        }),
      );
      const evidence = new TruncationEvidence();
      evidence.note({ isPartial: false, instances: 100 }, most);
      const first = read(history.slice(0, most).map(({ shown }) => shown));
      const { hides, behind } = await lookBehind(lister, first, { evidence });
      return { hides, behind, asksBare: asked.some(({ isBare }) => isBare === true), asked };
    }

    it('narrowed queries of one millisecond leave out lastN only if the list is surely truncated', async () => {
      const whole = await lookAtOnce(3, 3, 3, { lastN: false, bare: false });
      assert.deepEqual([whole.asksBare, whole.hides, whole.behind], [false, false, []]);
      const cut = await lookAtOnce(5, 3, 5, { lastN: true, bare: false });
      assert.deepEqual([cut.asksBare, cut.hides, cut.behind], [true, false, ids(3, 4)]);
      const bare = cut.asked.find(({ isBare }) => isBare === true);
      assert.equal(bare && timesOf(bare), `between ${iso(3)} ${iso(4)}`);
    });

    it('narrowed queries of one millisecond are complete if the query without lastN shows as many, untruncated', async () => {
      const { hides, behind } = await lookAtOnce(3, 3, 3, { lastN: true, bare: false });
      assert.deepEqual([hides, behind], [false, []]);
    });

    it('narrowed queries of one millisecond report hidden instances if the query without lastN shows fewer, or is cut', async () => {
      assert.equal((await lookAtOnce(5, 3, 4, { lastN: true, bare: true })).hides, true);
      assert.equal((await lookAtOnce(5, 3, 2, { lastN: true, bare: false })).hides, true);
    });
  });

  it('narrowed queries report hidden instances if the shown ones have no time', async () => {
    for (const observedAt of [undefined, null, 'soon', 5]) {
      const timeless = range(4).map((index) => stored(index * 1000, index, { observedAt }));
      const { asked, behind, hides } = await look(timeless, { order: 'newest-first', most: 2, tells: false });
      assert.deepEqual([asked, behind, hides], [[], [], true]);
    }
  });

  it('narrowed queries work for instances without an id', async () => {
    const nameless = range(9).map((index) => stored(index * 1000, index, { instanceId: undefined }));
    const { behind, hides } = await look(nameless, { order: 'newest-first', most: 4, tells: true });
    assert.deepEqual([new Set(behind).size, behind.length, hides], [5, 5, false]);
  });

  const shown = read(at(1, 2).map((instance) => instance.shown));
  const speed = stored(9000, 9).shown;

  it('narrowed queries use only instances of their own entity, wherever it is on a page', async () => {
    const own = { id: ID, color: stored(8000, 8).shown, speed: stored(7000, 7).shown };
    const { lister } = listerOf(() =>
      pageOf(['urn:other', ID], { entities: [{ id: 'urn:other', speed }, own] }),
    );
    assert.deepEqual((await lookBehind(lister, shown)).behind, ['urn:i:7']);
  });

  it('narrowed queries end if the entity or its attribute is gone', async () => {
    for (const page of [
      pageOf([]),
      pageOf([ID]),
      pageOf(['urn:other'], { entities: [{ id: 'urn:other', speed }] }),
      pageOf([ID], { entities: [{ id: ID, color: speed }] }),
    ]) {
      const { lister } = listerOf(() => page);
      assert.deepEqual(await lookBehind(lister, shown), { behind: [], hides: false });
    }
  });
});

const micros = fc.oneof(
  fc.integer({ min: -2000, max: 12_000 }),
  fc.integer({ min: 0, max: 6 }).map((ms) => ms * 1000),
);
const histories = fc
  .array(micros, { maxLength: 40 })
  .map((times) => times.map((each, index) => stored(each, index)));
const orders = fc.constantFrom<Cut['order']>('newest-first', 'oldest-first');
const bounds = fc.constantFrom(
  filterOf(NOON, NOON + 8),
  filterOf(NOON + 2, NOON + 6),
  filterOf(NOON + 1, undefined),
  filterOf(undefined, NOON + 7),
);

async function check(history: readonly Stored[], cut: Cut, time: TimeFilter): Promise<void> {
  const { first, behind, hides } = await look(history, cut, time);
  const found = [...first.map(keyOf), ...behind];
  const all = within(history, time.from, time.to).map(({ shown }) => shown['instanceId']);
  assert.equal(new Set(found).size, found.length, 'nothing is found twice');
  for (const id of found) assert.ok(all.includes(id), 'nothing lies outside of the interval');
  if (!hides && first.length > 0) assert.deepEqual([...found].sort(), [...all].sort());
}

it('narrowed queries find all instances once, or report hidden ones, if the broker marks truncation', async () => {
  await fc.assert(
    fc.asyncProperty(
      histories,
      orders,
      fc.integer({ min: 1, max: 10 }),
      bounds,
      async (history, order, most, time) => {
        await check(history, { order, most, tells: true }, time);
      },
    ),
    { numRuns: 500 },
  );
});

it('narrowed queries find all instances once if the broker truncates silently', async () => {
  await fc.assert(
    fc.asyncProperty(
      histories,
      orders,
      fc.integer({ min: 1, max: 10 }),
      bounds,
      async (history, order, spare, time) => {
        await check(history, { order, most: crowd(history) + spare, tells: false }, time);
      },
    ),
    { numRuns: 500 },
  );
});

/** Most instances are in one millisecond, so a broker that truncates silently hides some permanently. */
function crowd(history: readonly Stored[]): number {
  const counts = new Map<number, number>();
  for (const { at: time } of history) {
    const ms = Math.floor(time / 1000);
    counts.set(ms, (counts.get(ms) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

/** Yields its values one after the other, and counts how many such sources run at a time. */
function sources(lists: readonly (readonly string[])[]) {
  const seen = { running: 0, most: 0 };
  async function* source(values: readonly string[]): AsyncGenerator<string, void> {
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    for (const value of values) {
      await new Promise((resolve) => setImmediate(resolve));
      yield value;
    }
    seen.running -= 1;
  }
  return { seen, all: lists.map(source) };
}

async function collect(values: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const value of values) found.push(value);
  return found;
}

it('interleave yields every value, each source in order, and reads a limited number of sources at a time', async () => {
  const lists = Array.from({ length: 7 }, (_, n) =>
    Array.from({ length: n }, (_value, index) => `${n}:${index}`),
  );
  const { seen, all } = sources(lists);
  const found = await collect(interleave(all, 3));
  assert.deepEqual([...found].sort(), lists.flat().sort());
  for (const list of lists) {
    assert.deepEqual(
      found.filter((value) => list.includes(value)),
      list,
    );
  }
  assert.equal(seen.most, 3);
});

it('interleave ends at once without sources', async () => {
  assert.deepEqual(await collect(interleave([], 3)), []);
});

it('interleave throws the error of a source, and leaves no other error unhandled', async () => {
  async function* failing(): AsyncGenerator<string, void> {
    await Promise.resolve();
    yield* [];
    throw new Error('broken');
  }
  const { all } = sources([['a', 'b'], ['c']]);
  await assert.rejects(collect(interleave([...all, failing(), failing()], 4)), /broken/);
});
