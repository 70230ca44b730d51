import assert from 'node:assert/strict';
import { it } from 'node:test';
import { resolveWith } from '../../../../sidecar/schemas/json-schema/linker.js';
import { checksRepeatedly } from '../../../../sidecar/schemas/json-schema/repetition.js';
import { assertionsOf } from '../../../../sidecar/schemas/json-schema/validator.js';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';

const TO_ROOT = { $ref: '#' };
const CHILD = { properties: { child: TO_ROOT } };

it('a schema is found whose parts would be checked again and again', () => {
  const schemas: readonly JsonObject[] = [
    { anyOf: [CHILD, { ...CHILD, title: 'other' }] },
    { oneOf: [{ items: TO_ROOT, minItems: 1 }, { items: TO_ROOT }] },
    { allOf: [{ $ref: '#/$defs/base' }], ...CHILD, $defs: { base: CHILD } },
    { if: { additionalProperties: TO_ROOT }, then: { additionalProperties: TO_ROOT } },
    { properties: { deep: { anyOf: [CHILD, { not: CHILD }] } } },
    { dependentSchemas: { a: CHILD, b: CHILD } },
  ];
  for (const schema of schemas) assert.ok(isFound(schema), JSON.stringify(schema));
});

it('a schema is left to the validator if nothing in it is checked again and again', () => {
  const schemas: readonly JsonObject[] = [
    { properties: { left: TO_ROOT, right: TO_ROOT } },
    { anyOf: [{ type: 'string' }, { type: 'array', items: TO_ROOT }] },
    { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }], $defs: { a: { properties: { b: {} } } } },
    { properties: { value: { oneOf: [{ type: 'string' }, { type: 'number' }] }, next: TO_ROOT } },
    { allOf: [{ $ref: '#/$defs/list' }], $defs: { list: { items: { $ref: '#/$defs/list' } } } },
  ];
  for (const schema of schemas) assert.ok(!isFound(schema), JSON.stringify(schema));
});

function isFound(schema: JsonObject): boolean {
  return checksRepeatedly(assertionsOf(resolveWith(schema)));
}
