import assert from 'node:assert/strict';
import { it } from 'node:test';
import { namesIn, suggestNames } from '../../../console/purge/broker-names.js';
import { dailySums, isProblem } from '../../../console/overview/days.js';
import { environmentTone } from '../../../console/parts/environment.js';

const NOW = Date.parse('2026-06-15T12:00:00Z');

it('sums are by day, oldest first, and leave out older days', () => {
  const scans = [
    { createdAt: '2026-06-15T11:59:00Z', invalid: 5 },
    { createdAt: '2026-06-14T12:00:01Z', invalid: 2 },
    { createdAt: '2026-06-14T11:59:59Z', invalid: 1 },
    { createdAt: '2026-06-12T12:00:01Z', invalid: 3 },
    { createdAt: '2026-06-12T12:00:00Z', invalid: 9 },
  ];
  assert.deepEqual(
    dailySums(scans, ({ invalid }) => invalid, NOW, 3),
    [3, 1, 7],
  );
});

it('a purge needs attention if it has failed, in whole or in part, or was interrupted or refused', () => {
  const states = [
    'succeeded',
    'cancelled',
    'running',
    'failed',
    'partial',
    'interrupted',
    'refused',
  ] as const;
  assert.deepEqual(
    states.filter((state) => isProblem({ state })),
    states.slice(3),
  );
});

it('the color of an environment marks production as a warning', () => {
  const tones = ['production', 'PROD-2', 'live', 'staging', 'Madrid', 'test', 'dev-1', 'local'].map(
    environmentTone,
  );
  assert.deepEqual(tones, ['bad', 'bad', 'bad', 'warn', 'warn', 'good', 'good', 'good']);
});

it('names from the broker are suggested after the last comma, and lists of other forms suggest nothing', () => {
  assert.deepEqual(namesIn({ typeList: ['Car', 7, 'Bus'] }, 'types'), ['Car', 'Bus']);
  assert.deepEqual(namesIn({ attributeList: 'speed' }, 'attributes'), ['speed']);
  for (const other of [null, [], 'x', {}, { typeList: null }]) assert.deepEqual(namesIn(other, 'types'), []);
  assert.deepEqual(suggestNames('Car,B', ['Bus', 'Boat']), ['Car,Bus', 'Car,Boat']);
  assert.deepEqual(suggestNames('', ['Bus']), ['Bus']);
});
