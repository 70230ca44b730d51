import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { parseRetryAfter } from '../../../../sidecar/purge/requests/retry-policy.js';

// A zone that is never GMT: dates without a zone must not be read in local time.
process.env['TZ'] = 'Asia/Tokyo';

const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 7);

it('parseRetryAfter reads delay-seconds, blanks around them allowed', () => {
  assert.equal(parseRetryAfter('0', NOW_MS), 0);
  assert.equal(parseRetryAfter('120', NOW_MS), 120_000);
  assert.equal(parseRetryAfter('  5 ', NOW_MS), 5000);
});

it('parseRetryAfter reads all three forms of an HTTP date as GMT, whatever the local time zone', () => {
  for (const date of [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    'Sun Nov  6 08:49:37 1994 GMT',
  ]) {
    assert.equal(parseRetryAfter(date, NOW_MS), 30_000, date);
  }
});

it('parseRetryAfter takes a date in the past for now', () => {
  assert.equal(parseRetryAfter('Sat, 05 Nov 1994 08:49:37 GMT', NOW_MS), 0);
});

it('parseRetryAfter does not guess at anything else', () => {
  for (const value of [
    '',
    ' ',
    'on Mon, 07 Nov 1994 08:49:37 GMT',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '+5',
    '2 apples',
    'soon',
    'Sun',
    'Sunflower',
    '1, 2',
  ]) {
    assert.equal(parseRetryAfter(value, NOW_MS), undefined, JSON.stringify(value));
  }
  assert.equal(parseRetryAfter('2026-01-01T00:00:00Z', NOW_MS), undefined);
});

it('parseRetryAfter returns undefined or a time that is not negative, whatever the header holds', () => {
  const values = fc.oneof(
    fc.string(),
    fc.nat().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    fc.string().map((rest) => `Mon${rest}`),
  );
  fc.assert(
    fc.property(values, (value) => {
      const ms = parseRetryAfter(value, NOW_MS);
      assert.ok(ms === undefined || ms >= 0, `${value}: ${ms ?? ''}`);
    }),
  );
});
