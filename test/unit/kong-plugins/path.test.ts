import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  isCollection,
  isGuardedRecord,
  isNgsiLd,
  isResource,
} from '../../../kong-plugins/ngsi-ld-purge/path.js';
import { words } from '../../support/words.js';

const exact = words(`
  /ngsi-ld/v1/entities /ngsi-ld/v1/entities/ /ngsi-ld/v1/temporal/entities /ngsi-ld/v1/temporal/entities/
`);

/** Paths that some server, by decoding or normalisation, would take for one of the collections. */
const misspelt = words(`
  /ngsi-ld/v1//entities //ngsi-ld/v1/entities /ngsi-ld/v1/entities// /ngsi-ld/v1/./entities
  /ngsi-ld/v1/entities/. /ngsi-ld/v1/entities/urn:x/.. /ngsi-ld/v1/types/../entities /ngsi-ld/v1/%65ntities
  /ngsi-ld/v1/%2565ntities /ngsi-ld/v1/%252565ntities /ngsi-ld/v1/%%365ntities /ngsi-ld%2Fv1%2Fentities
  /ngsi-ld/v1/entities%2F /ngsi-ld/v1/entities%2f%2e /ngsi-ld/v1/entities/%2e
  /ngsi-ld/v1/entities/urn:x%2F.. /ngsi-ld/v1/entities/urn:x%2F%2e%2e%2F..%2Fentities
  /ngsi-ld/v1/entities/%3Ftype=Car /ngsi-ld/v1/entities%3Ftype=Car /ngsi-ld/v1/entities%23
  /ngsi-ld/v1/entities# /ngsi-ld/v1/entities;v=1 /ngsi-ld/v1/entities/;x /ngsi-ld;a/v1/entities
  /ngsi-ld/v1/entities%3Bx /ngsi-ld/v1\\entities /ngsi-ld/v1/entities\\ /ngsi-ld/v1%5Centities
  /ngsi-ld/v1/Entities /NGSI-LD/V1/ENTITIES /ngsi-ld/v1/entities%00 /ngsi-ld/v1/entities%20
  /ngsi-ld/v1/entities/%20 /ngsi-ld/v1/entities%0A /ngsi-ld/v1/temporal//entities
  /ngsi-ld/v1/temporal%2Fentities /ngsi-ld/v1/Temporal/entities/ http://broker:1026/ngsi-ld/v1/entities
`);

/** Legal paths of a single resource, as Kong normalises them. */
const resources = words(`
  /ngsi-ld/v1/entities/urn:ngsi-ld:Car:1 /ngsi-ld/v1/entities/urn%3Angsi-ld%3ACar%3A1
  /ngsi-ld/v1/entities/urn:ngsi-ld:entities /ngsi-ld/v1/entities/urn:ngsi-ld:Car:1/attrs/speed
  /ngsi-ld/v1/entities/urn:ngsi-ld:Car:1/attrs/ex:speed /ngsi-ld/v1/temporal/entities/urn:ngsi-ld:Car:1
  /ngsi-ld/v1/temporal/entities/urn:ngsi-ld:Car:1/attrs/speed
  /ngsi-ld/v1/temporal/entities/urn:ngsi-ld:Car:1/attrs/speed/instanceid:6f1c0a3e-1d2b-4c3d-8e4f-000000000001
  /ngsi-ld/v1/subscriptions/urn:ngsi-ld:Subscription:1
  /ngsi-ld/v1/csourceRegistrations/urn:ngsi-ld:ContextSourceRegistration:1
  /ngsi-ld/v1/csourceSubscriptions/urn:ngsi-ld:Subscription:1 /ngsi-ld/v1/snapshots/urn:ngsi-ld:Snapshot:1
  /ngsi-ld/v1/entityMaps/urn:ngsi-ld:entitymap:1 /ngsi-ld/v1/temporal/entityMaps/urn:ngsi-ld:entitymap:1
  /ngsi-ld/v1/jsonldContexts/3fa85f64-5717-4562-b3fc-2c963f66afa6
`);

