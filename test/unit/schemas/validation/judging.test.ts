import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { judgingTasks } from '../../../../sidecar/schemas/validation/judging.js';
import { mutatedEntities } from '../../ngsi-ld/representation/mutations.js';
import { validatorOf } from './validating.js';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';

const ATTRIBUTES: JsonObject = {
  speed: { type: ['number', 'string', 'boolean'], maximum: 1000 },
  owner: { format: 'uri' },
  location: { type: 'object', required: ['coordinates'] },
};

/** Schemas that see the parts of an entity which only some schemas see, such as its scope and @context. */
const SCHEMAS: readonly JsonObject[] = [
  { type: 'object', properties: { type: { const: 'Vehicle' }, ...ATTRIBUTES }, required: ['id', 'type'] },
  { properties: { type: { type: 'array', contains: { const: 'Vehicle' } }, scope: { type: 'array' } } },
  { properties: { type: { type: 'string' }, scope: { type: 'string' }, createdAt: { maxLength: 3 } } },
  { properties: { type: { enum: ['https://example.org/Vehicle'] } }, required: ['@context'] },
  { properties: { z: { properties: { languageMap: {} } }, ...ATTRIBUTES }, maxProperties: 5 },
  { additionalProperties: { type: ['string', 'number', 'object'] } },
];

it('scans and /validate never disagree about an entity, whatever its form and its mistakes are', () => {
  const models = SCHEMAS.map((schema) => ({
    validator: validatorOf('Vehicle', schema),
    input: { key: JSON.stringify(schema), name: 'Vehicle' },
  }));
  const counts = { valid: 0, invalid: 0 };
  fc.assert(
    fc.property(mutatedEntities, fc.constantFrom(...models), (entity, { validator, input }) => {
      const text = JSON.stringify(entity);
      const { valid } = validator.verdict(text);
      const outcome = judgingTasks.judge({
        page: `[${text}]`,
        take: [0],
        models: [input],
        unknownTypes: [],
        ambiguousTypes: [],
        schemas: [[input.key, input.key]],
        reported: 0,
      });
      assert.ok('judged' in outcome);
      assert.equal(outcome.judged.valid, valid ? 1 : 0);
      counts[valid ? 'valid' : 'invalid'] += 1;
    }),
    { numRuns: 2000 },
  );
  assert.ok(Math.min(counts.valid, counts.invalid) > 200, JSON.stringify(counts));
});
