import assert from 'node:assert/strict';
import { it } from 'node:test';
import { classifyRequest } from '../../../sidecar/ngsi-ld/request-path.js';
import { words } from '../../support/words.js';

const kindOf = (method: string, target: string, headers: string[] = []) =>
  classifyRequest(method, target, headers).kind;
const reasonOf = (method: string, target: string, headers: string[] = []) => {
  const decision = classifyRequest(method, target, headers);
  return decision.kind === 'refuse' ? decision.reason : decision.kind;
};

const ENTITIES = '/ngsi-ld/v1/entities';

const spellings = words(`
  ${ENTITIES} ${ENTITIES}/ /ngsi-ld/v1//entities //ngsi-ld/v1/entities /ngsi-ld/v1/./entities
  /ngsi-ld/v1/%65ntities /%6Egsi-ld/v1/entities /NGSI-LD/v1/entities /ngsi-ld/v1/entities;x
  /ngsi-ld/v1\\entities /ngsi-ld/v1/entities#x /ngsi-ld/v1/entities/urn:a%2F..b
  /ngsi-ld/v1/entities/urn:a/../b /ngsi-ld/v1/entities/%zz /ngsi-ld/ex/v1/version /ngsi-ld
  http://gateway/ngsi-ld/v1/entities?type=T /ngsi-ld/v1/entities?q=_method==%22delete%22
`);
for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'OPTIONS']) {
  for (const target of spellings) {
    it(`a method other than DELETE passes whatever its path: ${method} ${target}`, () => {
      assert.equal(kindOf(method, target), 'pass');
    });
  }
}

for (const target of words(`
    /ngsi-ld/../v2/op/update /ngsi-ld/v1/../../v2/entities /ngsi-ld/..%2Fadmin /ngsi-ld/%2e%2e/v2/entities
    /ngsi-ld/..;/v2/entities /ngsi-ld\\..\\v2 /ngsi-ld/%C0%AE%C0%AE/v2 /ngsi-ld/%C1%9C..%C1%9Cv2
    /ngsi-ld/%E0%81%9C..%E0%81%9Cv2 /ngsi-ld/%F0%80%81%9C..%F0%80%81%9Cv2 /ngsi-ld/%252e%252e/v2
    /ngsi-ld/../api/v2/domains /x/../ngsi-ld/v1/entities /../ngsi-ld/v1/entities
    /ngsi-ld/v1/entities/urn:x%2F..%2F..%2F..%2F..%2Fv2
  `)) {
  it(`a method other than DELETE never leads out of the API: ${target}`, () => {
    assert.equal(reasonOf('POST', target), 'leaves-api');
  });
}

it('a method other than DELETE needs a target that can be forwarded', () => {
  assert.equal(reasonOf('GET', 'ngsi-ld/v1/entities'), 'malformed-target');
  assert.equal(reasonOf('GET', 'http://gateway?x/ngsi-ld/v1/entities'), 'malformed-target');
  assert.equal(reasonOf('GET', 'http://gateway?x/ngsi-ld/../v2'), 'leaves-api');
});

it('DELETE in another case is never a purge, and never passes as a DELETE', () => {
  for (const method of ['delete', 'Delete', ' DELETE']) assert.equal(kindOf(method, ENTITIES), 'refuse');
});

const headers = [
  ['X-HTTP-Method-Override', 'DELETE'],
  ['x-http-method-override', 'delete'],
  ['X-HTTP-Method', ' Delete '],
  ['X-Method-Override', 'GET, DELETE'],
  ['X-Method', 'DELETE'],
  ['HTTP-Method-Override', 'DELETE'],
  ['X_HTTP_Method_Override', 'DELETE'],
];
for (const header of headers) {
  it(`an override never turns another method into the DELETE of a collection by ${header.join(': ')}`, () => {
    assert.equal(reasonOf('POST', `${ENTITIES}?type=T`, ['Accept', '*/*', ...header]), 'method-override');
    assert.equal(reasonOf('GET', '/ngsi-ld/v1/%65ntities', header), 'method-override');
    assert.equal(kindOf('POST', '/ngsi-ld/v1/entities/urn:x', header), 'pass');
    assert.equal(kindOf('POST', '/api/v2/domains', header), 'other');
  });
}
for (const query of words(`
    _method=DELETE a=b&_method=delete %5Fmethod=%44ELETE _method[]=DELETE _METHOD=DELETE _methºd=delete
    a=b;_method=DELETE
  `)) {
  it(`an override never turns another method into the DELETE of a collection by query ${query}`, () => {
    assert.equal(reasonOf('POST', `${ENTITIES}?${query}`), 'method-override');
  });
}

it('an override never turns another method into the DELETE of a collection by a second header line', () => {
  const lines = ['X-HTTP-Method-Override', 'PATCH', 'X-HTTP-Method-Override', 'DELETE'];
  assert.equal(kindOf('POST', ENTITIES, lines), 'refuse');
});

it('other overrides and similar headers are left unchanged', () => {
  assert.equal(kindOf('POST', ENTITIES, ['X-HTTP-Method-Override', 'PATCH']), 'pass');
  assert.equal(kindOf('POST', ENTITIES, ['X-Note', 'X-HTTP-Method-Override', 'X-Delete', 'DELETE']), 'pass');
  assert.equal(kindOf('POST', `${ENTITIES}?method=DELETE`), 'pass');
});

for (const name of ['X-Original-URL', 'X-Rewrite-URL']) {
  it(`${name} never turns the DELETE of one resource into that of a collection`, () => {
    const target = '/ngsi-ld/v1/entities/urn:x';
    assert.equal(kindOf('DELETE', target, [name, ENTITIES]), 'refuse');
    assert.equal(kindOf('DELETE', target, [name, `http://broker${ENTITIES}?type=T`]), 'refuse');
    assert.equal(kindOf('DELETE', target, [name, target]), 'pass');
    assert.equal(kindOf('DELETE', target, [name, `https://gateway${target}`]), 'pass');
  });
}