/** Legal paths that the sidecar has to judge, and nonsense. None is certainly a single resource. */
const unsure = [
  ...words(`
  /ngsi-ld/v1/entities/http:%2F%2Fexample.org%2Fcar%2F1 /ngsi-ld/v1/entities/urn:x%2F..b
  /ngsi-ld/v1/entities/urn:a;b /ngsi-ld/v1/entities/urn:a,urn:b /ngsi-ld/v1/entities/urn:a%2Curn:b
  /ngsi-ld/v1/entities/null /ngsi-ld/v1/entities/.json /ngsi-ld/v1/entities/urn:x/attrs/a,b
  /ngsi-ld/v1/entities/urn:* /ngsi-ld/v1/entities/urn:ä /ngsi-ld/v1/entities/plain /ngsi-ld/v1/entities/..:x
  /ngsi-ld/v1/entities/urn: /ngsi-ld/v1/entities/urn:x/ /ngsi-ld/v1/entities/urn:x/attrs
  /ngsi-ld/v1/entities/urn:x/attrs/ /ngsi-ld/v1/entities/urn:x/attrs/..
  /ngsi-ld/v1/entities/urn:x/attrs/a/b:c /ngsi-ld/v1/temporal/entities/urn:x/attrs/a/1
  /ngsi-ld/v1/subscriptions /ngsi-ld/v1/subscriptions/ /ngsi-ld/v1/snapshots /ngsi-ld/v1/jsonldContexts/
  /ngsi-ld/v1/temporal/subscriptions/urn:x /ngsi-ld/v2/entities/urn:x
`),
  '/ngsi-ld/v1/entities/urn:x ',
  '/ngsi-ld/v1/entities/urn:x\n',
];

it('a path means a purge for the two collections, with or without one trailing slash, and for nothing else', () => {
  for (const path of exact) assert.equal(isCollection(path), true, path);
  for (const path of [...misspelt, ...resources, ...unsure]) assert.equal(isCollection(path), false, path);
});

it('a path means a single resource only if no reading of the path could be more', () => {
  for (const path of resources) assert.equal(isResource(path), true, path);
  for (const path of [...exact, ...misspelt, ...unsure])
    assert.equal(isResource(path), false, JSON.stringify(path));
});

it('a path is for the broker however its prefix is written', () => {
  for (const path of words(`
    /ngsi-ld/v1/x /NGSI-LD /a/../ngsi-ld /%6egsi-ld/v1 /%2%356egsi-ld //ngsi-ld;x/
  `))
    assert.equal(isNgsiLd(path), true, path);
  for (const path of [...exact, ...misspelt, ...resources, ...unsure])
    assert.equal(isNgsiLd(path), true, path);
  for (const path of ['/', '/api/v2/domains', '/orders/ngsi-ld', '/ngsi-ldx'])
    assert.equal(isNgsiLd(path), false, path);
});

it('a path means a guarded record for purges and retention policies only', () => {
  for (const path of ['purges', 'purges/', 'purges/1', 'retention-policies', 'retention-policies/p/runs'])
    assert.equal(isGuardedRecord(`/api/v2/${path}`), true, path);
  for (const path of ['/api/v2', '/api/v2/purgesx', '/api/v2/domains/purges', '/purges', '/api/v2/Purges'])
    assert.equal(isGuardedRecord(path), false, path);
});

it('a path never means both a purge and a single resource, for any text', () => {
  const piece = fc.constantFrom(
    '/',
    'ngsi-ld',
    'v1',
    'entities',
    'temporal',
    'attrs',
    'urn:x',
    '.',
    '..',
    '%2F',
    '%2e',
    '%25',
    ';',
    '\\',
    '%3A',
    'E',
    ' ',
  );
  const prefix = fc.constantFrom(
    '',
    '/ngsi-ld/v1/',
    '/ngsi-ld/v1/entities/',
    '/ngsi-ld/v1/temporal/entities/urn:x',
  );
  fc.assert(
    fc.property(
      prefix,
      fc.oneof(
        fc.array(piece).map((all) => all.join('')),
        fc.string(),
      ),
      (start, rest) => {
        const path = start + rest;
        assert.ok(!(isCollection(path) && isResource(path)), path);
        assert.ok(isNgsiLd(path) || !(isCollection(path) || isResource(path)), path);
      },
    ),
    { numRuns: 2000 },
  );
});

it('the meaning of a path is found in linear time, however deeply a path is encoded', () => {
  const deep = `/ngsi-l%${'25'.repeat(30_000)}64/v1/entities`;
  const mixed = `/ngsi-ld/v1/entities/${'%2%35'.repeat(20_000)}`;
  const begun = process.cpuUsage();
  assert.equal(isNgsiLd(deep), true);
  assert.equal(isResource(mixed) || !isNgsiLd(mixed), false);
  assert.equal(isResource(`/ngsi-ld/v1/entities/${'a'.repeat(100_000)}`), false);
  assert.ok(process.cpuUsage(begun).user < 500_000, 'half a second of work for one request');
});
