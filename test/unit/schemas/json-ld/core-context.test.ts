import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import {
  bundledContext,
  CORE_CONTEXT_VERSIONS,
  coreContext,
  coreContextUrl,
  coreContextUrls,
  coreIriOf,
  coreVersionOf,
  isBundledContext,
  NEWEST_CORE_VERSION,
} from '../../../../sidecar/schemas/json-ld/core-context.js';
import { createProcessor } from '../../../../sidecar/schemas/json-ld/processor.js';
import { loaderOf } from './contexts.js';

const ETSI = 'https://uri.etsi.org/ngsi-ld/';

/** Number of members, and the start of the digest of the published context with its members in order. */
const PUBLISHED = {
  '1.3': [109, '79676d4b6bb4f5a062a9a51d887b1711'],
  '1.4': [117, '4d4b2aaf79369daa1d09b8a387254d64'],
  '1.5': [124, 'd8b329e1b878c1194f703b9a6de07a22'],
  '1.6': [147, '5e950dedda71abe54a86a894514648e8'],
  '1.7': [152, '06a9b7e28de760c59cd53c95d1f2b45c'],
  '1.8': [179, 'a45b76044019d52689b0593d06bc98c9'],
  '1.9': [212, '3ed25ee406f32557c9254ed24348c4a4'],
} as const;

describe('the bundled core contexts', () => {
  for (const version of CORE_CONTEXT_VERSIONS) {
    it(`the bundled core context ${version} defines exactly the published terms`, () => {
      const context = membersOf(version);
      const [count, digest] = PUBLISHED[version];
      assert.equal(Object.keys(context).length, count);
      const sha256 = createHash('sha256')
        .update(JSON.stringify(sorted(context)))
        .digest('hex');
      assert.equal(sha256.slice(0, digest.length), digest);
    });

    it(`the bundled core context ${version} can be processed`, async () => {
      const document = { '@context': coreContextUrl(version), id: 'urn:a:1', type: 'T', status: 1 };
      const [expanded] = await createProcessor().expand(document, { documentLoader: loaderOf(), safe: true });
      assert.deepEqual(expanded, {
        '@id': 'urn:a:1',
        '@type': [`${ETSI}default-context/T`],
        [`${ETSI}status`]: [{ '@value': 1 }],
      });
    });
  }

  it('the URL of a core context leads to its version, and to the newest without a version', () => {
    const base = '//uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context';
    for (const version of CORE_CONTEXT_VERSIONS) {
      assert.equal(coreContextUrl(version), `https:${base}-v${version}.jsonld`);
      for (const url of coreContextUrls(version)) {
        assert.equal(coreVersionOf(url), version);
        assert.deepEqual(bundledContext(url), coreContext(version));
      }
    }
    for (const url of [`https:${base}.jsonld`, `http:${base}.jsonld`]) {
      assert.equal(coreVersionOf(url), NEWEST_CORE_VERSION);
    }
    for (const url of [
      `https:${base}-v1.2.jsonld`,
      `https:${base}-v1.9.jsonld?x`,
      `ftp:${base}.jsonld`,
      '',
    ]) {
      assert.equal(coreVersionOf(url), undefined);
      assert.equal(isBundledContext(url), false);
    }
  });

  it('the bundled core contexts are copied for each caller, so that no caller can change them for others', () => {
    const mine = coreContext('1.9')['@context'] as Record<string, unknown>;
    mine['location'] = 'http://elsewhere.example/';
    (mine['ngsildproof'] as { '@context': unknown[] })['@context'].length = 0;
    const { location, ngsildproof } = membersOf('1.9');
    assert.equal(location, 'ngsi-ld:location');
    assert.equal((ngsildproof as { '@context': unknown[] })['@context'].length, 2);
  });
});

describe('the bundled data integrity context', () => {
  it('the bundled data integrity context exists for the core context 1.9, and cannot be changed', () => {
    const url = 'https://w3id.org/security/data-integrity/v2';
    const mine = bundledContext(url)?.['@context'] as Record<string, unknown>;
    mine['proof'] = 'http://elsewhere.example/';
    const context = bundledContext(url)?.['@context'] as Record<string, unknown>;
    assert.equal(isBundledContext(url), true);
    assert.notEqual(context['proof'], mine['proof']);
    assert.ok('DataIntegrityProof' in context);
  });
});

describe('the IRI of a core term', () => {
  it('the IRI of a core term is complete, for terms of every kind of definition', () => {
    const iris = {
      location: `${ETSI}location`,
      value: `${ETSI}hasValue`,
      observedAt: `${ETSI}observedAt`,
      ngsildproof: `${ETSI}ngsildproof`,
      Point: 'https://purl.org/geojson/vocab#Point',
      title: 'http://purl.org/dc/terms/title',
      'ngsi-ld': ETSI,
      id: '@id',
      type: '@type',
    };
    for (const [term, iri] of Object.entries(iris)) assert.equal(coreIriOf(term), iri);
  });

  it('the IRI of a core term is undefined for any other name, including keywords and members of objects', () => {
    for (const name of ['temperature', '@vocab', '@protected', 'constructor', '__proto__', ''])
      assert.equal(coreIriOf(name), undefined);
  });
});

function membersOf(version: (typeof CORE_CONTEXT_VERSIONS)[number]): Readonly<Record<string, unknown>> {
  return coreContext(version)['@context'] as Readonly<Record<string, unknown>>;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, item]) => [name, sorted(item)]));
}
