import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Clock } from '../../sidecar/shared/clock.js';
import type { JsonValue } from '../../sidecar/store/records.js';
import type { SqlStore } from '../../sidecar/store/sql-store.js';
import { contextContract } from './store-contract-contexts.js';
import { domainContract } from './store-contract-domains.js';
import { exampleContract } from './store-contract-examples.js';
import { planContract } from './store-contract-plans.js';
import { modelContract } from './store-contract-models.js';
import { searchContract } from './store-contract-search.js';
import { purgeQueueContract } from './store-contract-purge-queue.js';
import { purgeContract } from './store-contract-purges.js';
import { referenceContract } from './store-contract-references.js';
import { retentionContract } from './store-contract-retention.js';
import { writePolicyContract } from './store-contract-write-policies.js';
import {
  ALL,
  contextVersion,
  dump,
  handClock,
  modelVersion,
  reference,
  refuses,
  SETTINGS,
  type StoreTest,
} from './store-samples.js';

/**
 * What every store must guarantee.
 * @param open opens an empty store; it is closed after each test
 */
export function storeContract(name: string, open: (clock: Clock) => Promise<SqlStore>): void {
  const test: StoreTest = (title, body) => {
    it(title, async () => {
      const clock = handClock();
      const store = await open(clock);
      try {
        await body(store, clock);
      } finally {
        await store.close();
      }
    });
  };

  describe(`${name}: domains`, () => {
    domainContract(test);
  });
  describe(`${name}: models`, () => {
    modelContract(test);
    exampleContract(test);
    searchContract(test);
  });
  describe(`${name}: contexts`, () => {
    contextContract(test);
  });
  describe(`${name}: reference documents`, () => {
    referenceContract(test);
  });
  describe(`${name}: plans`, () => {
    planContract(test);
  });
  describe(`${name}: purges`, () => {
    purgeContract(test);
    purgeQueueContract(test);
  });
  describe(`${name}: write policies`, () => {
    writePolicyContract(test);
  });

  describe(`${name}: retention policies`, () => {
    retentionContract(test);
  });
  describe(`${name}: as a whole`, () => {
    wholeContract(test);
  });
}

const KEY = { domain: 'energy', name: 'Meter' };

