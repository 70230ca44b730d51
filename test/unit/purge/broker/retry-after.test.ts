import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { parseRetryAfter } from '../../../../sidecar/purge/broker/index.js';

// A zone that is never GMT, because dates without a zone must not be read in local time.
process.env['TZ'] = 'Asia/Tokyo';

const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 7);

it('parseRetryAfter reads delay-seconds and all three forms of an HTTP date as GMT, whatever the time zone', () => {
  for (const [text, ms] of [
    ['0', 0],
    ['  120 ', 120_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 30_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 30_000],
    ['Sun Nov  6 08:49:37 1994', 30_000],
    ['Sun Nov  6 08:49:37 1994 GMT', 30_000],
    ['Sat, 05 Nov 1994 08:49:37 GMT', 0],
  ] as const)
    assert.equal(parseRetryAfter(text, NOW_MS), ms, text);
});

it('parseRetryAfter does not guess anything else', () => {
  const others = ['', ' ', '-1', '1.5', '1e3', '0x10', '+5', '2 apples', 'soon', 'Sun', 'Sunflower', '1, 2'];
  for (const text of [...others, 'on Mon, 07 Nov 1994 08:49:37 GMT', '2026-01-01T00:00:00Z'])
    assert.equal(parseRetryAfter(text, NOW_MS), undefined, JSON.stringify(text));
});

it('parseRetryAfter returns undefined or a time that is not negative, whatever the header contains', () => {
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
