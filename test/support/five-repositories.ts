/**
 * Five small repositories made for tests, with what public ones have: `$id`s with a branch, a
 * shared document that others name by several URLs, a file with the `$id` of another repository's
 * file, a former name, a template, settings with comments, and references to URLs under which
 * nothing is stored.
 */

const PAGES = 'https://acme.github.io';
const RAW = 'https://raw.githubusercontent.com/acme';
const COMMON = `${PAGES}/data-models/common-schema.json`;

const context = (name: string, ...terms: readonly string[]) => ({
  '@context': Object.fromEntries(terms.map((term) => [term, `https://terms.example/${name}/${term}`])),
});

function model($id: string, attribute: string, ...refs: readonly string[]): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id,
    type: 'object',
    properties: { type: { type: 'string' }, [attribute]: { type: 'number' } },
    allOf: refs.map(($ref) => ({ $ref })),
  };
}

const example = (type: string, ...contexts: readonly string[]) => ({
  id: `urn:ngsi-ld:${type}:1`,
  type,
  '@context': contexts,
});

/** The definition of names in a document of the common repository. */
export const commonDocument = (type: string): object => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: COMMON,
  definitions: { Name: { properties: { name: { type } } } },
});

export const COMMON_DOCUMENT_URL = COMMON;

/** The files of each repository, by name. Strings are stored unchanged, everything else as JSON. */
export const FIVE_REPOSITORIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'data-models': {
    'common-schema.json': commonDocument('string'),
    'old-schema.json': commonDocument('boolean'),
    'context.jsonld': context('common', 'name'),
    'shared-context.jsonld': context('shared', 'width'),
    'examples.json': example('Any', `${PAGES}/data-models/shared-context.jsonld`),
    'templates/dataModel/schema.json': { $id: '', title: '', type: 'object', properties: { type: {} } },
    'tsconfig.json': '{ // of a tool\n "strict": true, }',
  },
  'dataModel.Weather': {
    'Wind/schema.json': model(
      `${RAW}/dataModel.Weather/master/Wind/schema.json`,
      'speed',
      `${COMMON}#/definitions/Name`,
      `${RAW}/dataModel.Environment/refs/heads/master/air-schema.json#/definitions/Air`,
      // Spellings that no file of its own repository has.
      'https://github.com/acme/dataModel.BLDG/blob/main/BLDG-schema.json#/definitions/Size',
      `${RAW}/data-models/main/common-schema.json#/definitions/Name`,
    ),
    'Wind/examples/example.jsonld': example(
      'Wind',
      ...['Weather', 'Environment', 'Health'].map((name) => `${RAW}/dataModel.${name}/master/context.jsonld`),
    ),
    'context.jsonld': context('weather', 'Wind', 'speed'),
  },
  'dataModel.Environment': {
    'Air/schema.json': model(
      `${RAW}/dataModel.Environment/master/Air/schema.json`,
      'speed',
      `${RAW}/dataModel.Environment/refs/heads/master/air-schema.json#/definitions/Air`,
      `${COMMON}#/definitions/Name`,
    ),
    'air-schema.json': {
      $id: `${PAGES}/dataModel.Environment/air-schema.json`,
      definitions: { Air: { properties: { quality: { type: 'number' } } } },
    },
    'context.jsonld': context('environment', 'Air', 'speed'),
  },
  'dataModel.Health': {
    'health-schema.json': commonDocument('number'),
    '3DScan/schema.json': {
      ...model(`${PAGES}/dataModel.HEALTH/3DScan/schema.json`, 'depth', `${COMMON}#/definitions/Name`),
      $schema: 'http://json-schema.org/schema#',
    },
    '3DScan/scan.jsonld': {
      '@context': [
        'https://github.com/acme/data-models/raw/master/shared-context.jsonld',
        { depth: 'https://terms.example/health/depth' },
      ],
    },
  },
  'dataModel.BLDG': {
    'Roof/schema.json': {
      $schema: 'http://json-schema.org/draft-04/schema#',
      id: 'https://acme.github.com/dataModel.SAREF/Roof/schema.json',
      type: 'object',
      properties: { type: { type: 'string' }, slope: { minimum: 0, exclusiveMinimum: true } },
      allOf: [{ $ref: `${RAW}/dataModel.BLDG/master/BLDG-schema.json#/definitions/Size` }],
    },
    'BLDG-schema.json': {
      $id: `${PAGES}/dataModel.BLDG/BLDG-schema.json`,
      definitions: { Size: { properties: { size: { type: 'number' } } } },
    },
    'context.jsonld': context('buildings', 'Roof', 'slope'),
  },
};
