import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { preferredFor } from '../../../../sidecar/schemas/json-schema/example-maker.js';

describe('the values that an example prefers', () => {
  it('the values that an example prefers are an id, each type, alone or as a list, and URIs of relationships', () => {
    const preferred = preferredFor(
      [
        { name: 'refDevice', kind: 'Relationship' },
        { name: 'hasPart', kind: 'Relationship' },
        { name: 'isIn', kind: 'Relationship' },
        { name: 'island', kind: 'Relationship' },
        { name: '---', kind: 'Relationship' },
        { name: 'speed', kind: 'Property' },
      ],
      'Vehicle',
      ['Vehicle', 'Car'],
    );
    const uris = (type: string) => [`urn:ngsi-ld:${type}:001`, [`urn:ngsi-ld:${type}:001`]];
    assert.deepEqual(
      [...preferred],
      [
        ['id', ['urn:ngsi-ld:Vehicle:001']],
        ['type', ['Vehicle', ['Vehicle'], 'Car', ['Car']]],
        ['refDevice', uris('Device')],
        ['hasPart', uris('Part')],
        ['isIn', uris('In')],
        ['island', uris('Island')],
        ['---', uris('Entity')],
      ],
    );
  });
});
