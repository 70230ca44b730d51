import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareModels } from '../../../../sidecar/schemas/json-schema/tasks.js';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';
import { column, columns } from '../../../support/columns.js';

/** The reported change of meaning if an attribute `a` is described differently. */
function changesOf(before: JsonObject, after: JsonObject): readonly (readonly [string, string])[] {
  const [old, fresh] = [before, after].map((a) => ({ schema: { type: 'object', properties: { a } } }));
  assert.ok(old !== undefined && fresh !== undefined);
  const { overall, differences } = compareModels(old, fresh);
  const found = differences.filter(({ reason }) => reason === 'meaning');
  if (found.length > 0) assert.equal(overall, 'breaking');
  for (const difference of found) assert.equal(difference.class, 'breaking');
  return found.map(({ pointer, detail }) => [pointer, detail]);
}

const words = (description: string, more: JsonObject = {}): JsonObject => ({ description, ...more });

describe('a change of meaning', () => {
  const ngsi = (hint: JsonObject): JsonObject => ({ 'x-ngsi': hint });
  const text = (more: JsonObject): JsonObject => ({ type: 'string', ...more });
  const changed: readonly (readonly [
    title: string,
    before: JsonObject,
    after: JsonObject,
    ...said: readonly [is: string, was: string],
  ])[] = [
    ['a kind', words('Property. x'), words('Relationship. x'), 'a Relationship', 'a Property'],
    [
      'a kind not named any more',
      words('Relationship. x'),
      words('Its owner'),
      'a Property',
      'a Relationship',
    ],
    [
      'a kind in x-ngsi',
      ngsi({ type: 'LanguageProperty' }),
      ngsi({ type: 'VocabProperty' }),
      'a VocabProperty',
      'a LanguageProperty',
    ],
    ['a unit in a description', words("Speed. Units:'km/h'"), words("Speed. Units:'m/s'"), '"m/s"', '"km/h"'],
    ['a unit before other words', words('Unit: km/h. Of it.'), words('Unit: m/s'), '"m/s"', '"km/h"'],
    ['a unit in x-ngsi', ngsi({ units: 'mW' }), ngsi({ units: 'MW' }), '"MW"', '"mW"'],
    ['a unit in the singular', ngsi({ unit: 'mW' }), ngsi({ unit: 'MW' }), '"MW"', '"mW"'],
    ['a unit of four letters', ngsi({ units: 'mVAr' }), ngsi({ units: 'MVAr' }), '"MVAr"', '"mVAr"'],
    ['a time that becomes a text', text({ format: 'date-time' }), text({}), 'a text', 'a date and time'],
    ['a text that becomes a date', text({ maxLength: 20 }), text({ format: 'date' }), 'a date', 'a text'],
    ['a number that becomes a string', { type: 'integer' }, text({}), 'a string', 'a number'],
    [
      'a value that becomes a list',
      { type: ['string', 'null'] },
      { type: ['array', 'null'] },
      'an array',
      'a string',
    ],
  ];
  for (const [title, before, after, is, was] of changed) {
    it(`a change of meaning is breaking, and reported at the description of the attribute: ${title}`, () => {
      const [change, ...others] = changesOf(before, after);
      assert.deepEqual(others, []);
      assert.equal(change?.[0], '/properties/a');
      assert.match(change[1], new RegExp(`${is}.*${was}`));
    });
  }

  const same: readonly (readonly [title: string, before: JsonObject, after: JsonObject])[] = [
    ['other words about the same kind', words('Property. x'), words('Geschwindigkeit')],
    ['another spelling of the kind', words('GeoProperty. x'), words('Geoproperty: y')],
    ['another spelling of a unit', words("Units:'Celsius'"), words("Units: 'celsius'")],
    [
      'what stands behind the word unit, and is none',
      words('Number of units: flats, shops'),
      words('Number of units: shops, flats'),
    ],
    [
      'an example behind the word unit',
      words('Business unit: e.g. Sales'),
      words('Business unit: for example Sales'),
    ],
    ['where the unit is to be found', words('Unit: see unitCode'), words('Unit: given by unitCode')],
    ['a unit that only one version names', words('Speed'), words("Speed. Units:'km/h'")],
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
      $defs: { b: { properties: { again: { $ref: '#/$defs/b' }, c: words(`Units:'${unit}'`) } } },
    });
    const { differences } = compareModels({ schema: model('m') }, { schema: model('ft') });
    assert.deepEqual(columns(differences, 'pointer', 'reason'), [['/$defs/b/properties/c', 'meaning']]);
  });

  it('a change of meaning is found wherever the kind is given, in allOf or next to it', () => {
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
    assert.deepEqual(columns(differences, 'pointer', 'detail'), [
      ['', '"T" means y:T, meant x:T'],
      ['/properties/b/properties/c', '"c" means y:c, meant x:c'],
    ]);
    const coerced = compareModels(of({ a: 'x:a' }), of({ a: 'x:a' }, '{"@type":"@id"}'));
    assert.deepEqual([coerced.overall, coerced.differences.length], ['breaking', 1]);
  });

  it('another prefix is a change of meaning for the compact IRIs that both versions use, members and types alike', () => {
    const of = (prefix: object, more: readonly string[] = []) => ({
      schema: {
        properties: {
          type: { const: 'ex:Car' },
          'ex:a': {},
          b: { properties: { 'ex:c': {}, 'ex://d': {} } },
          ...Object.fromEntries(more.map((name) => [name, {}])),
        },
      },
      terms: { ...prefix } as Record<string, { iri: string; isPrefix?: true }>,
    });
    const detailsOf = (before: object, after: object) =>
      column(compareModels(of(before), of(after, ['ex:new'])).differences, 'detail').filter((detail) =>
        detail.includes('mean'),
      );
    const prefix = { ex: { iri: 'https://ex.example/', isPrefix: true } };
    const told = ['ex:c', 'ex:a', 'ex:Car'].map((name) => [name, `https://ex.example/${name.slice(3)}`]);
    const lost = told.map(([name, iri]) => `"${name}" means ${name}, meant ${iri}`);
    assert.deepEqual(detailsOf(prefix, {}), lost);
    assert.deepEqual(detailsOf(prefix, { ex: { iri: 'https://ex.example/' } }), lost);
    assert.deepEqual(
      detailsOf({}, prefix),
      told.map(([name, iri]) => `"${name}" means ${iri}, meant ${name}`),
    );
    assert.deepEqual(detailsOf(prefix, prefix), []);
    const asTerm = { ...prefix, 'ex:a': { iri: 'https://ex.example/a' } };
    assert.deepEqual([detailsOf(prefix, asTerm), detailsOf(asTerm, prefix)], [[], []]);
    const coerced = { ...prefix, 'ex:a': { iri: 'https://ex.example/a', coercion: '{"@type":"@id"}' } };
    assert.deepEqual(detailsOf(prefix, { ...coerced, other: { iri: 'x:y' } }), []);
    assert.equal(compareModels(of(coerced), of(prefix)).overall, 'breaking');
  });

  it('a change of meaning is reported for a hundred terms that the schema does not describe, and others are counted', () => {
    const termsOf = (prefix: string, count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`t${index}`, { iri: `${prefix}${index}` }]),
      );
    const detailsOf = (count: number) => {
      const [before, after] = ['x:', 'y:'].map((prefix) => ({ schema: {}, terms: termsOf(prefix, count) }));
      assert.ok(before !== undefined && after !== undefined);
      return column(compareModels(before, after).differences, 'detail');
    };
    const hundred = detailsOf(100);
    assert.deepEqual([hundred.length, hundred.at(-1)], [100, '"t99" means y:99, meant x:99']);
    const more = detailsOf(102);
    assert.deepEqual([more.length, more.at(-1)], [101, '2 more terms of the context mean something else']);
  });

  it('a format of times changes the meaning of a text, for every such format', () => {
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
});
