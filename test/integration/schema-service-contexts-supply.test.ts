import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { coreContext, coreContextUrl } from '../../sidecar/schemas/json-ld/core-context.js';
import type { SuppliedContext, ContextResult } from '../../sidecar/schemas/json-ld/errors.js';
import {
  RemoteDocumentError,
  type RemoteDocuments,
  type RemoteFailure,
} from '../../sidecar/schemas/remote/remote-documents.js';
import { SchemaService } from '../../sidecar/schemas/models/index.js';
import { SqliteStore } from '../../sidecar/store/sqlite-store.js';
import { handClock, type HandClock } from '../support/store-samples.js';
import { ALLOWED, BASE_URL, CONTEXT_BASE, useRigs } from '../unit/schemas/models/harness.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const TERMS = { seats: 'https://terms.example/seats' };
const OPTIONS = { baseUrl: BASE_URL };

function urlOf(name: string, base = BASE_URL): string {
  return `${base}/api/v2/contexts/${name}`;
}

function contextOf(supply: ContextResult): unknown {
  assert.ok('text' in supply, JSON.stringify(supply));
  return (JSON.parse(supply.text) as { '@context': unknown })['@context'];
}

function failureOf(supply: ContextResult): string {
  assert.ok('failure' in supply);
  return supply.failure.kind;
}

describe('the supply of contexts', () => {
  const rigOf = useRigs();

  it('the supply of contexts has the stored contexts in the requested version', async (t) => {
    const { service } = await rigOf(t);
    const { contexts, models, contextLoader } = service;
    await contexts.create('terms', TERMS, OPTIONS);
    await contexts.update('terms', { ...TERMS, more: 'https://terms.example/more' }, OPTIONS);
    await models.create('city', { name: 'Bench', schema: { properties: { wood: {} } } });
    const supplied = async (url: string) => contextLoader.load(url, BASE_URL);
    assert.deepEqual(contextOf(await supplied(`${urlOf('terms')}?version=1`)), TERMS);
    const current = await supplied(urlOf('terms', 'http://10.0.0.7/gate'));
    assert.equal(Object.keys(contextOf(current) as object).length, 2);
    assert.equal((current as SuppliedContext).sha256, (await contexts.document('terms')).sha256);
    assert.ok(Array.isArray(contextOf(await supplied(urlOf('city~Bench')))));
    for (const url of [urlOf('none'), `${urlOf('terms')}?version=3`, 'https://else.example/c'])
      assert.equal(failureOf(await supplied(url)), 'contextRefused');
  });

  it('the supply of contexts uses replacement texts for current contexts, and never for versions', async (t) => {
    const { contexts, contextLoader } = (await rigOf(t)).service;
    await contexts.create('terms', TERMS, OPTIONS);
    const instead = new Map([
      ['terms', JSON.stringify({ '@context': { other: 'https://terms.example/o' } })],
    ]);
    const termsOf = async (url: string) => {
      const found = await contextLoader.termsOf(JSON.stringify([url]), BASE_URL, { replacements: instead });
      return 'failed' in found ? found.failed : found.terms.map(([term]) => term);
    };
    assert.deepEqual(await termsOf(urlOf('terms')), ['other']);
    assert.deepEqual(await termsOf(`${urlOf('terms')}?version=1`), Object.keys(TERMS));
  });

  it('the supply of contexts has the requested version of the core context, not the newest', async (t) => {
    const { contextLoader } = (await rigOf(t)).service;
    const supply = await contextLoader.load(urlOf('ngsi-ld-core-context-v1.3'), BASE_URL);
    assert.deepEqual(contextOf(supply), coreContext('1.3')['@context']);
    const later = await contextLoader.load(`${urlOf('ngsi-ld-core-context-v1.3')}?version=2`, BASE_URL);
    assert.equal(failureOf(later), 'contextRefused');
    assert.notEqual(coreContextUrl(), coreContextUrl('1.3'));
  });

  it('the supply of contexts has a stamp that changes with every write, and with the base URL only if that matters', async (t) => {
    const { contexts, contextLoader } = (await rigOf(t)).service;
    const stamp = () => contextLoader.stamp(BASE_URL);
    const before = await stamp();
    assert.equal(await stamp(), before);
    assert.equal(await contextLoader.stamp('http://other.example'), before);
    assert.notEqual(await contextLoader.stamp(ALLOWED), before);
    assert.notEqual(await contextLoader.stamp(`${ALLOWED}/gate`), await contextLoader.stamp(ALLOWED));
    await contexts.create('terms', TERMS, OPTIONS);
    const created = await stamp();
    await contexts.update('terms', {}, OPTIONS);
    const updated = await stamp();
    await contexts.delete('terms');
    assert.equal(new Set([before, created, updated, await stamp()]).size, 4);
  });

  it('URLs below the base URL are supplied from the store, even if their origin may be fetched', async (t) => {
    const { service, web, fetched } = await rigOf(t);
    await service.contexts.create('terms', TERMS, OPTIONS);
    const url = urlOf('terms', ALLOWED);
    web.set(url, { '@context': { other: 'https://terms.example/other' } });
    assert.deepEqual(contextOf(await service.contextLoader.load(url, ALLOWED)), TERMS);
    assert.deepEqual(fetched, []);
    assert.notDeepEqual(contextOf(await service.contextLoader.load(url, BASE_URL)), TERMS);
    assert.deepEqual(fetched, [url]);
  });
});

