import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseEntityPurgeQuery } from '../../../sidecar/purge/query.js';
import { assertRefused, queryOf } from './refusals.js';

const GEO = 'georel=near%3BmaxDistance==100&geometry=Point&coordinates=%5B1,2%5D';

const accepted = (query: string) => parseEntityPurgeQuery(query);
const badData = (query: string, parameter?: string) =>
  assertRefused(() => parseEntityPurgeQuery(query), 'badRequestData', parameter);
const invalid = (query: string, parameter: string) =>
  assertRefused(() => parseEntityPurgeQuery(query), 'invalidRequest', parameter);

describe('parseEntityPurgeQuery: too wide queries (clause 5.6.21.4)', () => {
  it('are refused without any parameter', () => {
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
    it(`are refused when they name ${name} alone, also with a bound or as a dry run`, () => {
      const query = queryOf({ [name]: value });
      for (const more of ['', '&maxAffected=1', '&dryRun=true', '&local=false']) badData(`${query}${more}`);
    });
  }

  it('are refused when all of id, idPattern, scopeQ and csf stand together', () => {
    badData('id=urn:a:1&idPattern=%5Eurn&scopeQ=/a&csf=a==1');
  });

  it("are refused when attrs or q name nothing but the broker's own attributes or entity members", () => {
    for (const attrs of [
      'createdAt',
      'modifiedAt',
      'deletedAt',
      'createdAt,modifiedAt',
      'id',
      'type,scope',
    ]) {
      badData(`attrs=${attrs}`);
    }
    badData(queryOf({ attrs: 'https://uri.etsi.org/ngsi-ld/createdAt' }));
    for (const q of [
      'modifiedAt<2020-01-01T00:00:00Z',
      'createdAt',
      '!deletedAt',
      'createdAt>2020-01-01T00:00:00Z;modifiedAt<2021-01-01T00:00:00Z',
      '(createdAt|modifiedAt)',
      'type',
      'id==urn:a:1',
      'https://uri.etsi.org/ngsi-ld/modifiedAt',
    ]) {
      badData(queryOf({ q }));
    }
  });

  it('say what would be narrow enough', () => {
    const { message } = badData('idPattern=.*&csf=a==1');
    for (const word of ['idPattern', 'csf', 'type', 'attrs', 'geoquery', 'local=true'])
      assert.ok(message.includes(word));
  });
});

describe('parseEntityPurgeQuery: narrow enough queries (clause 5.6.21.4)', () => {
  for (const query of [
    'type=Car',
    'type=Car&attrs=createdAt',
    'attrs=speed',
    'attrs=createdAt,speed',
    'q=speed',
    'q=speed%3E50',
    'q=createdAt%3E2020-01-01T00:00:00Z%3Bspeed',
    'q=speed.createdAt%3E2020-01-01T00:00:00Z',
    GEO,
    `${GEO}&geoproperty=place`,
    'local=true&id=urn:ngsi-ld:Car:1',
    'local=true&idPattern=Car',
    'local=true&scopeQ=/city',
    'local=true&q=modifiedAt%3C2020-01-01T00:00:00Z',
    'type=*&id=urn:ngsi-ld:Car:1',
  ]) {
    it(`are taken without a bound: ${query}`, () => {
      assert.equal(accepted(query).maxAffected, undefined);
    });
  }
});

describe('parseEntityPurgeQuery: queries that empty a tenant', () => {
  for (const query of [
    'local=true',
    'type=*',
    'type=*&local=true',
    'local=true&csf=a==1',
    'local=true&drop=speed',
    'local=true&attrs=createdAt',
    'local=true&idPattern=.*',
    'type=*&expandValues=a',
  ]) {
    it(`need maxAffected, or a dry run: ${query}`, () => {
      const { message } = invalid(query, 'maxAffected');
      assert.ok(message.includes('dryRun=true'));
      invalid(`${query}&dryRun=false`, 'maxAffected');
      assert.equal(accepted(`${query}&maxAffected=12`).maxAffected, 12);
      assert.equal(accepted(`${query}&dryRun=true`).dryRun, true);
    });
  }

  it('are local for type=*, and say so to the broker', () => {
    const local = { name: 'local', value: 'true' };
    assert.deepEqual(accepted('type=*&maxAffected=1').selection, [{ name: 'type', value: '*' }, local]);
    assert.deepEqual(accepted('type=*&local=true&maxAffected=1').selection, [
      { name: 'type', value: '*' },
      local,
    ]);
    assert.deepEqual(accepted('type=Car').selection, [{ name: 'type', value: 'Car' }]);
  });

  it('are refused for type=* with local=false, whatever else they name', () => {
    badData('type=*&local=false', 'type');
    badData('type=%2A&local=false&q=speed&maxAffected=1', 'type');
  });
});
