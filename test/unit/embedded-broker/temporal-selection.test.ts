import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readSelection } from '../../../sidecar/embedded-broker/entity-query.js';
import { temporalEntityQuery } from '../../../sidecar/embedded-broker/temporal-selection.js';
import { observed, storedHistory, timeQuery } from './temporal-entities.js';

const point = (x: number) => ({ value: { type: 'Point', coordinates: [x, 0] } });
const { entity } = storedHistory({
  n: [observed(1, 5), observed(2, 20), observed(3, 7), observed(9, 99)],
  late: observed(9),
  timeless: { type: 'Property', value: 1 },
  location: [
    observed(2, 0, { type: 'GeoProperty', ...point(10) }),
    observed(9, 0, { type: 'GeoProperty', ...point(0) }),
  ],
});

/** Whether the entity is selected by a query on minutes 1 to 3. */
function selects(search: string, time = timeQuery(1, 4)): boolean {
  const selection = readSelection(new Map(new URLSearchParams(search)), {
    negation: 'some instance',
    mayBeWide: false,
  });
  return temporalEntityQuery(selection, time).filters.every((filter) => filter(entity));
}
const q = (text: string) => `q=${encodeURIComponent(text)}`;

it('a temporal query selects by an instance of any attribute in the interval, or of a named one', () => {
  assert.equal(selects('type=T'), true);
  assert.equal(selects('type=T', timeQuery(4, 9)), false);
  assert.equal(selects('type=T', timeQuery(4, 10)), true);
  assert.equal(selects('attrs=n'), true);
  assert.equal(selects('attrs=late'), false);
  assert.equal(selects('attrs=late,n'), true);
  assert.equal(selects('attrs=x'), false);
  assert.equal(selects('attrs=toString,__proto__'), false);
});

it('a temporal query selects no instance without the time property', () => {
  assert.equal(selects('attrs=timeless', { ...timeQuery(0, 99) }), false);
  const before = { ...timeQuery(0, 0), range: { from: -Number.MAX_VALUE, to: Infinity } };
  assert.equal(selects('attrs=timeless', before), false);
  assert.equal(selects('attrs=timeless', { ...before, property: 'createdAt' }), true);
});

it('a term of q matches when some instance in the interval fulfils it, a negated one too', () => {
  assert.equal(selects(q('n>15')), true);
  assert.equal(selects(q('n>20')), false, 'the greater one lies outside');
  assert.equal(selects(q('n==5;n==20')), true);
  assert.equal(selects(q('n!=5')), true);
  assert.equal(selects(q('n!=5'), timeQuery(1, 2)), false);
  assert.equal(selects(q('late')), false);
  assert.equal(selects(q('!late;n')), true);
  assert.equal(selects(q('n.observedAt<2026-01-01T00:02:00Z')), true);
  assert.equal(selects(q('late==9|n==5')), true);
});

it('a temporal geoquery is checked on instances in the interval', () => {
  const within = (x: number) =>
    `georel=within&geometry=Polygon&coordinates=[[[${x - 1},-1],[${x + 1},-1],[${x + 1},1],[${x - 1},1],[${x - 1},-1]]]`;
  assert.equal(selects(within(10)), true);
  assert.equal(selects(within(0)), false);
});

it('type, id and scope of a temporal query are checked on the entity itself', () => {
  assert.equal(selects('type=T;U&local=true'), false);
  assert.equal(selects('type=(T|U)'), true);
  assert.equal(selects('type=T&idPattern=:2$'), false);
  assert.equal(selects('type=T&scopeQ=/A'), false);
});
