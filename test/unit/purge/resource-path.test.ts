import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { resourcePath } from '../../../sidecar/purge/resource-path.js';

const ID = 'urn:ngsi-ld:Car:1';
const CAR = '/temporal/entities/urn%3Angsi-ld%3ACar%3A1';
const instancePath = (attribute: string, instanceId: string) =>
  resourcePath('/temporal/entities', ID, attribute, instanceId);

/** What a server finds in a path that it splits before it decodes (RFC 3986 § 2.4). */
const segmentsOf = (path: string) => path.split('/').map(decodeURIComponent);

const HOSTILE = [
  '..',
  '.',
  '',
  '/',
  '//',
  '*',
  ' ',
  '?',
  '#',
  '%',
  '\u0000',
  'urn:x/..',
  'urn:x/../..',
  '../x',
  '..\\x',
];
const DISGUISED = [
  'urn:x%2F..',
  'urn:x%252F..',
  '%2e%2e',
  '%252e%252e',
  'urn:x/%2e%2e',
  '．．',
  'urn:x／..',
  '..;a',
  ';a',
  '?a',
];

describe('resourcePath', () => {
  it('is of an entity, an attribute of it, or an instance of that', () => {
    assert.equal(resourcePath('/entities', ID), '/entities/urn%3Angsi-ld%3ACar%3A1');
    assert.equal(resourcePath('/entities', ID, 'speed'), '/entities/urn%3Angsi-ld%3ACar%3A1/attrs/speed');
    assert.equal(resourcePath('/temporal/entities', ID), CAR);
    assert.equal(resourcePath('/temporal/entities', ID, 'speed'), `${CAR}/attrs/speed`);
    assert.equal(instancePath('speed', 'urn:ngsi-ld:i:7'), `${CAR}/attrs/speed/urn%3Angsi-ld%3Ai%3A7`);
  });

  it('percent-encodes IRIs, and whatever else a server could split at', () => {
    assert.equal(
      instancePath('https://example.org/a/b#c', 'https://example.org/i?x=1#2'),
      `${CAR}/attrs/https%3A%2F%2Fexample.org%2Fa%2Fb%23c/https%3A%2F%2Fexample.org%2Fi%3Fx%3D1%232`,
    );
    assert.equal(instancePath('a%2Fb', 'urn:i:%2F'), `${CAR}/attrs/a%252Fb/urn%3Ai%3A%252F`);
    assert.equal(instancePath('my speed', 'urn:i:1 2'), `${CAR}/attrs/my%20speed/urn%3Ai%3A1%202`);
    assert.equal(
      instancePath('größe', 'urn:i:速度🚗'),
      `${CAR}/attrs/gr%C3%B6%C3%9Fe/urn%3Ai%3A%E9%80%9F%E5%BA%A6%F0%9F%9A%97`,
    );
    assert.equal(instancePath('a+b', 'urn:i:+&='), `${CAR}/attrs/a%2Bb/urn%3Ai%3A%2B%26%3D`);
  });

  it('does not mind names that objects have anyway', () => {
    assert.equal(instancePath('__proto__', 'constructor'), `${CAR}/attrs/__proto__/constructor`);
  });

  it('is none where a name could lead to another resource, whichever name it is', () => {
    for (const name of [...HOSTILE, ...DISGUISED]) {
      for (const collection of ['/entities', '/temporal/entities'] as const) {
        assert.equal(resourcePath(collection, name), undefined, `entity ${name}`);
        assert.equal(resourcePath(collection, ID, name), undefined, `attribute ${name}`);
      }
      assert.equal(instancePath('speed', name), undefined, `instance ${name}`);
      assert.equal(instancePath(name, 'urn:i:1'), undefined, `attribute ${name} of an instance`);
      assert.equal(
        resourcePath('/temporal/entities', name, 'speed', 'urn:i:1'),
        undefined,
        `entity ${name} of an instance`,
      );
    }
  });

  it('is none for half a surrogate pair, which has no UTF-8 form', () => {
    for (const name of ['urn:i:\ud800', '\udc00urn:i']) assert.equal(instancePath('speed', name), undefined);
  });

  it('decodes to the very names that it was made of, or is none', () => {
    const texts = fc.oneof(
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      fc.string({ unit: fc.constantFrom(...Array.from('ab1:/.%2eF#?;*\\ é速')) }),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(texts, texts, texts, (entityId, attribute, instanceId) => {
        const path = resourcePath('/temporal/entities', entityId, attribute, instanceId);
        if (path === undefined) return;
        assert.match(path, /^[!-~]+$/);
        assert.doesNotMatch(path, /[?#]/);
        assert.deepEqual(segmentsOf(path), [
          '',
          'temporal',
          'entities',
          entityId,
          'attrs',
          attribute,
          instanceId,
        ]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('resourcePath of an id that holds the path of an attribute', () => {
  it('is undefined: decoded too early, the delete of the entity would be that of the attribute', () => {
    for (const id of ['urn:T:1/attrs/a', 'http://x.example/attrs', 'urn:T:1/attrs/a/urn:i:1']) {
      assert.equal(resourcePath('/entities', id), undefined);
      assert.equal(resourcePath('/temporal/entities', id), undefined);
    }
    assert.notEqual(resourcePath('/entities', 'http://x.example/attrsets/1'), undefined);
  });
});
