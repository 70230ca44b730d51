import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { before, olderThan, parseSpan } from '../../../sidecar/cli/older-than.js';

const NOW = Date.UTC(2026, 2, 31, 12, 0, 0, 500);
const T = '2026-01-01T00:00:00Z';

describe('--older-than', () => {
  it('--older-than reckons with days, and with the calendar where months have no fixed length', () => {
    for (const [span, time] of [
      ['90d', '2025-12-31T12:00:00Z'],
      ['P90D', '2025-12-31T12:00:00Z'],
      ['12h', '2026-03-31T00:00:00Z'],
      ['30min', '2026-03-31T11:30:00Z'],
      ['45s', '2026-03-31T11:59:15Z'],
      ['2w', '2026-03-17T12:00:00Z'],
      ['P2W', '2026-03-17T12:00:00Z'],
      ['1mo', '2026-02-28T12:00:00Z'],
      ['P1M', '2026-02-28T12:00:00Z'],
      ['1y', '2025-03-31T12:00:00Z'],
      ['25mo', '2024-02-29T12:00:00Z'],
      ['P1Y2M3DT4H5M6S', '2025-01-28T07:54:54Z'],
    ] as const) {
      assert.equal(before(NOW, parseSpan(span)), time, span);
    }
  });

  it('--older-than refuses what could be meant in two ways, or is no time at all', () => {
    for (const text of [
      '90',
      '5m',
      '-1d',
      '1.5d',
      '0d',
      'P0D',
      'P',
      'PT',
      'P1DT',
      '1 d',
      'yesterday',
      '',
      '9999999d',
    ])
      assert.throws(() => parseSpan(text), { exitCode: 2 }, text);
    assert.throws(() => before(NOW, parseSpan('99999y')), { exitCode: 2 });
  });

  it('--older-than narrows entities by q, and keeps the q that is there as a whole', () => {
    assert.equal(olderThan('type=A', 'modifiedAt', T, false), `type=A&q=modifiedAt%3C${T}`);
    assert.equal(
      olderThan('q=a|b&type=A', 'speed.observedAt', T, false).replaceAll('%3C', '<'),
      `q=(a|b)%3Bspeed.observedAt<${T}&type=A`,
    );
  });

  it('--older-than narrows temporal entities by a time filter', () => {
    assert.equal(
      olderThan('type=A', 'observedAt', T, true),
      `type=A&timerel=before&timeAt=${T}&timeproperty=observedAt`,
    );
    assert.equal(
      olderThan('type=A', 'speed.observedAt', T, true),
      `type=A&attrs=speed&timerel=before&timeAt=${T}&timeproperty=observedAt`,
    );
  });

  it('--older-than refuses a query or --by that would mean something else', () => {
    for (const [query, by, isTemporal] of [
      ['type=A', 'observedAt', false],
      ['type=A&q=a&q=b', 'modifiedAt', false],
      ['type=A', 'speed', true],
      ['type=A&timerel=after', 'observedAt', true],
      ['type=A&attrs=b', 'speed.observedAt', true],
    ] as const)
      assert.throws(() => olderThan(query, by, T, isTemporal), { exitCode: 2 }, `${query} ${by}`);
  });
});
