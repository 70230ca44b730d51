import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { classifyRequest, isSingleResourceDeletePath } from '../../../sidecar/ngsi-ld/request-path.js';
import { words } from '../../support/words.js';

const kindOf = (method: string, target: string, headers: string[] = []) =>
  classifyRequest(method, target, headers).kind;
const reasonOf = (method: string, target: string, headers: string[] = []) => {
  const decision = classifyRequest(method, target, headers);
  return decision.kind === 'refuse' ? decision.reason : decision.kind;
};

const ENTITIES = '/ngsi-ld/v1/entities';
const TEMPORAL = '/ngsi-ld/v1/temporal/entities';

const exact = [
  [ENTITIES, 'entities'],
  [`${ENTITIES}/`, 'entities'],
  [`${ENTITIES}?type=T`, 'entities'],
  [`${ENTITIES}/?type=T&q=a/b;c`, 'entities'],
  [`${ENTITIES}?`, 'entities'],
  [`${ENTITIES}??x=/../`, 'entities'],
  [TEMPORAL, 'temporal'],
  [`${TEMPORAL}/`, 'temporal'],
  [`${TEMPORAL}/?type=T`, 'temporal'],
] as const;
for (const [target, collection] of exact) {
  it(`an exactly written DELETE is a purge of ${collection}: ${target}`, () => {
    assert.deepEqual(classifyRequest('DELETE', target), { kind: 'purge', target: collection });
  });
}

it('an exactly written DELETE stays a purge if a header asks for another method', () => {
  assert.equal(kindOf('DELETE', ENTITIES, ['X-HTTP-Method-Override', 'GET']), 'purge');
});

const hostile = [
  ...words(`
  /ngsi-ld/v1//entities //ngsi-ld/v1/entities /ngsi-ld//v1/entities?type=T /ngsi-ld/v1/entities//
  /ngsi-ld/v1/./entities /./ngsi-ld/v1/entities /ngsi-ld/v1/entities/. /ngsi-ld/v1/entities/./
  /ngsi-ld/v1/entities/%2e /ngsi-ld/v1/entities/%2E/ /ngsi-ld/v1/x/../entities /ngsi-ld/v1/entities/x/..
  /ngsi-ld/v1/entities/urn:x/%2e%2e /ngsi-ld/v1/entities/urn:x%2F.. /ngsi-ld/v1/entities/urn:x%2f%2e%2e%2f
  /ngsi-ld/v1/entities/urn:x%252F.. /ngsi-ld/v1/entities/urn:x%5C.. /ngsi-ld/v1/entities/urn:x\\..
  /ngsi-ld/v1/entities/urn:x/attrs/..%2f.. /ngsi-ld/v1/temporal/../entities
  /ngsi-ld/v1/entities/..;/entities /x/../ngsi-ld/v1/entities /../ngsi-ld/v1/entities
  /api/v2/..%2F..%2Fngsi-ld/v1/entities /ngsi-ld/v1/%65ntities /ngsi-ld/v1/%2565ntities
  /ngsi-ld/v1/%252565ntities /%6egsi-ld/v1/entities /ngsi%2Dld/v1/entities /ngsi-ld/%761/entities
  /ngsi-ld%2Fv1%2Fentities /ngsi-ld/v1%2Fentities /ngsi-ld/v1/temporal%2Fentities /ngsi-ld/v1/entities%2F
  /ngsi-ld/v1/entities/%2F /ngsi-ld/v1/entities/%252F /ngsi-ld/v1/entities;x /ngsi-ld/v1/entities;x=1/
  /ngsi-ld;a/v1;b/entities;c?type=T /ngsi-ld/v1/entities%3Bx /ngsi-ld/v1/entities/;x
  /ngsi-ld/v1/entities/%3Bx /ngsi-ld/v1/entities/%3Fx /ngsi-ld/v1/entities/%23x
  /ngsi-ld/v1/entities%3Ftype=T /ngsi-ld/v1\\entities \\ngsi-ld\\v1\\entities /ngsi-ld%5Cv1%5Centities
  /ngsi-ld/v1/Entities /NGSI-LD/V1/ENTITIES /ngsi-ld/V1/entities /ngsi-ld/v1/temporal/Entities
  http://broker/ngsi-ld/v1/entities http://broker:1026/ngsi-ld/v1/entities?type=T
  HTTPS://u:p@broker/ngsi-ld/v1/entities/ http:///ngsi-ld/v1/entities http://broker?x/ngsi-ld/v1/entities
  http://broker#x/ngsi-ld/v1/entities ngsi-ld/v1/entities /ngsi-ld/v1/entities#x /ngsi-ld/v1/entities#/urn:x
  /ngsi-ld/v1/entities?type=T#x /ngsi-ld/v1/entities%00 /ngsi-ld/v1/entities%00x /ngsi-ld/v1/entities/%00
  /ngsi-ld/v1/entities/%00urn:x /ngsi-ld/v1/entities/%20 /ngsi-ld/v1/entities/%09 /ngsi-ld/v1/entities%20
  /ngsi-ld/v1/entities/%C2%A0 /ngsi-ld/v1/entities/%E2%80%8B /ngsi-ld/v1%C0%AFentities
  /ngsi-ld/v1/entities/%C0%AE /ngsi-ld/v1/entities/urn:x%E0%80%AF.. /ngsi-ld/v1/%E0%81%A5ntities
  /ngsi-ld/v1/%C1%A5ntities /ngsi-ld/v1/%F0%80%81%A5ntities /ngsi-ld/v1／entities
  /ngsi-ld/v1%EF%BC%8Fentities /ngsi-ld/v1/%EF%BD%85ntities /ngsi-ld/v1/entities/%EF%BC%8E%EF%BC%8E/entities
  /ngsi-ld/v1/%u0065ntities /ngsi-ld/v1/entities/urn:x%u002f.. /ngsi-ld/entities /ngsi-ld/v2/entities
  /ngsi-ld/temporal/entities
`),
  '/ngsi-ld/v1/entities ',
  ' /ngsi-ld/v1/entities',
  '/ngsi-ld/v1/entities\t',
  '/ngsi-ld/v1/ent\tities',
  '/ngsi-ld/v1/entities\n',
  '/ngsi-ld/v1/entities\0',
];
for (const target of hostile) {
  it(`a DELETE that means a collection but is not written exactly is refused: ${JSON.stringify(target)}`, () => {
    assert.equal(kindOf('DELETE', target), 'refuse');
  });
}

