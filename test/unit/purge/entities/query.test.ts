import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { PatternTooLargeError } from '../../../../sidecar/ngsi-ld/pattern.js';
import { QueryRefusedError } from '../../../../sidecar/purge/errors.js';
import { SELECTION_PARAMETERS } from '../../../../sidecar/purge/query/parameters.js';
import { parseEntityPurgeQuery } from '../../../../sidecar/purge/index.js';
import { parseTemporalPurgeQuery } from '../../../../sidecar/purge/temporal/index.js';
import { assertRefused, assertsAbout, queryOf } from '../refusals.js';
import { words } from '../../../support/words.js';

const { accepted, badData, invalid } = assertsAbout(parseEntityPurgeQuery);

it('every selecting parameter of a purge is sent to the broker, as given and in order', () => {
  const selection = [
    ['q', 'speed>50;name=="a b&c"'],
    ['type', 'Car,(Bus;Tram)'],
    ['scopeQ', '/city/#'],
    ['csf', 'tenant=="x"'],
    ['expandValues', 'a,b'],
    ['jsonKeys', 'a'],
    ['local', 'false'],
    ['geometryProperty', 'place'],
    ['geoproperty', 'place'],
    ['georel', 'within'],
    ['geometry', 'Polygon'],
    ['coordinates', '[[[0,0],[0,1],[1,1],[0,0]]]'],
    ['attrs', 'speed'],
    ['id', 'urn:ngsi-ld:Car:1'],
    ['idPattern', '^urn:'],
  ] as const;
  assert.deepEqual(
    accepted(queryOf(Object.fromEntries(selection))).selection.map(({ name, value }) => [name, value]),
    selection,
  );
});

it('extensions, drop and keep are never sent to the broker', () => {
  const { selection } = accepted('type=Car&dryRun=true&maxAffected=5&drop=speed');
  assert.deepEqual(selection, [{ name: 'type', value: 'Car' }]);
  assert.deepEqual(accepted('keep=speed&dryRun=false&type=Car').selection, selection);
});

it('only parameters of Query Entities are sent to the broker, whatever the query string contains', () => {
  const pairs = fc.tuple(
    fc.constantFrom(...words('type q attrs drop dryRun maxAffected limit id local Type'), ''),
    fc.constantFrom('Car', 'true', '1', 'speed', 'urn:a:1', '*', '%', '%41', ''),
  );
  const queries = fc.oneof(
    fc.string(),
    fc.array(pairs).map((list) => list.map((pair) => pair.join('=')).join('&')),
  );
  fc.assert(
    fc.property(queries, (query) => {
      try {
        for (const { name } of accepted(query).selection) assert.ok(SELECTION_PARAMETERS.has(name));
      } catch (error) {
        assert.ok(error instanceof QueryRefusedError, String(error));
      }
    }),
    { numRuns: 300 },
  );
});

it('type, q and geo values must match their grammars, and the problem names the wrong parameter', () => {
  for (const type of ['A,', '(A', 'A B', '*,A', '"A"']) badData(queryOf({ type }), 'type');
  for (const q of ['speed>', 'speed=5', 'a==1;', '>5', 'a==1)', '(a']) badData(queryOf({ q }), 'q');
  badData('georel=close&geometry=Point&coordinates=%5B1,2%5D', 'georel');
  badData('georel=within&geometry=Circle&coordinates=%5B1,2%5D', 'geometry');
  badData('georel=within&geometry=Polygon&coordinates=%5B1,2%5D', 'coordinates');
  badData('georel=near%3BmaxDistance==1&geometry=Point&coordinates=1,2', 'coordinates');
});

it('georel, geometry and coordinates require each other, and geoproperty requires them', () => {
  badData('type=A&geometry=Point&coordinates=%5B1,2%5D', 'georel');
  badData('type=A&georel=within', 'geometry');
  badData('type=A&georel=within&geometry=Point', 'coordinates');
  badData('type=A&coordinates=%5B1,2%5D', 'georel');
  badData('type=A&geoproperty=place', 'geoproperty');
});

it('q may not follow Relationships to linked entities', () => {
  for (const q of ['owner{Person}.name=="x"', 'speed>1;owner{name}', '(a|b{c})']) {
    assert.match(badData(queryOf({ type: 'Car', q }), 'q').message, /linked entities/);
  }
});

