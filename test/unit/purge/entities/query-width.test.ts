import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PolicyRefusedError } from '../../../../sidecar/purge/errors.js';
import { parseEntityPurgeQuery } from '../../../../sidecar/purge/index.js';
import { parseTemporalPurgeQuery } from '../../../../sidecar/purge/temporal/index.js';
import { assertRefused, assertsAbout, queryOf } from '../refusals.js';
import { words } from '../../../support/words.js';

const GEO = 'georel=near%3BmaxDistance==100&geometry=Point&coordinates=%5B1,2%5D';

const { accepted, badData, invalid } = assertsAbout(parseEntityPurgeQuery);

it('too wide queries (clause 5.6.21.4): a query without any parameter is refused', () => {
  badData('');
  badData('dryRun=true');
  badData('maxAffected=5');
  badData('local=false');
});

for (const [name, value] of [
  ['id', 'urn:ngsi-ld:Car:1'],
  ['idPattern', '.*'],
  ['scopeQ', '/city'],
  ['csf', 'tenant==1'],
  ['drop', 'speed'],
  ['keep', 'speed'],
  ['expandValues', 'speed'],
  ['jsonKeys', 'speed'],
  ['geometryProperty', 'place'],
] as const) {
  it(`too wide queries (clause 5.6.21.4): ${name} alone is refused, even with a bound or as a dry run`, () => {
    const query = queryOf({ [name]: value });
    for (const more of ['', '&maxAffected=1', '&dryRun=true', '&local=false']) badData(`${query}${more}`);
  });
}

it('too wide queries (clause 5.6.21.4): id, idPattern, scopeQ and csf are refused even all together', () => {
  badData('id=urn:a:1&idPattern=%5Eurn&scopeQ=/a&csf=a==1');
});

it("too wide queries (clause 5.6.21.4): attrs or q with only the broker's own attributes are refused", () => {
  for (const attrs of words(`
      createdAt modifiedAt deletedAt createdAt,modifiedAt id type,scope
    `)) {
    badData(`attrs=${attrs}`);
  }
  badData(queryOf({ attrs: 'https://uri.etsi.org/ngsi-ld/createdAt' }));
  for (const q of words(`
      modifiedAt<2020-01-01T00:00:00Z createdAt !deletedAt
      createdAt>2020-01-01T00:00:00Z;modifiedAt<2021-01-01T00:00:00Z (createdAt|modifiedAt) type id==urn:a:1
      https://uri.etsi.org/ngsi-ld/modifiedAt
    `)) {
    badData(queryOf({ q }));
  }
});

it('the refusal of a too wide query says what would be narrow enough', () => {
  const { message } = badData('idPattern=.*&csf=a==1');
  for (const word of ['idPattern', 'csf', 'type', 'attrs', 'geoquery', 'local=true'])
    assert.ok(message.includes(word));
});

for (const query of words(`
  type=Car type=Car&attrs=createdAt attrs=speed attrs=speed,heading type=Car&attrs=createdAt,speed q=speed
  q=speed%3E50 q=createdAt%3E2020-01-01T00:00:00Z%3Bspeed q=speed.createdAt%3E2020-01-01T00:00:00Z ${GEO}
  ${GEO}&geoproperty=place local=true&id=urn:ngsi-ld:Car:1 local=true&idPattern=Car
  local=true&scopeQ=/city q=!typo&type=Car q=!typo%3Bspeed q=(speed%7Cheading)%3Bowner!=urn:a:1
  type=*&q=speed local=true&q=!typo&scopeQ=/city/%23 type=*&id=urn:ngsi-ld:Car:1
`)) {
  it(`narrow enough queries (clause 5.6.21.4) are accepted without a bound: ${query}`, () => {
    assert.equal(accepted(query).maxAffected, undefined);
  });
}