it('the refusal of a collection that is not written exactly differs from other refusals', () => {
  assert.equal(reasonOf('DELETE', '/ngsi-ld/v1//entities'), 'inexact-collection');
  assert.equal(reasonOf('DELETE', '/ngsi-ld/v1/temporal/%65ntities'), 'inexact-collection');
  for (const e of ['%C1%A5', '%E0%81%A5', '%F0%80%81%A5', '%EF%BD%85', '%u0065', '%2565'])
    assert.equal(reasonOf('DELETE', `/ngsi-ld/v1/${e}ntities`), 'inexact-collection', e);
  assert.equal(reasonOf('DELETE', '/ngsi-ld/v1/subscriptions'), 'not-one-resource');
});

describe('a DELETE of anything under /ngsi-ld that is not exactly one known resource never passes', () => {
  const targets = words(`
    /ngsi-ld /ngsi-ld/ /ngsi-ld/v1 /ngsi-ld/v1/ /ngsi-ld/v1/temporal /ngsi-ld/v1/subscriptions
    /ngsi-ld/v1/subscriptions/ /ngsi-ld/v1/csourceRegistrations?type=T /ngsi-ld/v1/csourceSubscriptions
    /ngsi-ld/v1/jsonldContexts /ngsi-ld/v1/entityMaps /ngsi-ld/v1/temporal/entityMaps/
    /ngsi-ld/v1/snapshots?q=a /ngsi-ld/v1/snapshots/urn:s:1/clone /ngsi-ld/v1/types /ngsi-ld/v1/types/T
    /ngsi-ld/v1/attributes/a /ngsi-ld/v1/entityOperations/delete
    /ngsi-ld/v1/temporal/entityOperations/delete /ngsi-ld/v1/info/sourceIdentity /ngsi-ld/v1/unknown/x
    /ngsi-ld/v1/csourceregistrations/urn:r:1 /ngsi-ld/ex/v1/entities/urn:x /ngsi-ld/ex/v1/tenants/t
    /ngsi-ld/v2/entities/urn:x /ngsi-ld/v1/entities/urn:x/ /ngsi-ld/v1/entities//urn:x
    /ngsi-ld/v1/entities/%2Furn:x /ngsi-ld/v1/entities/urn:x/attrs /ngsi-ld/v1/entities/urn:x/attrs/
    /ngsi-ld/v1/entities/urn:x%2Fattrs /ngsi-ld/v1/temporal/entities/urn:x%2Fattrs
    /ngsi-ld/v1/temporal/entities/urn:x/attrs /ngsi-ld/v1/entities/urn:x/attrs/a/
    /ngsi-ld/v1/entities/urn:x/attrs/a/b /ngsi-ld/v1/entities/urn:x/attrs/.
    /ngsi-ld/v1/entities/urn:x%2F..%2Furn:y /ngsi-ld/v1/entities/urn:x%5C%2e%2e%5Curn:y
    /ngsi-ld/v1/entities/urn:x%2F..;a%2Furn:y /ngsi-ld/v1/entities/urn:x%252F.%252Furn:y
    /ngsi-ld/v1/entities/urn:x/attrs/a%2F..%2Fb /ngsi-ld/v1/entities/urn:x/attrs/%2e%2e
    /ngsi-ld/v1/entities/urn:x/attrs/* /ngsi-ld/v1/entities/urn:x/attrs/%2F /ngsi-ld/v1/entities/*
    /ngsi-ld/v1/entities/%2A /ngsi-ld/v1/entities/... /ngsi-ld/v1/entities/urn:x%zz
    /ngsi-ld/v1/entities/urn:x% /ngsi-ld/v1/entities/urn:x%FF /ngsi-ld/v1/entities/urn:x%0A
    /ngsi-ld/v1/entities/urn:x%252525252525 /ngsi-ld/v1/entities/urn:x#y /ngsi-ld/v1/entities/urn:x?type=T#y
    /ngsi-ld/v1/entities/urn:é http://broker/ngsi-ld/v1/entities/urn:x
    /ngsi-ld/v1/temporal/entities/urn:x/attrs/a/i/j /ngsi-ld/v1/temporal/entities/urn:x/attrs/a/
    /ngsi-ld/v1/temporal/entities/urn:x/attrs/a/%2e%2e
  `);
  for (const target of targets) {
    it(`a DELETE under /ngsi-ld of anything except exactly one known resource is refused: ${target}`, () => {
      assert.equal(kindOf('DELETE', target), 'refuse');
    });
  }
});