it('id is a list of URIs', () => {
  assert.deepEqual(accepted('type=A&id=urn:a:1,https://x.test/y').ids, ['urn:a:1', 'https://x.test/y']);
  for (const id of [
    ...words(`
      car1 urn:a:1, ,urn:a:1 urn:a:1,,urn:a:2 :x urn: 1:x urn:a<
    `),
    'urn:a b',
  ]) {
    badData(queryOf({ type: 'A', id }), 'id');
  }
  assert.equal(accepted('type=A').ids, undefined);
});

it('attrs, drop, keep, expandValues and jsonKeys are lists without blanks or empty items', () => {
  for (const name of ['attrs', 'drop', 'keep', 'expandValues', 'jsonKeys']) {
    for (const value of [',', 'a,', ',a', 'a,,b', 'a, b', ' a', 'a b', 'a,b\u00a0'])
      assert.match(
        badData(queryOf({ type: 'A', [name]: value }), name).message,
        /without spaces or empty items/,
      );
  }
});

it('attrs, drop, keep, expandValues and jsonKeys accept only attribute names', () => {
  for (const name of ['attrs', 'drop', 'keep', 'expandValues', 'jsonKeys']) {
    for (const [value, hint] of [
      ['owner{name}', /linked entities/],
      ['speed,owner{Person:name}', /linked entities/],
      ['*', /wildcards are not supported/],
      ['speed,sp*', /wildcards are not supported/],
      ['address[city]', /brackets/],
      ['speed>5', /letters, digits/],
      ['!speed', /letters, digits/],
      ['a|b', /letters, digits/],
      [`a,${'b'.repeat(2049)}`, /longer than 2048/],
      [Array.from({ length: 1001 }, (_, n) => `a${n}`).join(','), /at most 1000/],
    ] as const) {
      const { message } = badData(queryOf({ type: 'A', [name]: value }), name);
      assert.match(message, hint);
      assert.match(message, new RegExp(`^${name}\\b`));
      assert.ok(message.length < 500);
    }
    const thousand = Array.from({ length: 1000 }, (_, n) => `a${n}`).join(',');
    for (const value of ['b,a,https://x/y', thousand, 'a'.repeat(2048)])
      accepted(queryOf({ type: 'A', [name]: value }));
  }
});

it('type, geoproperty and geometryProperty must also be names', () => {
  for (const type of ['A{b}', 'A[b]', 'Car,A=1', '(A;B!)', 'https://x.test/{a}'])
    badData(queryOf({ type }), 'type');
  const geo = { type: 'A', georel: 'within', geometry: 'Point', coordinates: '[1,2]' };
  for (const name of ['geoproperty', 'geometryProperty'] as const) {
    for (const value of ['place,other', 'place{x}', 'place[x]', '*']) {
      badData(queryOf({ ...geo, [name]: value }), name);
    }
  }
});

it('csf is a query and scopeQ a scope query', () => {
  for (const csf of ['tenant=', 'a==', 'a==1;', '(a']) badData(queryOf({ type: 'A', csf }), 'csf');
  assert.match(badData(queryOf({ type: 'A', csf: 'owner{name}' }), 'csf').message, /linked entities/);
  for (const scopeQ of ['city', '/', '/a;/b', '/a//b', '/#/a', '/a{b}'])
    badData(queryOf({ type: 'A', scopeQ }), 'scopeQ');
  accepted(queryOf({ type: 'A', csf: 'a==1|b', scopeQ: '(/a/+;/b),/c/#' }));
});

it('idPattern is kept, so that the answers can be checked against it', () => {
  const { idPattern } = accepted('type=A&idPattern=%5Eurn:.%2A%5C%2B');
  assert.equal(idPattern?.test('urn:a+'), true);
  assert.equal(idPattern.test('urn:a'), false);
});

it('idPattern is refused if compiling it would block the process', () => {
  for (const idPattern of ['a{0,1000}'.repeat(100), '((a{100}){100}){100}', 'a'.repeat(3000)])
    assert.match(
      badData(queryOf({ type: 'A', idPattern, dryRun: 'true' }), 'idPattern').message,
      /too large/,
    );
});

it('drop and keep name the attributes to remove or to leave', () => {
  assert.deepEqual(accepted('type=A&drop=speed,https://x.test/a').removal, {
    kind: 'drop',
    names: ['speed', 'https://x.test/a'],
  });
  assert.deepEqual(accepted('type=A&keep=speed').removal, { kind: 'keep', names: ['speed'] });
  assert.equal(accepted('type=A').removal, undefined);
});

