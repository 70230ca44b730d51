import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { coreContextUrl } from '../../../../sidecar/schemas/json-ld/core-context.js';
import {
  contextDocument,
  type ContextSource,
  generateContext,
  isContextBase,
} from '../../../../sidecar/schemas/json-ld/generated-context.js';
import { createProcessor } from '../../../../sidecar/schemas/json-ld/processor.js';
import { loaderOf } from './contexts.js';
import { Desk } from './desk.js';
import { runs } from '../../../support/thoroughness.js';
import { column, columns } from '../../../support/columns.js';
import { words } from '../../../support/words.js';
import { unicodeText } from '../../../support/unicode-text.js';

const BASE = 'https://city.example/terms/';
const MODEL: ContextSource = {
  type: 'ParkingSite',
  attributes: ['totalSpots', 'location', 'address', 'operator', 'status'],
  nested: ['address', 'type', 'coordinates', 'streetAddress', 'addressCountry', 'geo', 'latitude'],
};

function sourceOf(...names: readonly string[]): ContextSource {
  return { type: 'T', attributes: names };
}

async function expand(document: object): Promise<Record<string, unknown>> {
  const [expanded] = await createProcessor().expand(document, { documentLoader: loaderOf(), safe: true });
  return expanded as Record<string, unknown>;
}

describe('a generated context', () => {
  it('a generated context maps the type, attributes and members of values to base and name, in order, without coercions', () => {
    const { terms } = generateContext(MODEL, BASE);
    assert.deepEqual(Object.entries(terms), [
      ['ParkingSite', `${BASE}ParkingSite`],
      ['address', `${BASE}address`],
      ['addressCountry', `${BASE}addressCountry`],
      ['geo', `${BASE}geo`],
      ['latitude', `${BASE}latitude`],
      ['operator', `${BASE}operator`],
      ['streetAddress', `${BASE}streetAddress`],
      ['totalSpots', `${BASE}totalSpots`],
    ]);
  });

  it('a generated context leaves core terms to the core context, with a warning for each that is neither structural nor ordinary', () => {
    const source = {
      type: 'Property',
      attributes: ['id', 'type', 'location', 'scope'],
      nested: ['type', 'coordinates', 'bbox', 'id', 'value'],
    };
    const { terms, warnings } = generateContext(source, BASE);
    assert.deepEqual(terms, {});
    assert.deepEqual(columns(warnings, 'code', 'term'), [
      ['core-term', 'Property'],
      ['core-term', 'scope'],
      ['core-term', 'value'],
    ]);
    const { warnings: others } = generateContext({ type: 'T', attributes: ['bbox'], nested: ['bbox'] }, BASE);
    assert.deepEqual(column(others, 'term'), ['bbox']);
    assert.match(warnings[1]?.detail ?? '', /https:\/\/uri\.etsi\.org\/ngsi-ld\/scope/);
  });

  it('a generated context leaves out names that cannot be terms, with a warning for each', () => {
    const names = [
      '',
      ...words('@id2 @type schema:name a/b http://a/ __proto__ hasOwnProperty'),
      '\ud800',
      'a'.repeat(513),
    ];
    const { terms, warnings } = generateContext(sourceOf(...names), BASE);
    assert.deepEqual(Object.keys(terms), ['T']);
    const reported = warnings.filter(({ code }) => code === 'no-term').map(({ term }) => term);
    // @type is a member of every entity, and not an attribute.
    assert.deepEqual(reported.sort(), names.filter((name) => name !== '@type').sort());
  });

  it('a generated context encodes names for IRIs, with a warning', () => {
    const { terms, warnings } = generateContext(
      sourceOf('NO2 level', 'größe', '50%', 'a#b?c', 'PM2.5'),
      BASE,
    );
    assert.deepEqual(terms, {
      '50%': `${BASE}50%25`,
      'NO2 level': `${BASE}NO2%20level`,
      'PM2.5': `${BASE}PM2.5`,
      T: `${BASE}T`,
      'a#b?c': `${BASE}a%23b%3Fc`,
      größe: `${BASE}größe`,
    });
    assert.deepEqual(
      warnings.map(({ code, term }) => `${code} ${term}`),
      ['encoded 50%', 'encoded NO2 level', 'encoded a#b?c'],
    );
  });

  it('a generated context is valid whatever the names, and gives each term the IRI that it reports', async () => {
    const name = fc.oneof(
      fc.constantFrom(
        'constructor',
        'toString',
        'valueOf',
        'urn',
        'http',
        'a b',
        'x@',
        'ngsi-ld',
        'name:',
        '%',
        '~',
      ),
      fc.string({ maxLength: 8 }),
      unicodeText({ maxLength: 5 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(name, { maxLength: 6 }), async (names) => {
        const { terms, warnings } = generateContext(sourceOf(...names), BASE);
        const known = new Set([
          ...Object.keys(terms),
          ...warnings.map(({ term }) => term),
          'id',
          'type',
          '@type',
          '@id',
          '@context',
        ]);
        assert.ok(
          names.every((each) => known.has(each)),
          'a term or a warning for each name',
        );
        const document = contextDocument(terms);
        const { warnings: faults } = await new Desk().check(document);
        assert.deepEqual(faults, []);
        const values = Object.fromEntries(Object.keys(terms).map((term) => [term, 'x']));
        const expanded = await expand({ ...document, id: 'urn:a:1', type: 'T', ...values });
        assert.deepEqual(
          Object.keys(expanded)
            .filter((key) => !key.startsWith('@'))
            .sort(),
          Object.values(terms).sort(),
        );
      }),
      { numRuns: runs(35) },
    );
  });
});

describe('the document of a generated context', () => {
  const { terms } = generateContext(MODEL, BASE);
  const context = contextDocument(terms)['@context'];

  it('the document of a generated context has the newest core context last', () => {
    assert.deepEqual(context, [terms, coreContextUrl('1.9')]);
  });
});

describe('a context base', () => {
  it('a context base is an http, https or urn IRI that names can follow', () => {
    for (const base of [
      BASE,
      'http://a.example/x#',
      'https://a.example/?term=',
      'urn:city:terms:',
      'https://städte.example/ö/',
    ]) {
      assert.equal(isContextBase(base), true, base);
    }
  });

  it('a context base is refused if it does not make an IRI, or an IRI in another notation', () => {
    const others = [
      '',
      ...words(`
        terms/ https://a.example https://a.example/terms https:// https:/// ftp://a/ @vocab/ ngsi-ld:
        _:b/
      `),
      'https://a.example/ /',
      'https://a.example/<>/',
      `https://a.example/${'a'.repeat(1024)}/`,
    ];
    for (const base of others) assert.equal(isContextBase(base), false, base);
  });
});
