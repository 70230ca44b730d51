import assert from 'node:assert/strict';
import { it } from 'node:test';
import { attributeRows } from '../../../console/models/attribute-rows.js';
import { modelOpenApi } from '../../../sidecar/schemas/openapi/model-openapi.js';

it('the attributes of a model are rows with their kind, value, unit and description, wherever the schema has them', () => {
  const schema = {
    type: 'object',
    required: ['id', 'type', 'speed'],
    properties: {
      id: { type: 'string' },
      type: { const: 'Car' },
      speed: { type: 'number', description: "Property. How fast it is. Units:'km/h'" },
      owner: { type: 'string', format: 'uri', description: 'Relationship. Whose it is' },
      place: { type: 'object', description: 'GeoProperty. Where', properties: { type: { const: 'Point' } } },
      mass: { type: 'integer', 'x-ngsi': { units: 'KGM' } },
    },
    allOf: [
      { properties: { state: { enum: ['free', 'taken'], description: 'Whether somebody is in it.' } } },
    ],
  };
  const openapi = modelOpenApi({ domain: 'City', model: 'Car', version: 1, schema });
  const rows = attributeRows(openapi, schema).map(({ name, kind, type, unit, isRequired, description }) =>
    [name, kind, type, unit ?? '-', isRequired ? '*' : '', description].join(' · '),
  );
  assert.deepEqual(rows.toSorted(), [
    'mass · Property · integer · KGM ·  · ',
    'owner · Relationship · string (uri) · - ·  · Whose it is',
    'place · GeoProperty · object · - ·  · Where',
    'speed · Property · number · km/h · * · How fast it is',
    'state · Property · "free" | "taken" · - ·  · Whether somebody is in it',
  ]);
  for (const other of [undefined, {}, { components: 7 }]) assert.deepEqual(attributeRows(other, schema), []);
});
