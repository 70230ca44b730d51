import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { parseQ } from '../../../../sidecar/ngsi-ld/q.js';
import { QueryRefusedError } from '../../../../sidecar/purge/errors.js';
import {
  cutoffOf,
  olderThan,
  parseEntityPurgeQuery,
  parseTemporalPurgeQuery,
  queryText,
} from '../../../../sidecar/purge/index.js';
import { assertRefused } from '../refusals.js';
import { words } from '../../../support/words.js';
import { withoutSpans } from '../../ngsi-ld/print-q.js';

const NOW = Date.UTC(2026, 2, 31, 12, 0, 0, 500);
const T = '2026-01-01T00:00:00Z';

const entities = (query: string, by: string) => queryText(olderThan(query, { target: 'entities', by }, T));
const temporal = (query: string, by: string) => queryText(olderThan(query, { target: 'temporal', by }, T));
const qOf = (query: string) => new URLSearchParams(query).get('q');

it('a cutoff is a time in UTC and whole seconds, a duration before now', () => {
  for (const [duration, time] of [
    ['P90D', '2025-12-31T12:00:00Z'],
    ['PT12H', '2026-03-31T00:00:00Z'],
    ['PT30M', '2026-03-31T11:30:00Z'],
    ['P2W', '2026-03-17T12:00:00Z'],
    ['P1M', '2026-02-28T12:00:00Z'],
    ['P1Y', '2025-03-31T12:00:00Z'],
    ['P25M', '2024-02-29T12:00:00Z'],
    ['P1Y2M3DT4H5M6S', '2025-01-28T07:54:54Z'],
  ] as const)
    assert.equal(cutoffOf(NOW, duration), time, duration);
});

it('a cutoff counts the days of a time zone, which may have 23 or 25 hours', () => {
  // Berlin changes its clocks on 2026-03-29 and 2026-10-25.
  assert.equal(cutoffOf(Date.parse('2026-03-29T10:00:00Z'), 'P1D', 'Europe/Berlin'), '2026-03-28T11:00:00Z');
  assert.equal(cutoffOf(Date.parse('2026-10-25T11:00:00Z'), 'P1D', 'Europe/Berlin'), '2026-10-24T10:00:00Z');
  assert.equal(
    cutoffOf(Date.parse('2026-10-25T11:00:00Z'), 'PT24H', 'Europe/Berlin'),
    '2026-10-24T11:00:00Z',
  );
});

it('a cutoff is refused for text that is not a duration, has no length, or reaches before the year 1', () => {
  for (const duration of [
    ...words(`
      P0D P PT P1DT -P1D P-1D P1.5D 90 P1H p1d P9999Y P9999999D
    `),
    ' P1D',
  ])
    assertRefused(() => cutoffOf(NOW, duration), 'invalidRequest', 'olderThan');
  // From the last second of March 2026 to the first day of the year 1.
  assert.equal(cutoffOf(NOW, 'P2025Y2M30D'), '0001-01-01T12:00:00Z');
  for (const duration of ['P2025Y2M31D', 'P2026Y'])
    assertRefused(() => cutoffOf(NOW, duration), 'invalidRequest', 'olderThan');
});

it('a cutoff is before now for every duration that is accepted', () => {
  const amount = fc.integer({ min: 0, max: 500 });
  fc.assert(
    fc.property(amount, amount, amount, amount, (years, months, days, minutes) => {
      fc.pre(years + months + days + minutes > 0);
      const cutoff = Date.parse(
        cutoffOf(NOW, `P${years}Y${months}M${days}DT${minutes}M`, 'America/New_York'),
      );
      assert.ok(cutoff < NOW, new Date(cutoff).toISOString());
    }),
  );
});

it('an age narrows a purge of entities by q, and keeps an existing q as a whole', () => {
  assert.equal(qOf(entities('type=A', 'modifiedAt')), `modifiedAt<${T}`);
  assert.equal(qOf(entities('type=A', 'dateLastFilled')), `dateLastFilled<${T}`);
  assert.equal(qOf(entities('q=a%7Cb&type=A', 'speed.observedAt')), `(a|b);speed.observedAt<${T}`);
  assert.equal(entities('q=a%7Cb&type=A&maxAffected=5', 'modifiedAt').includes('type=A&maxAffected=5'), true);
  assert.equal(
    qOf(entities('type=A', 'https://uri.etsi.org/x.observedAt')),
    `https://uri.etsi.org/x.observedAt<${T}`,
  );
});