const identifiers = words(`
    urn:ngsi-ld:Vehicle:A1 urn%3Angsi-ld%3AVehicle%3AA1 urn:a%2F..b urn:a%2Fb%2Fc urn:a..b urn:x..
    http%3A%2F%2Fexample.org%2Fthings%2F1%3Fa=b%23c https:%2F%2Fexample.org%2F urn:%C3%A9%E2%82%AC
    urn:100%25 urn:a%3Fb%23c%25d%26e%2Bf%3Dg%3Bh urn:a&b+c=d;e urn:!$'()*:@~_-.
  `);
for (const identifier of identifiers) {
  for (const query of ['', '?type=T', '?', '?x=/../&_method=DELETE']) {
    it(`a DELETE of exactly one resource passes: entity ${identifier}${query}`, () => {
      assert.equal(kindOf('DELETE', `${ENTITIES}/${identifier}${query}`), 'pass');
    });
  }
}
const resources = words(`
    entities/urn:x/attrs/speed entities/urn:x/attrs/https%3A%2F%2Furi.example%2Fns%23speed?deleteAll=true
    temporal/entities/urn:x temporal/entities/urn:x/attrs/speed
    temporal/entities/urn:x/attrs/speed/urn:ngsi-ld:Instance:1
    temporal/entities/urn:x/attrs/speed/instanceid%3A1 subscriptions/urn:s:1 csourceRegistrations/urn:r:1
    csourceSubscriptions/urn:s:1 jsonldContexts/https%3A%2F%2Fexample.org%2Fcontext.jsonld?reload=true
    entityMaps/urn:m:1 temporal/entityMaps/urn:m:1 snapshots/urn:s:1
  `);
