import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { isCalendarDay, isDateTime, isUsualDateTime } from '../../../sidecar/shared/rfc3339.js';

it('the calendar has exactly the days that Date has, in all years', () => {
  const day = fc.record({
    year: fc.integer({ min: 0, max: 9999 }),
    month: fc.integer({ min: -1, max: 14 }),
    day: fc.integer({ min: -1, max: 33 }),
  });
  fc.assert(
    fc.property(day, ({ year, month, day: number }) => {
      const date = new Date(0);
      date.setUTCFullYear(year, month - 1, number);
      const isOne = date.getUTCMonth() === month - 1 && date.getUTCDate() === number;
      assert.equal(isCalendarDay(year, month, number), isOne);
    }),
  );
});

it('a usual moment is a date-time of RFC 3339 that Date can read', () => {
  const two = (max: number) => fc.integer({ min: 0, max }).map((one) => String(one).padStart(2, '0'));
  const parts = fc.tuple(
    two(13),
    two(32),
    two(25),
    two(61),
    two(61),
    fc.constantFrom('', '.5', '.123456789', '.'),
  );
  let usual = 0;
  fc.assert(
    fc.property(parts, ([month, day, hour, minute, second, fraction]) => {
      const text = `2024-${month}-${day}T${hour}:${minute}:${second}${fraction}Z`;
      if (!isUsualDateTime(text)) return;
      usual += 1;
      assert.equal(isDateTime(text), true);
      assert.equal(new Date(text).toISOString().slice(0, 19), text.slice(0, 19));
    }),
    { numRuns: 1000 },
  );
  assert.ok(usual > 100, String(usual));
  for (const text of [
    '2024-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2024-01-01 00:00:00Z',
    '2024-01-01T24:00:00Z',
  ])
    assert.deepEqual([isUsualDateTime(text), isDateTime(text)], [false, false], text);
});
