import assert from 'node:assert/strict';
import { it } from 'node:test';
import { goodBehaviour } from '../../../sidecar/embedded-broker/behaviour.js';
import { Refusal } from '../../../sidecar/embedded-broker/refusal.js';
import { ALWAYS } from '../../../sidecar/embedded-broker/temporal-history.js';
import { readTimeQuery } from '../../../sidecar/embedded-broker/temporal-selection.js';

const read = (query: string, behaviour = {}, isNeeded = true) =>
  readTimeQuery(new Map(new URLSearchParams(query)), { ...goodBehaviour(), ...behaviour }, isNeeded);
const at = 'timeAt=2026-01-01T00:00:00Z';

it('the time query is optional for a single entity, and where timerel is ignored', () => {
  assert.deepEqual(read('', {}, false), {
    property: 'observedAt',
    relation: undefined,
    range: ALWAYS,
    lastN: undefined,
  });
  assert.deepEqual(read(at, { ignoreParameters: ['timerel'] }).range, ALWAYS);
});

it('a time query with a missing or wrong part is BadRequestData', () => {
  const wrong: readonly [string, object?][] = [
    [''],
    [at],
    ['timerel=after'],
    [`timerel=During&${at}`],
    ['timerel=after&timeAt=2026-01-01'],
    ['timerel=after&timeAt=12:00:00Z'],
    ['timerel=after&timeAt=2026-02-30T00:00:00Z'],
    ['timerel=after&timeAt=2026-01-01T00:00:00+01:00'],
    [`timerel=between&${at}`],
    [`timerel=between&${at}&endTimeAt=soon`],
    [`timerel=after&${at}&endTimeAt=2026-01-02T00:00:00Z`],
    [`timerel=after&${at}&timeproperty=seenAt`],
    [`timerel=after&${at}&lastN=0`],
    [`timerel=after&${at}&lastN=-1`],
    [`timerel=after&${at}&lastN=two`],
    [`timerel=after&${at}&lastN=2`, { noLastN: true }],
    [`timerel=after&${at}`, { refusedTimeProperties: ['observedAt'] }],
    [`timerel=after&${at}&timeproperty=deletedAt`, { refusedTimeProperties: ['deletedAt'] }],
  ];
  for (const [query, behaviour] of wrong) {
    const isRefusal = (error: unknown) =>
      error instanceof Refusal &&
      error.problem.status === 400 &&
      error.problem.type.endsWith('BadRequestData');
    assert.throws(() => read(query, behaviour), isRefusal, query);
  }
});

it('an incomplete time query for a single entity is refused', () => {
  assert.throws(() => read(at, {}, false), Refusal);
  assert.throws(() => read('endTimeAt=2026-01-01T00:00:00Z', {}, false), Refusal);
  assert.throws(() => read('timerel=during', {}, false), Refusal);
});
