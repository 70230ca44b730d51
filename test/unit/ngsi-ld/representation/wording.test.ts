import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nearestName } from '../../../../sidecar/ngsi-ld/representation/findings.js';

it('the nearest name is that of a misspelling: two letters, one in a short name, swapped neighbours, or another case', () => {
  const names = ['Property', 'GeoProperty', 'Vehicle', 'type'];
  assert.equal(nearestName('Propertty', names), 'Property');
  assert.equal(nearestName('Vehicel', names), 'Vehicle');
  assert.equal(nearestName('VEHICLE', names), 'Vehicle');
  assert.equal(nearestName('typ', names), 'type');
  assert.equal(nearestName('tpy', names), undefined);
  assert.equal(nearestName('tyqe', names), 'type');
  assert.equal(nearestName('tpye', names), 'type', 'two neighbours were swapped');
  assert.equal(nearestName('tyee', ['type', 'tyde']), 'type', 'the first of several');
  assert.equal(nearestName('taee', names), undefined, 'two letters of a name of four');
  assert.equal(nearestName('tapees', names), undefined, 'three letters');
  assert.equal(nearestName('tapad', ['typed']), 'typed', 'two letters of a name of five');
  assert.equal(nearestName('Vehicla', ['Vehicle', 'Vehicli']), 'Vehicle', 'the first of several');
  assert.equal(nearestName('Vehicli', ['Vehacla', 'Vehicle']), 'Vehicle', 'the nearest of several');
  assert.equal(nearestName('Vhcl', names), undefined);
  assert.equal(nearestName('x'.repeat(100_000), names), undefined);
  assert.equal(nearestName('x'.repeat(99), ['x'.repeat(100)]), 'x'.repeat(100));
  assert.equal(nearestName('x'.repeat(100), ['x'.repeat(101)]), undefined);
});
