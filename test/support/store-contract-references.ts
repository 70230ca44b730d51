import assert from 'node:assert/strict';
import { ALL, reference, refuses, type StoreTest } from './store-samples.js';
import { column } from './columns.js';

const A = 'https://schemas.example/a.json';
const B = 'https://schemas.example/b.json';
const C = 'https://schemas.example/c.json';

const PAGES = 'https://acme.github.io/models/a.json';
const RAW = 'https://raw.githubusercontent.com/acme/models/master/a.json';
const REFS = 'https://raw.githubusercontent.com/acme/Models/refs/heads/main/a.json';

/** What every store must guarantee for reference documents. */
export function referenceContract(test: StoreTest): void {
  test('a document is read as it was put, and the put reports whether it created, replaced or changed nothing', async (store, clock) => {
    const created = await store.references.put(reference(A, '{"a":1}'));
    assert.equal(created.outcome, 'created');
    const { etag, content, ...rest } = created.reference;
    assert.deepEqual(rest, { uri: A, source: 'stored', createdAt: clock.time, modifiedAt: clock.time });
    assert.deepEqual(await store.references.get(A), created.reference);
    assert.deepEqual(
      await store.references.texts([B, A, A]),
      new Map([[A, { ...content, uri: A, text: '{"a":1}', named: [] }]]),
    );

    const same = await store.references.put(reference(A, '{"a":1}'));
    assert.deepEqual(same, { reference: created.reference, outcome: 'unchanged' });
    const other = await store.references.put(reference(A, '{"a":2}'));
    assert.equal(other.outcome, 'replaced');
    assert.notEqual(other.reference.etag, etag);
    assert.ok(other.reference.modifiedAt > clock.time);
    assert.equal(other.reference.createdAt, clock.time);
    const fetched = await store.references.put({ ...reference(A, '{"a":2}'), source: 'fetched' });
    assert.deepEqual([fetched.outcome, fetched.reference.source], ['replaced', 'fetched']);
    assert.equal((await store.references.list(ALL)).total, 1);
  });

  test('documents are listed by URI in the order of characters', async (store) => {
    const uris = [B, A, `${A}?x`, A.toUpperCase(), `${A}/`];
    for (const uri of uris) await store.references.put(reference(uri, '{}'));
    const { items, total } = await store.references.list({ limit: 4, offset: 1 });
    assert.deepEqual(column(items, 'uri'), [A, `${A}/`, `${A}?x`, B]);
    assert.equal(total, 5);
  });

  test('a put of a document respects the expected state: absent, present, or an ETag', async (store) => {
    const put = (text: string, expected?: 'absent' | 'present' | readonly string[]) =>
      store.references.put(reference(A, text), expected);
    const refused = (expected: 'absent' | 'present' | readonly string[], etag: string | undefined) =>
      refuses(store, 'preconditionFailed', () => put('{"no":1}', expected), {
        resource: { kind: 'reference', uri: A },
        etag,
      });
    await refused('present', undefined);
    await refused(['x'], undefined);
    const first = (await put('{"a":1}', 'absent')).reference.etag;
    await refused('absent', first);
    await refused(['x'], first);
    await refused([], first);
    const second = (await put('{"a":2}', ['x', first])).reference.etag;
    await refused([first], second);
    assert.equal((await put('{"a":3}', 'present')).outcome, 'replaced');
  });

  test('a document may name others that are not yet stored', async (store) => {
    await store.references.put(reference(B, '{}', C));
    await assert.rejects(store.references.dependents(C, ALL), { kind: 'notFound' });
    await store.references.put(reference(C, '{}', A, B));
    const named = [...(await store.references.texts([B, C]))].map(([uri, one]) => [
      uri,
      one.named.toSorted(),
    ]);
    assert.deepEqual(named, [
      [B, [C]],
      [C, [A, B]],
    ]);
    assert.deepEqual((await store.references.dependents(C, ALL)).items, [{ kind: 'reference', uri: B }]);
    await assert.rejects(store.references.delete(B), { kind: 'inUse' });
    await store.references.put(reference(C, '{"c":1}', A));
    await store.references.delete(B);
    await store.references.delete(C);
  });

  test('a document is found by every spelling of its URL: the exact one first, then others if their texts are identical', async (store) => {
    const textsOf = async (...uris: readonly string[]) => {
      const texts = await store.references.texts(uris);
      return uris.map((uri) => texts.get(uri)?.text);
    };
    const { content } = (await store.references.put(reference(PAGES, '{"a":1}'))).reference;
    const found = { ...content, uri: PAGES, text: '{"a":1}', named: [] };
    assert.deepEqual((await store.references.texts([RAW])).get(RAW), found);
    assert.deepEqual(await store.references.uriVariants(RAW), [{ uri: PAGES, sha256: content.sha256 }]);
    assert.deepEqual(await store.references.uriVariants(PAGES), []);
    for (const other of [
      RAW.replace('acme', 'other'),
      RAW.replace('master', 'v1'),
      RAW.replace('a.json', 'A.json'),
      `${RAW}?token=x`,
      A,
    ])
      assert.deepEqual(await textsOf(other), [undefined], other);
    await assert.rejects(store.references.get(RAW), { kind: 'notFound' });

    await store.references.put(reference(RAW, '{"a":2}'));
    assert.deepEqual(await textsOf(PAGES, RAW, REFS), ['{"a":1}', '{"a":2}', undefined]);
    await store.references.put(reference(RAW, '{"a":1}'));
    assert.deepEqual(await textsOf(PAGES, RAW, REFS), ['{"a":1}', '{"a":1}', '{"a":1}']);
  });

  test('a document cannot be deleted while others name it by another spelling of its URL that is not stored', async (store) => {
    await store.references.put(reference(PAGES, '{"a":1}'));
    await store.references.put(reference(B, '{}', RAW, REFS));
    const dependents = [{ kind: 'reference', uri: B }];
    assert.deepEqual(await store.references.dependents(PAGES, ALL), { items: dependents, total: 1 });
    await refuses(store, 'inUse', () => store.references.delete(PAGES), { dependents });

    await store.references.put(reference(B, '{"b":1}', RAW));
    await store.references.put(reference(RAW, '{"a":1}'));
    assert.deepEqual(await store.references.dependents(PAGES, ALL), { items: [], total: 0 });
    assert.deepEqual((await store.references.dependents(RAW, ALL)).items, dependents);
    await store.references.delete(PAGES);
  });
}