it('drop and keep cannot be combined', () => {
  badData('type=A&drop=a&keep=b', 'keep');
});

it('drop names only attributes that attrs shows, and keep requires that all are shown', () => {
  for (const drop of ['a', 'b', 'a,b', 'b,a'])
    assert.deepEqual(accepted(`type=A&attrs=a,b&drop=${drop}`).removal?.names, drop.split(','));
  for (const drop of ['c', 'a,c', 'c,a', 'A'])
    assert.match(badData(`type=A&attrs=a,b&drop=${drop}`, 'drop').message, /listed there: a, b\.$/);
  for (const keep of ['a', 'a,b', 'c']) badData(`type=A&attrs=a,b&keep=${keep}`, 'keep');
});

it("drop and keep never name members of an entity or the broker's own attributes", () => {
  const core = 'https://uri.etsi.org/ngsi-ld/createdAt';
  for (const name of words(`
    id type scope @id @type @context createdAt modifiedAt deletedAt expiresAt ${core}
  `)) {
    badData(queryOf({ type: 'A', drop: `speed,${name}` }), 'drop');
    badData(queryOf({ type: 'A', keep: name }), 'keep');
  }
});

it('dryRun and local are true or false, exactly', () => {
  for (const name of ['dryRun', 'local']) {
    for (const value of ['TRUE', 'True', '1', 'yes', 'on', ' true', 'null']) {
      invalid(queryOf({ type: 'A', [name]: value }), name);
    }
  }
  assert.equal(accepted('type=A&dryRun=true').dryRun, true);
  assert.equal(accepted('type=A&dryRun=false').dryRun, false);
  assert.equal(accepted('type=A').dryRun, false);
});

it('maxAffected is a whole number from 1', () => {
  for (const value of ['0', '-1', '+1', '1.0', '1e3', '01', 'all', ' 1', '0x1', '9'.repeat(16), '١']) {
    invalid(queryOf({ type: 'A', maxAffected: value }), 'maxAffected');
  }
  assert.equal(accepted('type=A&maxAffected=1').maxAffected, 1);
  assert.equal(accepted(`type=A&maxAffected=${'9'.repeat(15)}`).maxAffected, 999_999_999_999_999);
});

it('the refusal of a pattern that is too large keeps its cause', () => {
  const query = queryOf({ type: 'Car', idPattern: '(a{1,999}){1,999}b{1,999}' });
  const { cause } = assertRefused(() => parseEntityPurgeQuery(query), 'badRequestData', 'idPattern');
  assert.ok(cause instanceof PatternTooLargeError);
});

it('the refusal of a value shows at most two hundred characters of it, whatever the parameter', () => {
  const assertShort = (name: string, parse: () => unknown) =>
    assert.throws(parse, (error: unknown) => {
      assert.ok(error instanceof QueryRefusedError && error.parameter === name, String(error));
      assert.ok(error.message.length < 600, `${name}: ${error.message.length}`);
      return true;
    });
  const long = '<'.repeat(20_000);
  const time = { timerel: 'before', timeAt: '2026-01-01T00:00:00Z' };
  for (const [name, others] of [
    ...['type', 'id', 'attrs', 'q', 'scopeQ', 'drop', 'keep', 'local', 'dryRun', 'maxAffected'].map(
      (name) => [name, {}] as const,
    ),
    ['geometry', { georel: 'within', coordinates: '[1,2]' }],
    ['georel', { geometry: 'Point', coordinates: '[1,2]' }],
    ['coordinates', { georel: 'within', geometry: 'Point' }],
  ] as const) {
    const query = queryOf({ type: 'Car', ...others, [name]: long });
    assertShort(name, () => parseEntityPurgeQuery(query));
  }
  for (const name of ['datasetId', 'timeAt', 'timerel', 'timeproperty', 'attrs']) {
    const query = queryOf({ type: 'Car', ...time, [name]: long });
    assertShort(name, () => parseTemporalPurgeQuery(query));
  }
  const { message } = assertRefused(
    () => parseEntityPurgeQuery(queryOf({ id: 'x'.repeat(300) })),
    'badRequestData',
    'id',
  );
  assert.ok(message.includes(`"${'x'.repeat(200)}"`), message);
});
