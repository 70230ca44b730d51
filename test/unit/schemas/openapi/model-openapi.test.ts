import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SchemaRefusedError } from '../../../../sidecar/schemas/json-schema/errors.js';
import { type JsonObject, type JsonValue, childAt } from '../../../../sidecar/shared/json/json.js';
import { modelOpenApi } from '../../../../sidecar/schemas/openapi/model-openapi.js';
import { acceptedBy, assertValidOpenApi, openApi, refsIn, schemasOf, withSchema } from './documents.js';
import { PARKING } from './models.js';
import { words } from '../../../support/words.js';

describe('the OpenAPI document of a model', () => {
  it('the OpenAPI document of a model is valid OpenAPI 3.1, and self-contained', async () => {
    await assertValidOpenApi(modelOpenApi(PARKING));
  });

  it('the OpenAPI document of a model names its model', () => {
    const { info, servers } = openApi(PARKING);
    assert.deepEqual(info, { title: 'ParkingSite (traffic)', version: '3', description: 'A place to park' });
    assert.deepEqual(servers, [{ url: '/' }]);
    const other = openApi({ ...PARKING, description: 'Mine', serverUrl: 'https://broker.example' });
    assert.equal(other.info['description'], 'Mine');
    assert.deepEqual(other.servers, [{ url: 'https://broker.example' }]);
  });

  it('the OpenAPI document of a model names the answers of each operation', () => {
    const { paths } = openApi(PARKING);
    const answers = Object.fromEntries(
      Object.entries(paths).flatMap(([path, item]) =>
        Object.entries(item)
          .filter(([method]) => method !== 'parameters')
          .map(([method, { responses }]) => [
            `${method} ${path.split('/').slice(3).join('/')}`,
            Object.entries(responses)
              .map(([status, answer]) => [status, lastOf(answer)].filter((word) => word !== '').join(' '))
              .join(', '),
          ]),
      ),
    );
    const changed = (partly: string) => `204 Done, 207 ${partly}, 400 BadRequest, 404 NotFound`;
    assert.deepEqual(answers, {
      'get entities': '200, 400 BadRequest',
      'post entities': '201, 207 Partial, 400 BadRequest, 409 Conflict',
      'get entities/{entityId}': '200, 400 BadRequest, 404 NotFound',
      'put entities/{entityId}': changed('Partial'),
      'patch entities/{entityId}': changed('Partial'),
      'delete entities/{entityId}': changed('Partial'),
      'post entities/{entityId}/attrs': changed('PartialUpdate'),
      'patch entities/{entityId}/attrs': changed('PartialUpdate'),
      'patch entities/{entityId}/attrs/{attrName}': changed('PartialUpdate'),
      'delete entities/{entityId}/attrs/{attrName}': changed('PartialUpdate'),
    });
  });

  it('the OpenAPI document of a model names the parameters of each path and operation', () => {
    const parameters = Object.fromEntries(
      Object.entries(openApi(PARKING).paths).flatMap(([path, item]) =>
        Object.entries({ '': item, ...item })
          .map(
            ([method, held]) =>
              [`${method} ${path.split('/').slice(3).join('/')}`.trim(), namesIn(held)] as const,
          )
          .filter(([, names]) => names !== ''),
      ),
    );
    const shown = 'Attrs Pick Omit DatasetId Lang Options Local';
    assert.deepEqual(parameters, {
      entities: 'Tenant Link',
      'get entities':
        'type Id IdPattern Attrs Pick Omit Q ScopeQ Georel Geometry Coordinates Geoproperty DatasetId Lang Options Local Limit Offset Count',
      'entities/{entityId}': 'EntityId Tenant Link type',
      'get entities/{entityId}': shown,
      'entities/{entityId}/attrs': 'EntityId Tenant Link type',
      'post entities/{entityId}/attrs': 'NoOverwrite',
      'entities/{entityId}/attrs/{attrName}': 'EntityId attrName Tenant Link type',
      'delete entities/{entityId}/attrs/{attrName}': 'OneDatasetId DeleteAll',
    });
  });

  it('the OpenAPI document of a model separates the items of every list parameter with commas', () => {
    const { parameters } = modelOpenApi(PARKING)['components'] as {
      readonly parameters: Readonly<Record<string, JsonObject>>;
    };
    const lists = Object.values(parameters).filter(
      ({ schema }) => (schema as JsonObject)['type'] === 'array',
    );
    assert.deepEqual(
      lists.map(({ name }) => name).sort(),
      words('attrs datasetId id omit options options pick'),
    );
    for (const { name, style, explode } of lists)
      assert.deepEqual([style, explode], ['form', false], JSON.stringify(name));
  });

  it('the OpenAPI document of a model with several types accepts and queries entities of each', () => {
    const input = withSchema({ properties: { a: {} } }, { types: ['Lot', 'Garage'] });
    const accepts = schemasOf(modelOpenApi(input));
    const takes = (type: JsonValue) => accepts('M', { id: 'urn:a:1', type });
    assert.deepEqual(['Lot', 'Garage', ['Garage', 'Site']].map(takes), [true, true, true]);
    assert.deepEqual(['M', ['Site']].map(takes), [false, false]);
    const query = openApi(input).paths['/ngsi-ld/v1/entities']?.['get'] as unknown as {
      readonly parameters: readonly JsonObject[];
    };
    assert.equal(query.parameters.find(({ name }) => name === 'type')?.['example'], 'Lot,Garage');
  });

  it("the OpenAPI document of a model requires the type that its entities have, even if it is not the model's name", () => {
    const { paths, components } = openApi({ ...PARKING, types: ['Lot'] });
    const types = Object.values(paths).flatMap((path) =>
      [path, ...Object.values(path)]
        .flatMap(
          (one) => (one as unknown as { readonly parameters?: readonly JsonObject[] }).parameters ?? [],
        )
        .filter(({ name }) => name === 'type'),
    );
    assert.ok(types.length > 1);
    assert.ok(types.every(({ example }) => example === 'Lot'));
    assert.deepEqual(
      types.map(({ schema }) => (schema as JsonObject)['default']).filter((type) => type !== undefined),
      ['Lot'],
    );
    const { properties, title } = components.schemas['ParkingSite'] ?? {};
    assert.deepEqual((properties as Record<string, JsonObject>)['type']?.['anyOf'], [
      { const: 'Lot' },
      { type: 'array', items: { type: 'string' }, contains: { const: 'Lot' } },
    ]);
    assert.equal(title, 'ParkingSite');
  });

  it('the OpenAPI document of a model shows examples in their own media types', () => {
    const document = modelOpenApi(PARKING);
    const contentOf = (path: string, method: string, ...way: readonly string[]) =>
      ['paths', `/ngsi-ld/v1/${path}`, method, ...way, 'content'].reduce<JsonValue | undefined>(
        childAt,
        document,
      );
    const examplesIn = (content: JsonValue | undefined, type: string) =>
      Object.keys((childAt(childAt(content, type), 'examples') ?? {}) as JsonObject);
    for (const [path, method] of [
      ['entities', 'post'],
      ['entities/{entityId}', 'put'],
    ] as const) {
      const content = contentOf(path, method, 'requestBody');
      assert.deepEqual(examplesIn(content, 'application/json'), ['normalized']);
      assert.deepEqual(examplesIn(content, 'application/ld+json'), ['normalizedLd']);
    }
    const answer = contentOf('entities/{entityId}', 'get', 'responses', '200');
    assert.deepEqual(examplesIn(answer, 'application/json'), ['normalized', 'keyValues']);
    assert.deepEqual(examplesIn(answer, 'application/ld+json'), ['normalizedLd']);
  });

  it('the OpenAPI document of a model has only keywords of JSON Schema 2020-12, and no identifiers', () => {
    const { schemas } = openApi(PARKING).components;
    const text = JSON.stringify(schemas);
    for (const keyword of [
      'modelTags',
      '$schemaVersion',
      '$schema',
      '$id',
      '$anchor',
      '$defs',
      'definitions',
    ])
      assert.ok(!text.includes(`"${keyword}"`), keyword);
    assert.deepEqual((schemas['ParkingSite.totalSpots'] as { properties: unknown }).properties, {
      value: { type: 'integer', minimum: 0, 'x-ngsi': { units: 'C62' } },
    });
  });

  it('the OpenAPI document of a model is valid for models without content, of any name, and with recursive schemas', async () => {
    const names = ['Property', 'ProblemDetails', 'a.b-c_d'];
    await assertValidOpenApi(modelOpenApi(withSchema({})));
    for (const model of names) {
      await assertValidOpenApi(modelOpenApi({ ...withSchema({ properties: { x: {} } }), model }));
    }
    await assertValidOpenApi(modelOpenApi({ ...PARKING, model: 'TypedValue' }));
    const recursive = {
      properties: { child: { $ref: '#' }, next: { $dynamicRef: '#node' } },
      $dynamicAnchor: 'node',
    };
    const document = modelOpenApi(withSchema(recursive));
    await assertValidOpenApi(document);
    assert.ok(refsIn(document).includes('#/components/schemas/MKeyValues'));
  });

  it('the OpenAPI document of a model keeps names distinct that components would share', async () => {
    const schema = {
      properties: {
        'a b': { type: 'string' },
        'a+b': { type: 'number' },
        p: { $ref: '#/$defs/Property' },
        q: { $ref: '#/$defs/M.q' },
      },
      $defs: { Property: { type: 'boolean' }, 'M.q': { type: 'null' } },
    };
    const document = modelOpenApi(withSchema(schema));
    await assertValidOpenApi(document);
    const accepts = schemasOf(document);
    const entity = { id: 'urn:a:1', type: 'M' };
    const property = (value: unknown) => ({ type: 'Property', value });
    assert.ok(accepts('M', { ...entity, 'a b': property('x'), 'a+b': property(1), p: property(true) }));
    assert.ok(!accepts('M', { ...entity, 'a b': property(1) }));
    assert.ok(!accepts('M', { ...entity, 'a+b': property('x') }));
    assert.ok(!accepts('M', { ...entity, p: property(1) }));
    assert.ok(accepts('M', { ...entity, q: property(null) }));
    assert.ok(accepts('MKeyValues', { q: null }));
  });

  const inner = { type: 'object', properties: { id: true, type: true, p: { type: 'number' } } };
  for (const [where, schema] of [
    ['itself', { ...inner, additionalProperties: false }],
    ['in a reference', { $ref: '#/$defs/E', $defs: { E: { ...inner, additionalProperties: false } } }],
    ['in allOf', { allOf: [{ ...inner, additionalProperties: false }, { properties: { p: {} } }] }],
    [
      'in a reference of allOf',
      { allOf: [{ $ref: '#/$defs/E' }], $defs: { E: { ...inner, unevaluatedProperties: false } } },
    ],
    ['in the only alternative', { anyOf: [{ ...inner, unevaluatedProperties: false }] }],
  ] as const)
    it(`the OpenAPI document of a model that is closed ${where} accepts members that brokers add to entities`, () => {
      const accepts = acceptedBy(schema);
      const entity = { id: 'urn:a:1', type: 'M', scope: '/a', createdAt: '2026-01-01T00:00:00Z', p: 1 };
      assert.ok(accepts('MKeyValues', { ...entity, '@context': 'https://c.example/' }));
      assert.ok(!accepts('MKeyValues', { ...entity, scope: 1 }));
      assert.ok(!accepts('MKeyValues', { ...entity, q: 1 }));
    });

  it('the OpenAPI document of a closed model leaves members of entities to the parts of the model that describe them', () => {
    const described = {
      properties: { scope: { type: 'number' } },
      patternProperties: { At$: { type: 'integer' } },
    };
    for (const schema of [
      { ...described, additionalProperties: false },
      { allOf: [described], unevaluatedProperties: false },
    ]) {
      const accepts = acceptedBy(schema);
      assert.ok(accepts('MKeyValues', { scope: 1, createdAt: 1, modifiedAt: 2 }));
      assert.ok(!accepts('MKeyValues', { createdAt: '2026-01-01T00:00:00Z' }));
      assert.ok(!accepts('MKeyValues', { scope: '/a' }));
    }
  });

  it('the OpenAPI document of a model keeps its definitions separate from the components of every document', () => {
    const plain = openApi(withSchema({ properties: { a: {} } })).components.schemas;
    const shared = Object.keys(plain).filter((name) => !name.startsWith('M'));
    assert.ok(['ProblemDetails', 'LdContext', 'Property'].every((name) => shared.includes(name)));
    for (const name of shared) {
      const schema = { properties: { a: { $ref: `#/$defs/${name}` } }, $defs: { [name]: { const: 7 } } };
      const document = modelOpenApi(withSchema(schema));
      assert.deepEqual(openApi(withSchema(schema)).components.schemas[name], plain[name]);
      const accepts = schemasOf(document);
      assert.deepEqual(
        [accepts('MKeyValues', { a: 7 }), accepts('MKeyValues', { a: 8 })],
        [true, false],
        name,
      );
    }
  });

  it('the OpenAPI document of a model is valid for members of hostile names', async () => {
    const names = ['$ref', '__proto__', 'constructor', 'a/b~c%d', '', 'größe "x"', 'id', '@type'];
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'number' }]));
    const schema = JSON.parse(JSON.stringify({ properties, required: names })) as JsonObject;
    const document = modelOpenApi(withSchema(schema));
    await assertValidOpenApi(document);
    const entity = { id: 'urn:a:1', type: 'M' };
    const values = names.filter((name) => name !== 'id' && name !== '@type');
    const filled = values.map((name) => [name, { type: 'Property', value: 1 }] as const);
    const accepts = schemasOf(document);
    assert.ok(accepts('M', { ...entity, ...Object.fromEntries(filled) }));
    assert.ok(
      !accepts('M', {
        ...entity,
        ...Object.fromEntries([...filled, ['a/b~c%d', { type: 'Property', value: 'x' }]]),
      }),
    );
    assert.ok(!accepts('M', { ...entity, ...Object.fromEntries(filled.slice(0, -1)) }));
  });

  it('the OpenAPI document of a model has nothing that tools would take for an external reference', async () => {
    const hidden = { $ref: 'http://169.254.169.254/' };
    const schema = {
      default: hidden,
      examples: [hidden],
      'x-note': { deep: [hidden] },
      properties: { a: { const: hidden, description: 'kept' }, b: { enum: [1, hidden] } },
    };
    const example = { id: 'urn:a:1', type: 'M', a: hidden };
    const document = modelOpenApi(withSchema(schema, { example }));
    await assertValidOpenApi(document);
    assert.ok(!JSON.stringify(document).includes('169.254'));
    assert.ok(JSON.stringify(document).includes('kept'));
  });

  it('the OpenAPI document of a model lets clients send values that its schema calls read-only', () => {
    const a = { type: 'array', items: { $ref: '#/$defs/b', readOnly: true }, readOnly: true };
    const schema = { properties: { a, c: { writeOnly: true } }, $defs: { b: { readOnly: true } } };
    const { components } = modelOpenApi(withSchema(schema)) as { components: { schemas: JsonObject } };
    const ofModel = Object.entries(components.schemas).filter(([name]) => /^M\.|^b$/.test(name));
    assert.equal(ofModel.length, 3);
    assert.doesNotMatch(JSON.stringify(ofModel), /readOnly|writeOnly/);
  });

  it('the OpenAPI document of a model refuses a schema that is not self-contained', () => {
    assert.throws(
      () => modelOpenApi(withSchema({ $ref: 'https://elsewhere.example/a.json' })),
      SchemaRefusedError,
    );
  });

  it('the OpenAPI document of a model does not modify its input, and is the same each time', () => {
    const copy = structuredClone(PARKING);
    const text = JSON.stringify(modelOpenApi(PARKING));
    assert.equal(JSON.stringify(modelOpenApi(PARKING)), text);
    assert.deepEqual(PARKING, copy);
  });
});