it('an age narrows a purge of temporal entities by a time filter', () => {
  assert.equal(temporal('type=A', 'observedAt'), `type=A&timerel=before&timeAt=${T}&timeproperty=observedAt`);
  assert.equal(temporal('type=A', 'modifiedAt'), `type=A&timerel=before&timeAt=${T}&timeproperty=modifiedAt`);
  assert.equal(temporal('type=A', 'createdAt'), `type=A&timerel=before&timeAt=${T}&timeproperty=createdAt`);
  assert.equal(
    temporal('type=A', 'speed.observedAt'),
    `type=A&attrs=speed&timerel=before&timeAt=${T}&timeproperty=observedAt`,
  );
});

it('a query narrowed by an age is accepted by purges', () => {
  for (const by of ['modifiedAt', 'createdAt', 'speed', 'speed.observedAt', 'a:b.observedAt'])
    assert.doesNotThrow(() => parseEntityPurgeQuery(entities('type=A&q=a', by)));
  for (const by of ['observedAt', 'modifiedAt', 'createdAt', 'speed.observedAt'])
    assert.doesNotThrow(() => parseTemporalPurgeQuery(temporal('type=A', by)));
});

it('a query narrowed by an age is never wider than before, whatever the brackets and operators of its q', () => {
  const q = fc.string({
    unit: fc.constantFrom('a', 'b', '(', ')', ';', '|', '<', '1', '"', '!'),
    maxLength: 12,
  });
  fc.assert(
    fc.property(q, (text) => {
      let narrowed: string | null;
      try {
        narrowed = qOf(entities(`type=A&q=${encodeURIComponent(text)}`, 'modifiedAt'));
      } catch (error) {
        assert.ok(error instanceof QueryRefusedError);
        return;
      }
      const node = parseQ(narrowed ?? '');
      assert.ok(node.kind === 'and');
      const [own, age, ...more] = node.operands;
      assert.ok(own?.kind === 'group');
      assert.deepEqual(withoutSpans(own.inner), withoutSpans(parseQ(text)));
      assert.equal(age?.kind === 'order' && age.path.names.join('.'), 'modifiedAt');
      assert.equal(more.length, 0);
    }),
    { numRuns: 2000 },
  );
});

it('an age refuses a q whose brackets would split the comparison', () => {
  for (const q of ['a)|(b', 'a;(b', 'a)', '', '"a'])
    assert.throws(() => entities(`type=A&q=${encodeURIComponent(q)}`, 'modifiedAt'), QueryRefusedError, q);
});

it('an age of instances sets the whole time filter, so a query with any part of a time filter is refused', () => {
  for (const [name, value] of [
    ['timerel', 'before'],
    ['timeAt', T],
    ['endTimeAt', T],
    ['timeproperty', 'createdAt'],
  ] as const)
    assertRefused(() => temporal(`type=A&${name}=${value}`, 'observedAt'), 'badRequestData', name);
});

it('an ambiguous age is refused', () => {
  for (const by of [
    ...words(`
      observedAt a|b speed.x speed[x] id type modifiedAt.observedAt a{b} a<5;b
    `),
    '',
  ])
    assert.throws(() => entities('type=A', by), QueryRefusedError, by);
  for (const [query, by] of [
    ['type=A', 'speed'],
    ['type=A', '.observedAt'],
    ['type=A', 'a,b.observedAt'],
    ['type=A&timerel=after&timeAt=2026-01-01T00:00:00Z', 'observedAt'],
    ['type=A&timeproperty=modifiedAt', 'observedAt'],
    ['type=A&attrs=b', 'speed.observedAt'],
    ['type=A&limit=5', 'observedAt'],
  ] as const)
    assert.throws(() => temporal(query, by), QueryRefusedError, `${query} ${by}`);
});
