import assert from 'node:assert/strict';
import { it } from 'node:test';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { repetitionOf } from '../../../../sidecar/schemas/json-schema/repetition.js';
import { assertionsOf } from '../../../../sidecar/schemas/json-schema/validator.js';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';

const TO_ROOT = { $ref: '#' };
const CHILD = { properties: { child: TO_ROOT } };

it('the repetition of a schema is the number of ways by which it leads back to itself from one part of a value', () => {
  const schemas: readonly (readonly [number, JsonObject])[] = [
    [2, { anyOf: [CHILD, { ...CHILD, title: 'other' }] }],
    [2, { oneOf: [{ items: TO_ROOT, minItems: 1 }, { items: TO_ROOT }] }],
    [2, { allOf: [{ $ref: '#/$defs/base' }], ...CHILD, $defs: { base: CHILD } }],
    [2, { if: { additionalProperties: TO_ROOT }, then: { additionalProperties: TO_ROOT } }],
    [2, { properties: { deep: { anyOf: [CHILD, { not: CHILD }] } } }],
    [2, { dependentSchemas: { a: CHILD, b: CHILD } }],
    [3, { ...CHILD, patternProperties: { '^c': TO_ROOT, d$: TO_ROOT } }],
    [4, { anyOf: [{ oneOf: [CHILD, { ...CHILD, title: 'other' }] }, CHILD, { not: CHILD }] }],
    [8, { allOf: Array.from({ length: 8 }, () => CHILD) }],
    [2 ** 10, doublings(10)],
  ];
  for (const [ways, schema] of schemas) assert.equal(counted(schema), ways, JSON.stringify(schema));
});

it('a schema that checks no part of a value repeatedly has a repetition of one', () => {
  const schemas: readonly JsonObject[] = [
    { properties: { left: TO_ROOT, right: TO_ROOT } },
    { anyOf: [{ type: 'string' }, { type: 'array', items: TO_ROOT }] },
    { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }], $defs: { a: { properties: { b: {} } } } },
    { properties: { value: { oneOf: [{ type: 'string' }, { type: 'number' }] }, next: TO_ROOT } },
    { allOf: [{ $ref: '#/$defs/list' }], $defs: { list: { items: { $ref: '#/$defs/list' } } } },
  ];
  for (const schema of schemas) assert.equal(counted(schema), 1, JSON.stringify(schema));
});

function counted(schema: JsonObject): number {
  return repetitionOf(assertionsOf(resolveReferencesIn(schema)));
}

/** A chain of schemas in which each refers to the next one twice, and the last to the first, further inside the value. */
function doublings(count: number): JsonObject {
  const twice = (index: number) => [{ $ref: `#/$defs/d${index}` }, { $ref: `#/$defs/d${index}` }];
  const $defs: Record<string, JsonObject> = { [`d${count}`]: CHILD };
  for (let index = 0; index < count; index += 1) $defs[`d${index}`] = { anyOf: twice(index + 1) };
  return { $ref: '#/$defs/d0', $defs };
}
