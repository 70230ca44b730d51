import { validate } from '@readme/openapi-parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';
import { modelOpenApi, type ModelOpenApiInput } from '../../../../sidecar/schemas/openapi/model-openapi.js';

/** The parts of a document that tests use. */
export interface OpenApi {
  readonly info: JsonObject;
  readonly servers: readonly JsonObject[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonObject>>;
    readonly examples?: Readonly<Record<string, { readonly value: JsonObject }>>;
  };
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

export function openApi(input: ModelOpenApiInput): OpenApi {
  return modelOpenApi(input) as unknown as OpenApi;
}

/** The input for a model of this schema, with arbitrary other values. */
export function withSchema(schema: JsonObject, more: Partial<ModelOpenApiInput> = {}): ModelOpenApiInput {
  return { domain: 'd', model: 'M', version: 1, schema, ...more };
}

/** Fails unless a document is valid OpenAPI 3.1, and refers only to its own parts. */
export async function assertValidOpenApi(document: JsonObject): Promise<void> {
  // The validator modifies its input.
  const result = await validate(structuredClone(document) as unknown as Parameters<typeof validate>[0]);
  assert.ok(result.valid, JSON.stringify(result));
  assert.deepEqual(result.warnings, []);
  for (const ref of refsIn(document)) assert.notEqual(at(document, ref), undefined, `${ref} leads nowhere`);
}

/** All references that a search for `$ref` would find. */
export function refsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Object.hasOwn(value, '$ref') ? [(value as { $ref: unknown }).$ref] : [];
  return [...own.filter((ref) => typeof ref === 'string'), ...Object.values(value).flatMap(refsIn)];
}

/** Checks values against the schemas of an OpenAPI document. */
export function schemasOf(document: JsonObject): (name: string, value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false });
  ajv.addSchema(document, 'openapi');
  return (name, value) => {
    // Compiled once for each name; `ajv.validate` with a new reference would compile each time.
    const validate = ajv.getSchema(`openapi#/components/schemas/${name}`);
    assert.ok(validate !== undefined, name);
    return validate(value) === true;
  };
}

/** Checks values against the schemas of the OpenAPI document of a model that has this schema. */
export function acceptedBy(schema: JsonObject): (name: string, value: unknown) => boolean {
  return schemasOf(modelOpenApi(withSchema(schema)));
}

function at(document: JsonObject, ref: string): unknown {
  assert.ok(ref.startsWith('#/'), `${ref} is not within the document`);
  const tokens = ref
    .slice(2)
    .split('/')
    .map((token) => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'));
  return tokens.reduce<unknown>(
    (value, token) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, token)
        ? (value as Record<string, unknown>)[token]
        : undefined,
    document,
  );
}