const WHOLE_TENANT = words(`
  local=true type=* type=*&local=true local=true&csf=a==1 local=true&drop=speed local=true&attrs=createdAt
  attrs=createdAt,speed attrs=speed,scope local=true&idPattern=.* local=true&scopeQ=/%23
  local=true&q=modifiedAt%3C2020-01-01T00:00:00Z type=*&expandValues=a q=!typo q=speed!=5 q=name!~=x
  q=!speed%3Bname!=%22x%22 q=speed%7CcreatedAt%3E2020-01-01T00:00:00Z q=(speed%3E5%7C!speed)
  q=((speed%3E5%3Bheading)%7C(!speed%3BcreatedAt)) q=!typo&csf=a==1 q=!typo&attrs=createdAt
  q=!typo&idPattern=.*
`);

for (const query of WHOLE_TENANT) {
  it(`queries that may empty a tenant need maxAffected, or a dry run: ${query}`, () => {
    const { message } = invalid(query, 'maxAffected');
    assert.ok(message.includes('dryRun=true'));
    invalid(`${query}&dryRun=false`, 'maxAffected');
    assert.equal(accepted(`${query}&maxAffected=12`).maxAffected, 12);
    assert.equal(accepted(`${query}&dryRun=true`).dryRun, true);
  });
}

it('queries that may empty a tenant are accepted if the configuration allows it, with any bound', () => {
  for (const query of WHOLE_TENANT) {
    assert.equal(parseEntityPurgeQuery(query, 'allow').maxAffected, undefined, query);
    assert.equal(parseEntityPurgeQuery(`${query}&maxAffected=5`, 'allow').maxAffected, 5);
  }
});

it('queries that may empty a tenant are refused if the configuration forbids it, with any bound; dry runs are not', () => {
  for (const query of WHOLE_TENANT) {
    for (const more of ['', '&maxAffected=1', '&dryRun=false']) {
      assert.throws(() => parseEntityPurgeQuery(`${query}${more}`, 'refuse'), PolicyRefusedError, query);
    }
    assert.equal(parseEntityPurgeQuery(`${query}&dryRun=true`, 'refuse').dryRun, true);
  }
  assert.equal(parseEntityPurgeQuery('type=Car', 'refuse').maxAffected, undefined);
});

it('temporal queries that may empty a tenant are treated alike, unless a time filter narrows them', () => {
  const TIME = 'timerel=before&timeAt=2026-01-01T00:00:00Z';
  for (const query of ['local=true', 'q=!typo', 'q=(speed%7C!speed)']) {
    assertRefused(() => parseTemporalPurgeQuery(query), 'invalidRequest', 'maxAffected');
    assert.throws(() => parseTemporalPurgeQuery(`${query}&maxAffected=1`, 'refuse'), PolicyRefusedError);
    assert.equal(parseTemporalPurgeQuery(query, 'allow').target.kind, 'entities');
    assert.equal(parseTemporalPurgeQuery(`${query}&${TIME}`, 'refuse').target.kind, 'instances');
  }
});

it('queries that are too wide for the standard are refused, whatever the setting for whole tenants', () => {
  for (const query of ['', 'id=urn:a:1', 'q=createdAt', 'attrs=createdAt', 'scopeQ=/a'])
    assertRefused(() => parseEntityPurgeQuery(query, 'allow'), 'badRequestData');
});

it('queries for type=* are local, and say so to the broker', () => {
  const local = { name: 'local', value: 'true' };
  assert.deepEqual(accepted('type=*&maxAffected=1').selection, [{ name: 'type', value: '*' }, local]);
  assert.deepEqual(accepted('type=*&local=true&maxAffected=1').selection, [
    { name: 'type', value: '*' },
    local,
  ]);
  assert.deepEqual(accepted('type=Car').selection, [{ name: 'type', value: 'Car' }]);
});

it('queries for type=* with local=false are refused, whatever else they name', () => {
  badData('type=*&local=false', 'type');
  badData('type=%2A&local=false&q=speed&maxAffected=1', 'type');
  badData('type=*&local=false&dryRun=true', 'type');
});
