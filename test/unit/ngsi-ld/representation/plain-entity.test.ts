import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { plainKeyValues } from '../../../../sidecar/ngsi-ld/representation/plain-entity.js';
import { readEntity } from '../../../../sidecar/ngsi-ld/representation/read-entity.js';
import { mutatedEntities } from './mutations.js';

/** The member of another kind holds what would be a sub-attribute under any other name. */
const OF_TWO_KINDS = {
  id: 'urn:ngsi-ld:Vehicle:1',
  type: 'Vehicle',
  speed: { type: 'Property', value: 50, object: { type: 'Property', value: 50 } },
};

it('an entity that is read in one pass has no fault, and the same key-values form as by the careful reading', () => {
  let plain = 0;
  fc.assert(
    fc.property(mutatedEntities, fc.boolean(), (entity, unwrapped) => {
      const unwraps = () => unwrapped;
      const keyValues = plainKeyValues(entity, 'Vehicle', unwraps);
      if (keyValues === undefined) return;
      plain += 1;
      for (const form of [undefined, 'normalized', 'concise'] as const) {
        const { faults, omitted, readings, kinds } = readEntity(entity, { form, model: 'Vehicle', unwraps });
        assert.deepEqual([faults, omitted, readings.length], [[], [], 1]);
        assert.deepEqual(Object.entries(keyValues), Object.entries(readings[0].keyValues));
        assert.ok([...kinds.keys()].every((name) => Object.hasOwn(keyValues, name)));
      }
    }),
    { numRuns: 5000, examples: [[OF_TWO_KINDS, false]] },
  );
  assert.ok(plain > 500, `${plain} of 5000 entities were plain`);
});

it('a normalized entity with metadata and sub-attributes is read in one pass', () => {
  const entity = {
    '@context': ['https://example.org/context.jsonld'],
    id: 'urn:ngsi-ld:Vehicle:1',
    type: 'Vehicle',
    createdAt: '2026-01-31T12:00:00Z',
    scope: ['/Madrid/Gardens'],
    speed: {
      type: 'Property',
      value: 50,
      unitCode: 'KMH',
      observedAt: '2026-01-31T12:00:00Z',
      accuracy: {
        type: 'Property',
        value: 1,
        source: { type: 'Relationship', object: 'urn:ngsi-ld:Sensor:1' },
      },
    },
    owner: { type: 'Relationship', object: 'urn:ngsi-ld:Person:1', datasetId: 'urn:ngsi-ld:dataset:1' },
    location: { type: 'GeoProperty', value: { type: 'Point', coordinates: [13.4, 52.5] } },
    title: { type: 'LanguageProperty', languageMap: { en: 'One' } },
  };
  assert.deepEqual(
    plainKeyValues(entity, 'Vehicle', () => false),
    {
      id: 'urn:ngsi-ld:Vehicle:1',
      type: 'Vehicle',
      createdAt: '2026-01-31T12:00:00Z',
      scope: ['/Madrid/Gardens'],
      speed: 50,
      owner: 'urn:ngsi-ld:Person:1',
      location: { type: 'Point', coordinates: [13.4, 52.5] },
      title: { languageMap: { en: 'One' } },
    },
  );
});
