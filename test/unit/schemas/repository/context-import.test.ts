import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonValue } from '../../../../sidecar/shared/json/json.js';
import type { SchemaService, ServedContext } from '../../../../sidecar/schemas/models/index.js';
import { NotFoundError } from '../../../../sidecar/store/errors.js';
import { ChangedContexts } from '../../../../sidecar/schemas/repository/changed-contexts.js';
import { ContextImport } from '../../../../sidecar/schemas/repository/context-import.js';
import { invalidMember } from '../../../../sidecar/schemas/models/errors.js';
import { InvalidBodyError } from '../../../../sidecar/shared/errors.js';

const terms = (iri: string) => ({ t: iri });

/** Contexts of a service: all versions of each, oldest first. */
class StoredContexts {
  readonly versions = new Map<string, string[]>();
  /** Names of those that were written, in order. */
  readonly writes: string[] = [];

  constructor(versions: Readonly<Record<string, readonly JsonValue[]>> = {}) {
    for (const [name, all] of Object.entries(versions))
      this.versions.set(
        name,
        all.map((context) => JSON.stringify({ '@context': context })),
      );
  }

  document(name: string, version?: number): Promise<ServedContext> {
    const all = this.versions.get(name) ?? [];
    const text = version === undefined ? all.at(-1) : all[version - 1];
    if (text === undefined) return Promise.reject(new NotFoundError({ kind: 'context', name }));
    return Promise.resolve({ bytes: Buffer.from(text), kind: 'custom' } as ServedContext);
  }

  followers(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  create(name: string, context: unknown) {
    return this.#write('create', name, context);
  }

  update(name: string, context: unknown) {
    return this.#write('update', name, context);
  }

  #write(how: string, name: string, context: unknown) {
    const all = this.versions.get(name) ?? [];
    assert.equal(how, all.length === 0 ? 'create' : 'update');
    const text = JSON.stringify({ '@context': context });
    const isNewVersion = all.at(-1) !== text;
    if (text.includes('refused')) return Promise.reject(invalidMember('name', 'must be another one'));
    if (isNewVersion) this.versions.set(name, [...all, text]);
    this.writes.push(`${how} ${name}`);
    const currentVersion = this.versions.get(name)?.length ?? 0;
    return Promise.resolve({ isNewVersion, context: { currentVersion }, warnings: [], followers: [] });
  }
}

/** @param files contexts by their paths; those of `a.versions/` are versions of the context `a` */
function importInto(stored: StoredContexts, files: Readonly<Record<string, JsonValue>>) {
  const contexts = stored as unknown as SchemaService['contexts'];
  const versions = new Map<string, { path: string; number: number }[]>();
  for (const path of Object.keys(files)) {
    const [, name, number] = /^(.+)\.versions\/(\d+)$/.exec(path) ?? [];
    if (name !== undefined)
      versions.set(name, [...(versions.get(name) ?? []), { path, number: Number(number) }]);
  }
  return new ContextImport({
    ...{ contexts, versions, changed: new ChangedContexts(contexts), baseUrl: 'http://gateway.example' },
    textOf: (path) => JSON.stringify({ '@context': files[path] }),
  });
}

const A = { path: 'a', name: 'a' };