for (const resource of resources) {
  it(`a DELETE of exactly one resource passes: ${resource}`, () => {
    assert.equal(kindOf('DELETE', `/ngsi-ld/v1/${resource}`), 'pass');
  });
}

describe('a DELETE whose identifier cannot be one identifier never passes', () => {
  const collections = ['entities', 'temporal/entities', 'subscriptions', 'csourceRegistrations'].concat(
    words(`
    csourceSubscriptions entityMaps temporal/entityMaps snapshots
  `),
  );
  const lists = ['urn:a,urn:b', 'urn:a,', 'urn:a%2Curn:b', 'urn:a%252Curn:b', 'urn:a%EF%BC%8Curn:b'];
  const notUris = words(`
    null undefined .json Room1 1 urn: urn%253Aa %3Aa -a:b a%20b:c
  `);
  const targets = collections.flatMap((collection) =>
    [...lists, ...notUris].map((id) => `/ngsi-ld/v1/${collection}/${id}`),
  );
  for (const target of [
    ...targets,
    '/ngsi-ld/v1/entities/null/attrs/a',
    '/ngsi-ld/v1/entities/urn:x/attrs/a,b',
    '/ngsi-ld/v1/entities/urn:x/attrs/a%2Cb?deleteAll=true',
    '/ngsi-ld/v1/temporal/entities/urn:x/attrs/a/urn:i:1,urn:i:2',
    '/ngsi-ld/v1/temporal/entities/.json/attrs/a/urn:i:1',
    '/ngsi-ld/v1/jsonldContexts/a,b',
  ]) {
    it(`a DELETE whose identifier cannot be one identifier is refused: ${target}`, () => {
      assert.equal(reasonOf('DELETE', target), 'not-one-identifier');
      assert.equal(reasonOf('POST', target, ['X-HTTP-Method-Override', 'DELETE']), 'method-override');
      assert.equal(kindOf('DELETE', '/ngsi-ld/v1/entities/urn:x', ['X-Original-URL', target]), 'refuse');
      assert.equal(kindOf('GET', target), 'pass');
    });
  }

  it('a context may have any local identifier, and commas may be in the query', () => {
    for (const target of ['jsonldContexts/null', 'jsonldContexts/.json5', 'entities/urn:x?type=A,B'])
      assert.equal(kindOf('DELETE', `/ngsi-ld/v1/${target}`), 'pass', target);
  });
});

for (const target of [
  ...words(`
  / * /health/live /api/v2/domains/ngsi-ld /api/v2/domains/d?x=/ngsi-ld/v1/entities /ngsi-ldx/v1/entities
  /v1/entities /x/../api/v2/domains http://ngsi-ld/v1/entities gateway:8080
`),
  '',
]) {
  for (const method of ['GET', 'DELETE']) {
    it(`a path outside /ngsi-ld stays with this service: ${method} ${target}`, () => {
      assert.equal(kindOf(method, target), 'other');
    });
  }
}

it('isSingleResourceDeletePath refuses every control character, however often it is encoded', () => {
  const codes = Array.from({ length: 0xa0 }, (_, code) => code).filter((code) => code < 0x20 || code >= 0x7f);
  for (const code of codes) {
    const encoded = encodeURIComponent(String.fromCharCode(code));
    for (const written of [encoded, encodeURIComponent(encoded)])
      assert.equal(isSingleResourceDeletePath(`${ENTITIES}/urn:x${written}y`), false, written);
  }
});

it('isSingleResourceDeletePath refuses built paths that a careless server could read as a collection', () => {
  for (const id of [
    ...words(`
    . .. / // * ;a ?a #a urn:x/.. urn:x\\.. urn:x/attrs ／
  `),
    '',
    ' ',
    '\0',
  ]) {
    assert.equal(
      isSingleResourceDeletePath(`${ENTITIES}/${encodeURIComponent(id)}`),
      false,
      JSON.stringify(id),
    );
  }
  assert.equal(isSingleResourceDeletePath(ENTITIES), false);
  assert.equal(isSingleResourceDeletePath(`${ENTITIES}?id=urn:x`), false);
});