function wholeContract(test: StoreTest): void {
  test('the store has each text once, under the SHA-256 of its UTF-8, until nothing names the text', async (store) => {
    const text = '{"title":"Zähler ⚡"}';
    const sha256 = createHash('sha256').update(Buffer.from(text)).digest('hex');
    const put = await store.references.put(reference('https://a.example/1', text));
    assert.deepEqual(put.reference.content, { sha256, size: Buffer.byteLength(text) });
    await store.references.put(reference('https://a.example/2', text));
    await store.contexts.create('custom', { text, contexts: new Set() });
    await store.domains.create({ name: 'energy' });
    const pin = new Map([['https://a.example/1', sha256]]);
    await store.models.create(KEY, SETTINGS, modelVersion('a', { schema: text, references: pin }));

    await store.models.update(KEY, { settings: SETTINGS, version: modelVersion('b') });
    await store.contexts.delete('custom');
    await store.references.put(reference('https://a.example/1', '{}'));
    await store.references.delete('https://a.example/2');
    assert.equal(await store.content(sha256), text, 'still named by version 1, as schema and as pin');
    await store.models.delete(KEY);
    assert.equal(await store.content(sha256), undefined);
  });

  test('the store keeps nothing of a refused write', async (store) => {
    await store.domains.create({ name: 'energy' });
    const version = modelVersion('x', { context: 'a\0b' });
    await refuses(store, 'bodyInvalid', () => store.models.create(KEY, SETTINGS, version));
    const sha256 = createHash('sha256').update(version.schema).digest('hex');
    assert.equal(await store.content(sha256), undefined);
    await store.models.create(KEY, SETTINGS, modelVersion('x'));
    assert.equal(await store.content(sha256), version.schema);
  });

  test('the store accepts objects with any members, and any text, as metadata', async (store) => {
    await store.domains.create({ name: 'energy' });
    const metadata = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":[],"\\ud800\\u0000":null}',
    ) as JsonValue;
    const at = await store.models.create(KEY, SETTINGS, modelVersion('a', { metadata }));
    assert.deepEqual(at.version.metadata, metadata);
    assert.match(JSON.stringify(at.version.metadata), /^\{"__proto__":/);
    assert.deepEqual((await store.models.get(KEY)).version.metadata, metadata);
  });

  test('the store accepts hostile names', async (store) => {
    const names = [
      '__proto__',
      'constructor',
      "x'; DROP TABLE domain; --",
      '%',
      'a~b',
      '',
      '\ufffd',
      '😀',
      'é',
      'e\u0301',
    ];
    for (const name of names) {
      await store.domains.create({ name, description: name });
      await store.models.create({ domain: name, name }, SETTINGS, modelVersion('a'));
      await store.references.put(reference(name, '{}', name, `${name}/`));
    }
    for (const name of names) {
      assert.equal((await store.domains.get(name)).description, name);
      assert.equal((await store.models.get({ domain: name, name })).model.contextName, `${name}~${name}`);
      assert.equal((await store.references.get(name)).uri, name);
    }
    assert.equal((await store.domains.list(ALL)).total, names.length);
  });

  test('the store refuses to write text that not every database can store, and finds nothing by such text', async (store) => {
    await store.domains.create({ name: 'energy' });
    await store.domains.create({ name: '\ufffd' });
    await store.contexts.create('\ufffd\ufffd', contextVersion('a'));
    await store.references.put(reference('\ufffd', '{}'));
    await store.models.create({ domain: '\ufffd', name: '\ufffd' }, SETTINGS, modelVersion('a'));
    for (const bad of ['\ud800', '\udfff!', 'a\0b']) {
      const unstorable = (operation: () => Promise<unknown>) => refuses(store, 'bodyInvalid', operation);
      const key = { domain: 'energy', name: bad };
      await unstorable(() => store.domains.create({ name: bad }));
      await unstorable(() => store.domains.create({ name: 'd', description: bad }));
      await unstorable(() => store.models.create(key, SETTINGS, modelVersion('a')));
      await unstorable(() => store.models.create(KEY, { ...SETTINGS, description: bad }, modelVersion('a')));
      await unstorable(() => store.models.create(KEY, { ...SETTINGS, contextBase: bad }, modelVersion('a')));
      for (const part of ['schema', 'context', 'description'] as const)
        await unstorable(() => store.models.create(KEY, SETTINGS, modelVersion('a', { [part]: bad })));
      await unstorable(() => store.contexts.create(bad, contextVersion('a')));
      await unstorable(() => store.contexts.create('c', { text: bad, contexts: new Set() }));
      await unstorable(() => store.references.put(reference(bad, '{}')));
      await unstorable(() => store.references.put(reference('u', bad)));
      await unstorable(() => store.references.put(reference('u', '{}', bad)));

      const missing = { kind: 'notFound' };
      await assert.rejects(store.domains.get(bad), missing);
      await assert.rejects(store.models.get({ domain: '\ufffd', name: bad }), missing);
      await assert.rejects(store.contexts.get(bad), missing);
      await assert.rejects(store.references.get(bad), missing);
      assert.equal((await store.references.texts([bad])).size, 0);
    }
    // The two halves of one character, which would be valid together.
    await assert.rejects(store.models.get({ domain: '\ud83d', name: '\ude00' }), { kind: 'notFound' });
  });

  test('the store accepts names and URIs that are longer than a database index allows', async (store) => {
    const uri = `https://a.example/${Array.from({ length: 4000 }, (_, n) => String.fromCodePoint(0x4e00 + n)).join('')}`;
    const { content } = (await store.references.put(reference(uri, '{}', `${uri}#`))).reference;
    assert.deepEqual((await store.references.get(uri)).content, content);
    assert.equal((await store.references.put(reference(uri, '[]'))).outcome, 'replaced');
    await store.references.delete(uri);
  });

  test('the store refuses pages with an invalid limit or offset', async (store) => {
    for (const page of [
      { limit: -1, offset: 0 },
      { limit: 1, offset: -1 },
      { limit: 1.5, offset: 0 },
      { limit: Infinity, offset: 0 },
      { limit: NaN, offset: 0 },
    ]) {
      await assert.rejects(store.domains.list(page), RangeError);
    }
  });

  test('the store is ready while it is open, and afterwards every call fails with the same error', async (store) => {
    assert.equal(await store.isReady(), true);
    await store.close();
    await store.close();
    assert.equal(await store.isReady(), false);
    await assert.rejects(store.domains.list(ALL), { kind: 'storeUnavailable' });
    await assert.rejects(store.domains.create({ name: 'late' }), { kind: 'storeUnavailable' });
    await assert.rejects(store.content('x'), { kind: 'storeUnavailable' });
  });

  test('the store executes concurrent writes one after the other, each as a whole', async (store) => {
    await store.domains.create({ name: 'energy' });
    const created = await Promise.allSettled(
      ['a', 'b', 'c'].map((tag) => store.models.create(KEY, SETTINGS, modelVersion(tag))),
    );
    assert.equal(created.filter(({ status }) => status === 'fulfilled').length, 1);
    const { etag } = (await store.models.get(KEY)).model;
    const updated = await Promise.allSettled(
      ['d', 'e', 'f'].map((tag) =>
        store.models.update(KEY, { settings: SETTINGS, version: modelVersion(tag) }, [etag]),
      ),
    );
    assert.equal(updated.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal((await store.models.get(KEY)).model.currentVersion, 2);
    assert.ok(await dump(store));
  });
}
