import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareModels, schemaTasks } from '../../../../sidecar/schemas/json-schema/tasks.js';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';

/** What is reported as a change of meaning when an attribute `a` is described otherwise. */
function changesOf(before: JsonObject, after: JsonObject): readonly (readonly [string, string])[] {
  const [old, fresh] = [before, after].map((a) => ({ schema: { type: 'object', properties: { a } } }));
  assert.ok(old !== undefined && fresh !== undefined);
  const { overall, differences } = compareModels(old, fresh);
  const found = differences.filter(({ reason }) => reason === 'meaning');
  if (found.length > 0) assert.equal(overall, 'breaking');
  for (const difference of found) assert.equal(difference.class, 'breaking');
  return found.map(({ pointer, detail }) => [pointer, detail]);
}

function describedAs(description: string, more: JsonObject = {}): JsonObject {
  return { description, ...more };
}

const PAIR = { type: 'array', minItems: 2, maxItems: 2, items: { type: 'number' } };
const tuple = (...items: readonly JsonObject[]): JsonObject => ({ type: 'array', prefixItems: items });

describe('a change of meaning', () => {
  const changed: readonly (readonly [title: string, before: JsonObject, after: JsonObject, said: RegExp])[] =
    [
      [
        'a Property that becomes a Relationship',
        describedAs('Property. x'),
        describedAs('Relationship. x'),
        /"a" is a Relationship, was a Property/,
      ],
      [
        'a kind that a description does not name any more',
        describedAs('Relationship. x'),
        describedAs('What it belongs to'),
        /is a Property, was a Relationship/,
      ],
      [
        'a kind in x-ngsi',
        { 'x-ngsi': { type: 'LanguageProperty' } },
        { 'x-ngsi': { type: 'VocabProperty' } },
        /is a VocabProperty, was a LanguageProperty/,
      ],
      [
        'another unit in a description',
        describedAs("Property. Speed. Units:'km/h'"),
        describedAs("Property. Speed. Units:'m/s'"),
        /the unit of "a" is "m\/s", was "km\/h"/,
      ],
      [
        'another unit without quotes, at the end of a sentence',
        describedAs('Speed. Unit: km/h. Of the vehicle.'),
        describedAs('Speed. Unit: m/s'),
        /the unit of "a" is "m\/s", was "km\/h"/,
      ],
      [
        'another unit in x-ngsi',
        { 'x-ngsi': { units: 'mW' } },
        { 'x-ngsi': { units: 'MW' } },
        /is "MW", was "mW"/,
      ],
      [
        'another unit in the singular of x-ngsi',
        { 'x-ngsi': { unit: 'mW' } },
        { 'x-ngsi': { unit: 'MW' } },
        /is "MW", was "mW"/,
      ],
      [
        'a unit of three letters that changes its case: milli becomes mega',
        { 'x-ngsi': { units: 'mWh' } },
        { 'x-ngsi': { units: 'MWh' } },
        /is "MWh", was "mWh"/,
      ],
      [
        'a unit of four letters that changes its case: milli becomes mega',
        { 'x-ngsi': { units: 'mVAr' } },
        { 'x-ngsi': { units: 'MVAr' } },
        /is "MVAr", was "mVAr"/,
      ],
      [
        'a date and time that becomes a text',
        { type: 'string', format: 'date-time' },
        { type: 'string' },
        /is a text, was a date and time/,
      ],
      [
        'a text that becomes a date',
        { type: 'string', maxLength: 20 },
        { type: 'string', format: 'date' },
        /is a date, was a text/,
      ],
      [
        'a number that becomes a string',
        { type: 'integer' },
        { type: 'string' },
        /is a string, was a number/,
      ],
      [
        'a value that becomes a list',
        { type: ['string', 'null'] },
        { type: ['array', 'null'] },
        /is an array, was a string/,
      ],
      [
        'another order of coordinates in words',
        describedAs('Property. Position as [lat, lon]', PAIR),
        describedAs('Property. Position as [longitude, latitude]', PAIR),
        /begin with the longitude, began with the latitude/,
      ],
      [
        'another order of coordinates by the names of the items',
        tuple({ title: 'Latitude', type: 'number' }, { title: 'Longitude', type: 'number' }),
        tuple({ title: 'Longitude', type: 'number' }, { title: 'Latitude', type: 'number' }),
        /begin with the longitude/,
      ],
      [
        'another order of coordinates by their bounds',
        tuple({ minimum: -180, maximum: 180 }, { minimum: -90, maximum: 90 }),
        tuple({ minimum: -90, maximum: 90 }, { minimum: -180, maximum: 180 }),
        /begin with the latitude/,
      ],
    ];
  for (const [title, before, after, said] of changed) {
    it(`a change of meaning is breaking, and reported where the attribute is described: ${title}`, () => {
      const [change, ...others] = changesOf(before, after);
      assert.deepEqual(others, []);
      assert.equal(change?.[0], '/properties/a');
      assert.match(change[1], said);
    });
  }

  const same: readonly (readonly [title: string, before: JsonObject, after: JsonObject])[] = [
    ['other words about the same kind', describedAs('Property. x'), describedAs('Geschwindigkeit')],
    ['another spelling of the kind', describedAs('GeoProperty. x'), describedAs('Geoproperty: y')],
    ['another spelling of a unit', describedAs("Units:'Celsius'"), describedAs("Units: 'celsius'")],
    [
      'what stands behind the word unit, and is none',
      describedAs('Number of units: flats, shops'),
      describedAs('Number of units: shops, flats'),
    ],
    [
      'an example behind the word unit',
      describedAs('Business unit: e.g. Sales'),
      describedAs('Business unit: for example Sales'),
    ],
    [
      'where the unit is to be found',
      describedAs('Unit: see unitCode'),
      describedAs('Unit: given by unitCode'),
    ],
    [
      'coordinates in the description of a text',
      { type: 'string', description: 'Where latitude and longitude come from' },
      { type: 'string', description: 'Where longitude and latitude come from' },
    ],
    ['a unit that only one version names', describedAs('Speed'), describedAs("Speed. Units:'km/h'")],
    [
      'more that a value may be',
      { type: 'string', format: 'date-time' },
      {
        anyOf: [
          { type: 'string', format: 'date-time' },
          { type: 'string', format: 'date' },
        ],
      },
    ],
    ['a number that may be a fraction', { type: 'integer' }, { type: 'number' }],
    ['a format that is no other reading', { type: 'string', format: 'email' }, { type: 'string' }],
    ['a type where none was said', {}, { type: 'string' }],
    [
      'an order of coordinates that is not clear',
      describedAs('lat, lon or lon, lat', PAIR),
      describedAs('Position as [lon, lat]', PAIR),
    ],
  ];
  for (const [title, before, after] of same)
    it(`a change of meaning is not reported for ${title}`, () => {
      assert.deepEqual(changesOf(before, after), []);
      assert.deepEqual(changesOf(after, before), []);
    });

  it('a change of meaning is found in members, items and referenced schemas', () => {
    const model = (unit: string): JsonObject => ({
      type: 'object',
      properties: { a: { type: 'array', items: { $ref: '#/$defs/b' } } },
      $defs: { b: { properties: { again: { $ref: '#/$defs/b' }, c: describedAs(`Units:'${unit}'`) } } },
    });
    const { differences } = compareModels({ schema: model('m') }, { schema: model('ft') });
    assert.deepEqual(
      differences.map(({ pointer, reason }) => [pointer, reason]),
      [['/$defs/b/properties/c', 'meaning']],
    );
  });

  it('a change of meaning is found wherever a kind stands, in allOf or beside it', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', description: 'Relationship. x' } } };
    const moved = { type: 'object', allOf: [{ properties: schema.properties }] };
    assert.deepEqual(compareModels({ schema }, { schema: moved }).differences, []);
  });

  it('another IRI or coercion of a term of both contexts is a change of meaning', () => {
    const schema = { type: 'object', properties: { a: {}, b: { properties: { c: {} } } } };
    const of = (iris: Record<string, string>, coercion?: string) => ({
      schema,
      terms: Object.fromEntries(
        Object.entries(iris).map(([term, iri]) => [term, { iri, ...(coercion && { coercion }) }]),
      ),
    });
    const iris = { T: 'x:T', a: 'x:a', b: 'x:b', c: 'x:c' };
    assert.deepEqual(compareModels(of(iris), of(iris)).differences, []);
    assert.deepEqual(compareModels(of(iris), of({ ...iris, d: 'x:d' })).differences, []);
    const { overall, differences } = compareModels(of(iris), of({ ...iris, T: 'y:T', c: 'y:c' }));
    assert.equal(overall, 'breaking');
    assert.deepEqual(
      differences.map(({ pointer, detail }) => [pointer, detail]),
      [
        ['', '"T" means y:T, meant x:T'],
        ['/properties/b/properties/c', '"c" means y:c, meant x:c'],
      ],
    );
    const coerced = compareModels(of({ a: 'x:a' }), of({ a: 'x:a' }, '{"@type":"@id"}'));
    assert.deepEqual([coerced.overall, coerced.differences.length], ['breaking', 1]);
  });

  it('a change of meaning is named for a hundred terms that the schema does not describe, and others are counted', () => {
    const termsOf = (prefix: string, count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`t${index}`, { iri: `${prefix}${index}` }]),
      );
    const detailsOf = (count: number) => {
      const [before, after] = ['x:', 'y:'].map((prefix) => ({ schema: {}, terms: termsOf(prefix, count) }));
      assert.ok(before !== undefined && after !== undefined);
      return compareModels(before, after).differences.map(({ detail }) => detail);
    };
    const hundred = detailsOf(100);
    assert.deepEqual([hundred.length, hundred.at(-1)], [100, '"t99" means y:99, meant x:99']);
    const more = detailsOf(102);
    assert.deepEqual([more.length, more.at(-1)], [101, '2 more terms of the context mean something else']);
  });

  it('a change of meaning is what a format of times makes of a text, for every such format', () => {
    const readings = {
      'date-time': 'a date and time',
      'iso-date-time': 'a date and time',
      date: 'a date',
      time: 'a time of day',
      'iso-time': 'a time of day',
      duration: 'a duration',
    };
    const text = { type: 'string' };
    for (const [format, reading] of Object.entries(readings)) {
      const [[, detail] = []] = changesOf(text, { ...text, format });
      assert.equal(detail, `the value of "a" is ${reading}, was a text`);
    }
    for (const [one, other] of [
      ['date-time', 'iso-date-time'],
      ['time', 'iso-time'],
      ['uri', 'email'],
    ])
      assert.deepEqual(changesOf({ ...text, format: String(one) }, { ...text, format: String(other) }), []);
    const either = { ...text, anyOf: [{ format: 'date' }, { format: 'duration' }] };
    assert.equal(changesOf(either, { ...text, format: 'date' }).length, 1);
    assert.equal(changesOf({ ...text, format: 'date' }, either).length, 0);
  });

  it('a change of meaning is found by a worker with the terms of each version', () => {
    const texts = { before: '{}', after: '{}' };
    const terms = { before: { a: { iri: 'x:a' } }, after: { a: { iri: 'y:a' } } };
    assert.equal(schemaTasks.compareSchemas({ ...texts, terms }).overall, 'breaking');
    assert.equal(
      schemaTasks.compareSchemas({ ...texts, terms: { ...terms, after: terms.before } }).overall,
      'compatible',
    );
    assert.equal(schemaTasks.compareSchemas(texts).overall, 'compatible');
  });
});
