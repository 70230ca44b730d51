import type { Entry } from './archives.js';

/** Small repositories of data models made for tests. */

const BASE = 'https://models.example/dataModel.City';
export const COMMON_URL = 'https://models.example/shared/common-schema.json';
const HOST_URL = 'https://raw.code.example/city/dataModel.City/main/city-schema.json';

/** A document that all models share. */
export function commonSchema(nameType = 'string'): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: COMMON_URL,
    definitions: {
      Commons: {
        properties: {
          id: { type: 'string', format: 'uri' },
          name: { type: nameType, description: 'Property. Its name' },
        },
      },
    },
  };
}

/** Returns a schema of entities of a type, with an attribute of its own. */
export function entitySchema(type: string, attribute: string, more: object = {}): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${BASE}/${type}/schema.json`,
    title: `${type} of a city`,
    description: `A ${type}.`,
    type: 'object',
    allOf: [
      { $ref: `${COMMON_URL}#/definitions/Commons` },
      {
        properties: {
          type: { type: 'string', enum: [type] },
          [attribute]: { type: 'number', description: 'Property. A number' },
        },
      },
    ],
    required: ['id', 'type'],
    ...more,
  };
}

const CONTEXT = {
  '@context': {
    Bench: 'https://terms.example/city/Bench',
    Lamp: 'https://terms.example/city/Lamp',
    seats: 'https://terms.example/city/seats',
    power: 'https://terms.example/city/power',
  },
};

/**
 * Two models, a shared document that they name in two ways, a context, examples of which one is
 * invalid, and unrelated files, as in a clone.
 */
export function cityRepository(): Readonly<Record<string, unknown>> {
  return {
    'README.md': 'A city.',
    'context.jsonld': CONTEXT,
    'city-schema.json': {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `${BASE}/city-schema.json`,
      definitions: { Colour: { type: 'string', enum: ['red', 'green'] } },
    },
    'Bench/schema.json': entitySchema('Bench', 'seats', {
      properties: { colour: { $ref: `${HOST_URL}#/definitions/Colour` } },
    }),
    'Bench/schemaDTDL.json': {
      '@context': 'dtmi:dtdl:context;2',
      '@id': 'dtmi:bench;1',
      '@type': 'Interface',
    },
    'Bench/examples/example.jsonld': { id: 'urn:ngsi-ld:Bench:1', type: 'Bench', seats: 3, colour: 'red' },
    'Bench/examples/example-wrong.jsonld': { id: 'urn:ngsi-ld:Bench:2', type: 'Bench', seats: 'three' },
    'Bench/examples/example.jsonld.csv': 'id,type',
    'Lamp/schema.json': entitySchema('Lamp', 'power', {
      properties: { colour: { $ref: '../city-schema.json#/definitions/Colour' } },
    }),
    'Lamp/examples/example.json': { id: 'urn:ngsi-ld:Lamp:1', type: 'Lamp', power: 60 },
    '.github/workflows/check.json': '{broken',
    'node_modules/other/schema.json': '{broken',
  };
}

/** The same with the shared document included, so that nothing is missing. */
export function completeRepository(): Readonly<Record<string, unknown>> {
  return { ...cityRepository(), 'shared/common-schema.json': commonSchema() };
}

/**
 * The same with contexts and examples that name contexts by URLs of a code host, by their published
 * URLs, and relatively.
 */
export function contextsRepository(): Readonly<Record<string, unknown>> {
  const onHost = 'https://raw.code.example/city/dataModel.City';
  return {
    ...cityWithoutExamples(),
    'Lamp/context.jsonld': {
      '@context': [
        '../parts/power.jsonld',
        `${BASE}/context.jsonld`,
        { lit: 'https://terms.example/city/lit' },
      ],
    },
    'parts/power.jsonld': { '@context': ['base.jsonld', { power: 'https://terms.example/city/power' }] },
    'parts/base.jsonld': { '@context': { volts: 'https://terms.example/city/volts' } },
    'Bench/examples/example.jsonld': {
      id: 'urn:ngsi-ld:Bench:1',
      type: 'Bench',
      seats: { type: 'Property', value: 3 },
      '@context': [`${onHost}/master/context.jsonld`],
    },
    'Bench/examples/examples.jsonld': [
      {
        id: 'urn:ngsi-ld:Bench:1',
        type: 'Bench',
        seats: { type: 'Property', value: 3 },
        '@context': `${onHost}/blob/main/context.jsonld`,
      },
    ],
    'Lamp/examples/example.jsonld': {
      id: 'urn:ngsi-ld:Lamp:1',
      type: 'Lamp',
      power: { type: 'Property', value: 60 },
      '@context': [`${BASE}/Lamp/context.jsonld`],
    },
  };
}

/** A complete repository without examples. */
export function cityWithoutExamples(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(completeRepository()).filter(([path]) => !path.includes('/examples/')),
  );
}

/**
 * Returns files as entries of an archive. Strings are stored unchanged, everything else as indented
 * JSON.
 */
export function entriesOf(files: Readonly<Record<string, unknown>>, folder = ''): readonly Entry[] {
  return Object.entries(files).map(([path, content]) => ({
    name: folder + path,
    content: typeof content === 'string' ? content : JSON.stringify(content, null, 2),
  }));
}
