import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { contextLink } from '../../../sidecar/ngsi-ld/context-link.js';
import { classifyWrite, writeOptions } from '../../../sidecar/ngsi-ld/write-route.js';
import { words } from '../../support/words.js';

const V1 = '/ngsi-ld/v1';

it('reads, queries and requests that are not about entities are not writes', () => {
  for (const [method, path] of [
    ['GET', '/entities'],
    ['HEAD', '/entities/urn:a:1'],
    ['OPTIONS', '/entities'],
    ['POST', '/entityOperations/query'],
    ['POST', '/temporal/entityOperations/query'],
    ['POST', '/subscriptions'],
    ['PATCH', '/subscriptions/urn:s:1'],
    ['POST', '/jsonldContexts'],
    ['DELETE', '/subscriptions/urn:s:1'],
  ] as const)
    assert.equal(classifyWrite(method, `${V1}${path}`), undefined, `${method} ${path}`);
});

it('an identifier is decoded, and a path that decodes to another route is unclear', () => {
  assert.deepEqual(classifyWrite('PATCH', `${V1}/entities/http%3A%2F%2Fa%2Fb/attrs`), {
    kind: 'update',
    id: 'http://a/b',
  });
  assert.equal(classifyWrite('PATCH', `${V1}/entities/urn:a%2Fattrs%2Fspeed`), 'unclear');
  assert.equal(classifyWrite('PATCH', `${V1}/entities/http:%2F%2Fattrs`), 'unclear');
});

it('a POST to a collection of entities, in any notation, is never taken for another request', () => {
  const noise = fc.constantFrom('/', '//', '/./', '/x/../', '%2f', '\\', '/;a/');
  fc.assert(
    fc.property(
      noise,
      noise,
      fc.constantFrom('entities', 'Entities', '%65ntities', 'entities;x'),
      (one, other, name) => {
        const found = classifyWrite('POST', `/ngsi-ld${one}v1${other}${name}`);
        assert.ok(found !== undefined, `/ngsi-ld${one}v1${other}${name}`);
        if (typeof found === 'object') assert.equal(found.kind, 'create');
      },
    ),
  );
});

it('an upsert counts as an update only if no option contradicts', () => {
  const updates = (query: string) => writeOptions(`${V1}/entityOperations/upsert${query}`).updates;
  assert.equal(updates('?options=update'), 'yes');
  assert.equal(updates('?a=b&options=update,normalized'), 'yes');
  for (const query of ['', '?options=replace', '?option=update', '?options=noupdate'])
    assert.equal(updates(query), 'no', query);
  for (const query of words(`
    ?options=update,replace ?options=update&options=replace ?Options=update ?%6fptions=update
    ?options=replace;options=update ?options=%75pdate ?options=+Update
    ?options%00=update ?options=update%00x ?options=%75pdate,%zz ?options=%75pdate,%ff
  `))
    assert.equal(updates(query), 'unclear', query);
});

it('attributes may be plain values if any reading of the query asks for the simplified form', () => {
  const isSimplified = (query: string) => writeOptions(`${V1}/entities${query}`).isSimplified;
  for (const query of words(`
    ?options=keyValues ?format=simplified ?Options=sysAttrs,KEYVALUES ?options=key%56alues%00 ?options%00x=keyValues
    ?options=%6beyValues,%
  `))
    assert.equal(isSimplified(query), true, query);
  for (const query of [
    '',
    '?options=normalized',
    '?format=concise',
    '?option=keyValues',
    '?options=%00keyValues',
  ])
    assert.equal(isSimplified(query), false, query);
});

it('a Link names an @context only if it is the only link, and readable', () => {
  const relation = 'rel="http://www.w3.org/ns/json-ld#context"';
  assert.deepEqual(contextLink([`<https://a/c>; ${relation}; type="application/ld+json"`]), {
    url: 'https://a/c',
  });
  assert.equal(contextLink([]), 'none');
  for (const links of [
    [`<https://a/c>; ${relation}`, `<https://b/c>; ${relation}`],
    [`<https://a/c>; ${relation}, <https://b/c>; ${relation}`],
    ['https://a/c'],
    ['<https://a/c>'],
    ['<https://a/c>; rel="next"'],
    [`<https://a/c; ${relation}`],
  ])
    assert.equal(contextLink(links), 'unclear', links.join());
});