describe('the examples of the OpenAPI document', () => {
  const document = modelOpenApi(PARKING);
  const accepts = schemasOf(document);
  const { examples = {} } = openApi(PARKING).components;

  it('the examples of the OpenAPI document are the entity normalized, as JSON-LD, and in key-values form, each valid', () => {
    assert.deepEqual(Object.keys(examples), ['normalized', 'normalizedLd', 'keyValues']);
    assert.equal(examples['normalized']?.value['@context'], undefined);
    assert.deepEqual(examples['normalizedLd']?.value['@context'], PARKING.context);
    assert.ok(accepts('ParkingSite', examples['normalized']?.value));
    assert.ok(accepts('ParkingSite', examples['normalizedLd']?.value));
    assert.ok(accepts('ParkingSiteKeyValues', examples['keyValues']?.value));
  });

  it('the OpenAPI document has no examples without an example entity, and none in JSON-LD without a context', async () => {
    const { domain, model, version, schema, example } = PARKING;
    const without = { domain, model, version, schema };
    assert.equal(openApi(without).components.examples, undefined);
    await assertValidOpenApi(modelOpenApi(without));
    const plain = { ...without, example: example ?? {} };
    assert.deepEqual(Object.keys(openApi(plain).components.examples ?? {}), ['normalized', 'keyValues']);
    await assertValidOpenApi(modelOpenApi(plain));
  });

  it('the examples of the OpenAPI document are in key-values form only if the example is valid in no other', async () => {
    const alone = { ...PARKING, isKeyValuesOnly: true };
    assert.ok(alone.context !== undefined);
    assert.deepEqual(Object.keys(openApi(alone).components.examples ?? {}), ['keyValues']);
    await assertValidOpenApi(modelOpenApi(alone));
  });
});

/** The parameters of a path, or of an operation, by name. */
function namesIn(holder: unknown): string {
  const { parameters } = holder as { readonly parameters?: readonly JsonObject[] };
  return (parameters ?? [])
    .map((one) => (typeof one['name'] === 'string' ? one['name'] : lastOf(one)))
    .join(' ');
}

/** The name of the component to which something refers; empty if it refers to none. */
function lastOf(value: unknown): string {
  const { $ref = '' } = value as { readonly $ref?: string };
  return $ref.split('/').at(-1) ?? '';
}