const URL = `${ALLOWED}/context`;

interface Web {
  readonly service: SchemaService;
  readonly clock: HandClock;
  readonly fetched: string[];
  /** The answer to the next fetches. */
  answer: () => Promise<{ readonly url: string; readonly text: string }>;
}

async function webOf(t: TestContext): Promise<Web> {
  const clock = handClock();
  const store = await SqliteStore.open(':memory:', clock);
  t.after(() => store.close());
  const fetched: string[] = [];
  const web: { answer: Web['answer'] } = { answer: async () => ({ url: URL, text: '{}' }) };
  const remote: RemoteDocuments = {
    allows: (url) => url.startsWith(`${ALLOWED}/`),
    fetch: async (url) => {
      fetched.push(url);
      const { text, ...rest } = await web.answer();
      return { ...rest, text, document: JSON.parse(text) as unknown };
    },
    close: async () => undefined,
  };
  const workers = { run: () => Promise.reject(new Error('nothing is checked here')) };
  const service = new SchemaService({ store, workers, remote, contextBase: CONTEXT_BASE, clock });
  return Object.assign(web, { service, clock, fetched });
}

it('a context of another origin is fetched at most once a minute, however many requests need it at the same time', async (t) => {
  const web = await webOf(t);
  const { contextLoader } = web.service;
  const supply = () => contextLoader.load(URL, BASE_URL);
  web.answer = async () => ({ url: `${ALLOWED}/moved`, text: '{"@context":{}}' });
  const stamp = await contextLoader.stamp(BASE_URL);
  const supplies = await Promise.all([supply(), supply(), supply()]);
  assert.equal(web.fetched.length, 1);
  for (const one of [...supplies, await supply()]) {
    assert.ok('text' in one);
    assert.deepEqual([one.text, one.documentUrl], ['{"@context":{}}', `${ALLOWED}/moved`]);
  }
  assert.equal(web.fetched.length, 1);
  web.clock.time += 60_000;
  assert.notEqual(await contextLoader.stamp(BASE_URL), stamp);
  await supply();
  assert.equal(web.fetched.length, 2);
});

it('failed fetches of contexts are not cached, and refused URLs are distinguished from unavailable documents', async (t) => {
  const web = await webOf(t);
  const { contextLoader } = web.service;
  for (const [failure, code] of [
    ['origin-not-allowed', 'contextRefused'],
    ['address-not-allowed', 'contextRefused'],
    ['unreachable', 'contextUnavailable'],
    ['timeout', 'contextUnavailable'],
    ['status', 'contextUnavailable'],
    ['too-many-redirects', 'contextUnavailable'],
    ['too-large', 'contextUnavailable'],
    ['media-type', 'contextUnavailable'],
    ['not-json', 'contextUnavailable'],
  ] as const satisfies readonly (readonly [RemoteFailure, string])[]) {
    web.answer = () => Promise.reject(new RemoteDocumentError(failure, URL, `${failure} it is.`));
    const found = await contextLoader.load(URL, BASE_URL);
    assert.ok('failure' in found);
    assert.equal(found.failure.kind, code);
    assert.ok(found.failure.detail.includes(URL) && found.failure.detail.includes(failure));
  }
  web.answer = async () => ({ url: URL, text: '{}' });
  assert.ok('text' in (await contextLoader.load(URL, BASE_URL)));
  web.answer = () => Promise.reject(new TypeError('a bug'));
  await assert.rejects(contextLoader.load(`${URL}2`, BASE_URL), TypeError);
});

it('the stamp of a store changes with the writes of another process', async (t) => {
  const folder = temporaryFolder();
  const path = join(folder, 'schema.db');
  const [one, other] = [await SqliteStore.open(path, handClock()), await SqliteStore.open(path, handClock())];
  t.after(async () => Promise.all([one.close(), other.close()]));
  const before = await one.revision();
  assert.equal(await one.revision(), before);
  await other.contexts.create('terms', { text: '{"@context":{}}', contexts: new Set() });
  const written = await one.revision();
  assert.notEqual(written, before);
  await one.contexts.delete('terms');
  assert.notEqual(await one.revision(), written);
  const early = one.revision();
  await other.contexts.create('more', { text: '{"@context":{}}', contexts: new Set() });
  const late = one.revision();
  assert.equal(await one.revision(), await late, 'one look is shared, and comes after all who ask');
  assert.notEqual(await late, written);
  await early;
  await one.close();
  await assert.rejects(one.revision(), { kind: 'storeUnavailable' });
});
