import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  containment,
  parseTimeFilter,
  since,
  timeParameters,
  until,
  type TimeFilter,
} from '../../../../sidecar/purge/temporal/time-filter.js';
import { assertRefused } from '../refusals.js';

const iso = (ms: number) => new Date(ms).toISOString();
const NOON = Date.UTC(2026, 0, 1, 12);
const filterOf = (from: number | undefined, to: number | undefined): TimeFilter => ({
  property: 'observedAt',
  from: from === undefined ? undefined : iso(from),
  to: to === undefined ? undefined : iso(to),
});
const named = (filter: TimeFilter) =>
  Object.fromEntries(timeParameters(filter).map(({ name, value }) => [name, value]));

/** The standard's definition of an interval, for whole milliseconds: from inclusive, to exclusive (clause 4.11). */
function holds(filter: TimeFilter | undefined, ms: number): boolean {
  if (filter === undefined) return false;
  const { from, to } = filter;
  return (from === undefined || ms >= Date.parse(from)) && (to === undefined || ms < Date.parse(to));
}

/** Intervals around noon with at least one bound, close enough together to touch each other often. */
const moments = fc.integer({ min: -5, max: 5 }).map((offset) => NOON + offset);
const filters = fc
  .record({ from: fc.option(moments, { nil: undefined }), to: fc.option(moments, { nil: undefined }) })
  .filter(({ from, to }) => from !== to && (from === undefined || to === undefined || from < to))
  .map(({ from, to }) => filterOf(from, to));

it('timeParameters writes the filter that parseTimeFilter reads', () => {
  fc.assert(
    fc.property(filters, (filter) => {
      assert.deepEqual(parseTimeFilter(new Map(Object.entries(named(filter)))), filter);
    }),
  );
});

it('timeParameters refuses an interval without a start and an end', () => {
  assert.throws(() => timeParameters(filterOf(undefined, undefined)), RangeError);
});

it('an interval compares moments, whatever their zone and precision', () => {
  const before = filterOf(undefined, NOON);
  for (const [time, isInside] of [
    ['2026-01-01T13:00:00+01:00', true],
    ['2026-01-01T13:00:00.001+01:00', false],
    ['2026-01-01T11:00:00-02:00', false],
    ['2026-01-01T12:00:00,000Z', true],
    ['2026-01-01T11:59:59.999999Z', true],
    ['2026-01-01T12:00:00', true],
  ] as const) {
    assert.equal(containment(before)(time), isInside, time);
  }
});

it('an interval within a millisecond is valid, and is compared digit by digit, whatever the zones', () => {
  const between = (timeAt: string, endTimeAt: string) =>
    parseTimeFilter(new Map(Object.entries({ timerel: 'between', timeAt, endTimeAt })));
  const from = '2026-01-01T12:00:00.0002Z';
  const to = '2026-01-01T12:00:00.000200001Z';
  assert.deepEqual(between(from, to), { property: 'observedAt', from, to });
  assert.ok(between('2026-01-01T12:00:00.1234Z', '2026-01-01T13:00:00.1235+01:00'));
  for (const [start, end] of [
    [from, from],
    [to, from],
    ['2026-01-01T12:00:00.1234Z', '2026-01-01T13:00:00.12340+01:00'],
  ] as const)
    assertRefused(() => between(start, end), 'badRequestData', 'endTimeAt');
  const isWithin = containment({ from, to });
  for (const [time, isInside] of [
    ['2026-01-01T12:00:00.0002Z', true],
    ['2026-01-01T12:00:00.000200001Z', true],
    ['2026-01-01T12:00:00.000200002Z', false],
    ['2026-01-01T12:00:00.000199999Z', false],
    ['2026-01-01T12:00:00.000Z', true],
    ['2026-01-01T12:00:00.001Z', false],
  ] as const)
    assert.equal(isWithin(time), isInside, time);
});

it('an interval reads times more precisely than milliseconds, at either bound', () => {
  const bounds = {
    property: 'observedAt',
    from: '2026-01-01T12:00:00.0005Z',
    to: '2026-01-01T12:00:00.0015Z',
  } as const;
  for (const time of ['2026-01-01T12:00:00.0007Z', '2026-01-01T12:00:00.0012Z'])
    assert.ok(containment(bounds)(time));
  assert.ok(!containment(bounds)('2026-01-01T12:00:00.0025Z'));
});

