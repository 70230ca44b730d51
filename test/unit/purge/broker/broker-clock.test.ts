import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerClock } from '../../../../sidecar/purge/broker/index.js';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const answer = (headers: Readonly<Record<string, string>>) => ({ headers: new Map(Object.entries(headers)) });

it('the clock of the broker is known by the Date of its last answer that has one', () => {
  const clock = new BrokerClock();
  assert.equal(clock.aheadMs, undefined);
  for (const headers of [{}, { date: '' }, { date: 'yesterday' }, { date: 'undefined', age: '5' }])
    clock.note(answer(headers), NOW);
  assert.equal(clock.aheadMs, undefined);
  clock.note(answer({ date: 'Mon, 01 Jun 2026 11:00:00 GMT' }), NOW);
  assert.equal(clock.aheadMs, 3_600_000);
  clock.note(answer({}), NOW);
  assert.equal(clock.aheadMs, 3_600_000);
  clock.note(answer({ date: 'Mon, 01 Jun 2026 12:00:10 GMT' }), NOW);
  assert.equal(clock.aheadMs, -10_000);
});

it('an answer out of a cache says by its Age how old its Date is', () => {
  const clock = new BrokerClock();
  const date = 'Mon, 01 Jun 2026 11:00:00 GMT';
  clock.note(answer({ date, age: '3600' }), NOW);
  assert.equal(clock.aheadMs, 0);
  clock.note(answer({ date, age: '-1' }), NOW);
  assert.equal(clock.aheadMs, 3_600_000);
});
