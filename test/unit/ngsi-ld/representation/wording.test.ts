import assert from 'node:assert/strict';
import { it } from 'node:test';
import { dateTimeOf, isStandardName, localName } from '../../../../sidecar/ngsi-ld/representation/names.js';
import { nearestName } from '../../../../sidecar/ngsi-ld/representation/findings.js';
import { words } from '../../../support/words.js';

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

it('names follow the grammar of clause 4.6.2, or are IRIs', () => {
  for (const name of ['speed', 'Größe_1', 'ex:speed', 'https://a.example/speed', '速度'])
    assert.ok(isStandardName(name), name);
  for (const name of ['', '1a', 'a b', 'a-b', '_a', 'a:1 b']) assert.ok(!isStandardName(name), name);
});

it('the local name of an IRI is its end', () => {
  for (const type of words(`
    https://a.example/t/Car https://a.example/#Car https://a.example/t#Car ex:Car Car urn:a/b#c:Car
    urn:a#b:c/Car urn:a:b/c#Car
  `))
    assert.equal(localName(type), 'Car', type);
});

it('times in UTC and at other offsets are distinguished from other texts', () => {
  assert.deepEqual(
    words(`
        2026-01-31T12:00:00Z 2026-01-31T12:00:00,5Z 2026-01-31T12:00:00+05:30 2026-01-31T12:00:00
        2026-01-31T12:00Z
      `).map(dateTimeOf),
    ['utc', 'utc', 'offset', undefined, undefined],
  );
});