describe('the contexts of an import', () => {
  it('an imported context gets its earlier versions with their numbers, after those that are there already', async () => {
    const files = { 'a.versions/1': terms('urn:1'), 'a.versions/2': terms('urn:2'), a: terms('urn:3') };
    for (const [before, writes] of [
      [[], 3],
      [[terms('urn:1')], 2],
      [[terms('urn:1'), terms('urn:2')], 1],
      [[terms('urn:1'), terms('urn:2'), terms('urn:3')], 0],
    ] as const) {
      const stored = new StoredContexts(before.length === 0 ? {} : { a: before });
      const into = importInto(stored, files);
      const { status } = await into.store(A, []);
      assert.equal(status, before.length === 0 ? 'created' : before.length === 3 ? 'unchanged' : 'updated');
      assert.equal(into.writes, writes);
      assert.deepEqual(
        stored.versions.get('a')?.map((text) => (JSON.parse(text) as { '@context': unknown })['@context']),
        [terms('urn:1'), terms('urn:2'), terms('urn:3')],
      );
    }
  });

  for (const [what, before, files, reason] of [
    [
      'whose first version is missing',
      [],
      { 'a.versions/2': terms('urn:2'), a: terms('urn:3') },
      /^Its version 1 is missing/,
    ],
    [
      'of which a version in between is missing',
      [],
      { 'a.versions/1': terms('urn:1'), 'a.versions/3': terms('urn:3'), a: terms('urn:4') },
      /^Its version 2 is missing/,
    ],
    [
      'of which a version is different here',
      [terms('urn:1'), terms('urn:other')],
      { 'a.versions/1': terms('urn:1'), 'a.versions/2': terms('urn:2'), a: terms('urn:3') },
      /^Its version 2 is different here/,
    ],
    [
      'whose current version is different here by its number',
      [terms('urn:1'), terms('urn:other')],
      { 'a.versions/1': terms('urn:1'), a: terms('urn:2') },
      /^Its version 2 is different here/,
    ],
    [
      'of which two versions are the same',
      [],
      { 'a.versions/1': terms('urn:1'), 'a.versions/2': terms('urn:1'), a: terms('urn:3') },
      /^Its version 2 is that before it/,
    ],
    [
      'of which a version is refused',
      [],
      { 'a.versions/1': terms('urn:refused'), a: terms('urn:2') },
      /^Its version 1 \(a\.versions\/1\) is refused\. .*must be another one/,
    ],
  ] as const) {
    it(`an imported context ${what} is refused, and its current text is not written`, async () => {
      const stored = new StoredContexts(before.length === 0 ? {} : { a: [...before] });
      const into = importInto(stored, files);
      const { status, reason: found } = await into.store(A, []);
      assert.equal(status, 'refused');
      assert.match(found ?? '', reason);
      assert.equal(into.nameOf('a'), undefined);
      assert.ok(!stored.versions.get('a')?.includes(JSON.stringify({ '@context': files.a })));
    });
  }

  it('an imported context that the service refuses is known by no name', async () => {
    const into = importInto(new StoredContexts(), { a: terms('urn:refused') });
    await assert.rejects(into.store(A, []), InvalidBodyError);
    assert.deepEqual([into.nameOf('a'), into.writes], [undefined, 0]);
  });

  it('a context is refused where the version of a generated one that it names is different here, and only then', async () => {
    const stored = new StoredContexts({
      'City~Lamp': [terms('urn:1'), terms('urn:other')],
      custom: [terms('urn:other')],
    });
    const files = {
      a: terms('urn:a'),
      'City~Lamp.versions/1': terms('urn:1'),
      'City~Lamp.versions/2': terms('urn:2'),
      'City~Lamp.versions/3': terms('urn:3'),
      'custom.versions/1': terms('urn:1'),
    };
    const into = importInto(stored, files);
    const pin = (name: string, version: number | undefined) => ({ name, version });
    for (const pins of [
      [],
      [pin('City~Lamp', 1)],
      // The import is still to make it.
      [pin('City~Lamp', 3)],
      // Nothing says what it is to be.
      [pin('City~Lamp', 4)],
      [pin('City~Lamp', undefined)],
      // Versions of custom contexts are held against their own.
      [pin('custom', 1)],
    ])
      assert.equal(await into.otherPin(pins), undefined);
    const pins = [pin('City~Lamp', 1), pin('City~Lamp', 2)];
    assert.match((await into.otherPin(pins)) ?? '', /^It names version 2 of the context City~Lamp, which/);
    assert.equal((await into.store(A, pins)).status, 'refused');
    assert.deepEqual(stored.writes, []);
  });
});