it('an interval contains no text that is not a time', () => {
  for (const text of ['', 'now', '2026', '12', 'constructor', '2026-13-01T00:00:00Z']) {
    assert.ok(!containment(filterOf(undefined, NOON))(text), text);
  }
});

it('an interval contains exactly the times of the standard, and also its end', () => {
  fc.assert(
    fc.property(filters, moments, (filter, ms) => {
      const isEnd = filter.to !== undefined && ms === Date.parse(filter.to);
      assert.equal(containment(filter)(iso(ms)), holds(filter, ms) || isEnd);
    }),
  );
});

it('the parts since and until a time contain exactly the later and the earlier moments', () => {
  fc.assert(
    fc.property(filters, moments, moments, (filter, cut, ms) => {
      assert.equal(holds(since(filter, cut), ms), holds(filter, ms) && ms >= cut);
      assert.equal(holds(until(filter, cut), ms), holds(filter, ms) && ms < cut);
    }),
    { numRuns: 1000 },
  );
});

it('the parts since and until a time are never empty, but undefined instead', () => {
  fc.assert(
    fc.property(filters, moments, (filter, cut) => {
      for (const part of [since(filter, cut), until(filter, cut)]) {
        if (part?.from === undefined || part.to === undefined) continue;
        assert.ok(Date.parse(part.from) < Date.parse(part.to));
      }
    }),
    { numRuns: 1000 },
  );
});

it('the parts since and until a time contain the millisecond of an end, unless it is the end itself', () => {
  const until12 = (fraction: string) => ({
    ...({ property: 'observedAt', from: undefined } as const),
    to: `2026-01-01T12:00:00${fraction}Z`,
  });
  for (const fraction of ['.0005', '.0000001', '.00050'])
    assert.equal(since(until12(fraction), NOON)?.from, iso(NOON), fraction);
  for (const fraction of ['', '.0', '.000', '.0000000'])
    assert.equal(since(until12(fraction), NOON), undefined, fraction);
  assert.equal(since(until12('.0005'), NOON + 1), undefined);
});

it('the parts since and until a time keep the property, and the notation of an unchanged bound', () => {
  const from = '2026-01-01T12:00:00.0005+00:00';
  const to = '2026-01-01T14:00:00+01:00';
  const filter = { property: 'createdAt', from, to } as const;
  assert.deepEqual(since(filter, NOON + 5), { property: 'createdAt', from: iso(NOON + 5), to });
  assert.deepEqual(until(filter, NOON + 5), { property: 'createdAt', from, to: iso(NOON + 5) });
  assert.deepEqual(since(filter, NOON), filter);
  assert.deepEqual(until(filter, NOON + 3_600_000), filter);
});

it('an interval is not split at a time that a query cannot express', () => {
  for (const ms of [Date.UTC(9999, 11, 31, 23, 59, 59, 999) + 1, Date.UTC(-1, 0, 1), Date.UTC(20_000, 0)]) {
    const open = { property: 'createdAt', from: undefined, to: undefined } as const;
    assert.deepEqual(since(open, ms), open);
    assert.deepEqual(until(open, ms), open);
  }
  const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
  assert.equal(until(filterOf(NOON, undefined), last)?.to, '9999-12-31T23:59:59.999Z');
  assert.equal(since(filterOf(NOON, undefined), last)?.from, '9999-12-31T23:59:59.999Z');
});

it('the parts since and until a time begin no earlier than a bound that is more precise than a millisecond', () => {
  const from = '2026-01-01T12:00:00.0005Z';
  assert.equal(since({ property: 'observedAt', from, to: undefined }, NOON)?.from, from);
  const to = '2026-01-01T12:00:00.0015Z';
  assert.equal(until({ property: 'observedAt', from: undefined, to }, NOON + 1)?.to, iso(NOON + 1));
  assert.equal(until({ property: 'observedAt', from: undefined, to }, NOON + 2)?.to, to);
});
