import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ContextFollowers,
  MAX_FOLLOWERS,
  type Follower,
} from '../../../../sidecar/schemas/models/context-followers.js';
import { NotFoundError, StoreUnavailableError } from '../../../../sidecar/store/errors.js';
import type { Dependent } from '../../../../sidecar/store/records.js';
import { TaskTooCostlyError } from '../../../../sidecar/shared/workers/errors.js';

const BASE_URL = 'http://gateway.example';
const CHANGE = { name: 'base', before: 'old', after: 'new' };

const context = (name: string): Dependent => ({ kind: 'context', name, version: 1 });
const model = (name: string): Dependent => ({ kind: 'model', domain: 'City', name, version: 1 });

interface Setting {
  /** What follows each context directly. */
  readonly dependents: Readonly<Record<string, readonly Dependent[]>>;
  /** Why a context cannot be processed, by its name and the text that counts; or an error to be thrown. */
  readonly failure?: (name: string, text: string | undefined) => string | Error | undefined;
  /** What a model means otherwise. */
  readonly change?: (name: string) => readonly unknown[] | Error;
  readonly etags?: Map<string, string>;
}

function followersOf({ dependents, failure, change, etags = new Map<string, string>() }: Setting) {
  const pages: unknown[] = [];
  const contexts = {
    dependents: async (name: string, { limit, offset }: { limit: number; offset: number }) => {
      pages.push([name, limit, offset]);
      const all = dependents[name];
      if (all === undefined) throw new NotFoundError({ kind: 'context', name });
      return Promise.resolve({ items: all.slice(offset, offset + limit), total: all.length });
    },
    get: async (name: string) => {
      const etag = etags.get(name) ?? 'first';
      if (etag === 'gone') throw new NotFoundError({ kind: 'context', name });
      return Promise.resolve({ context: { etag } });
    },
  };
  const compared: unknown[] = [];
  const parts = {
    store: { contexts },
    clock: { now: () => 0 },
    contextSupply: {
      termsOf: async (text: string, baseUrl: string, instead?: ReadonlyMap<string, string>) => {
        assert.equal(baseUrl, BASE_URL);
        const [url = ''] = JSON.parse(text) as readonly string[];
        const found = failure?.(url.split('/').at(-1) ?? '', instead?.get('base') ?? 'stored');
        if (found instanceof Error) throw found;
        return found === undefined ? { terms: [], defaults: {} } : { failed: found };
      },
    },
    comparison: {
      byContexts: async ({ name }: { name: string }, options: unknown) => {
        compared.push(options);
        const differences = change?.(name) ?? [];
        if (differences instanceof Error) throw differences;
        return Promise.resolve({ overall: 'breaking', differences });
      },
    },
  };
  const followers = new ContextFollowers(
    parts as unknown as ConstructorParameters<typeof ContextFollowers>[0],
  );
  return { followers, pages, compared };
}

const names = (all: readonly Follower[]) => all.map(({ name }) => name);

describe('what follows a context', () => {
  it('the followers of a context are those of its followers too, each once, without itself and documents', async () => {
    const { followers } = followersOf({
      dependents: {
        base: [context('a'), model('M'), { kind: 'reference', uri: 'urn:x' }],
        a: [context('b'), context('base'), model('M')],
        b: [context('a')],
        'City~M': [model('N')],
        'City~N': [],
      },
    });
    assert.deepEqual(names(await followers.all('base')), ['a', 'M', 'b', 'N']);
    assert.deepEqual(names(await followers.all('none')), []);
  });

  it('the followers of a context are listed page by page to the last one', async () => {
    const all = Array.from({ length: 201 }, (_, n) => context(`f${n}`));
    const { followers, pages } = followersOf({ dependents: { base: all } });
    assert.equal((await followers.all('base')).length, 201);
    assert.deepEqual(pages.slice(0, 3), [
      ['base', 100, 0],
      ['base', 100, 100],
      ['base', 100, 200],
    ]);
  });

  it('the list of followers ends when the client leaves, and fails with the store', async () => {
    const { followers } = followersOf({ dependents: { base: [] } });
    await assert.rejects(followers.all('base', AbortSignal.abort(new Error('gone'))), /gone/);
    const broken = new StoreUnavailableError('down');
    const parts = { store: { contexts: { dependents: () => Promise.reject(broken) } } };
    const away = new ContextFollowers(parts as unknown as ConstructorParameters<typeof ContextFollowers>[0]);
    await assert.rejects(away.all('base'), broken);
  });
});

describe('what a change of a context means for its followers', () => {
  const dependents = { base: [context('z'), context('a'), model('Z'), model('A')] };

  it('a follower is broken when it could be processed before the change and cannot be after it', async () => {
    const { followers } = followersOf({
      dependents,
      failure: (name, text) =>
        name === 'z' || (name === 'City~A' && text !== 'old')
          ? `${name} fails with ${text} at http://gateway.invalid/api/v2/contexts/base`
          : undefined,
    });
    const { broken, uncompared } = await followers.effect(CHANGE, { baseUrl: BASE_URL });
    assert.equal(uncompared, 0);
    assert.deepEqual(
      broken.map(({ follower, reason }) => [follower.name, reason]),
      [['A', `City~A fails with new at ${BASE_URL}/api/v2/contexts/base`]],
    );
    const stored = await followers.effect({ name: 'base', before: 'old' }, { baseUrl: BASE_URL });
    assert.match(stored.broken[0]?.reason ?? '', /fails with stored/);
  });

  it('broken and changed followers are in the order of their names, and models that mean the same are in no list', async () => {
    const { followers, compared } = followersOf({
      dependents,
      failure: (name, text) => (text === 'new' && !name.includes('~') ? 'broken' : undefined),
      change: () => ['a difference'],
    });
    const { broken, changed } = await followers.effect(CHANGE, { baseUrl: BASE_URL });
    assert.deepEqual(names(broken.map(({ follower }) => follower)), ['a', 'z']);
    assert.deepEqual(
      changed.map(({ domain, model: name, change }) => [domain, name, change.overall]),
      [
        ['City', 'A', 'breaking'],
        ['City', 'Z', 'breaking'],
      ],
    );
    assert.deepEqual(compared[0], {
      contextsBefore: new Map([['base', 'old']]),
      contextsAfter: new Map([['base', 'new']]),
      baseUrl: BASE_URL,
    });
    const { followers: others } = followersOf({ dependents, change: () => [] });
    assert.deepEqual((await others.effect(CHANGE, { baseUrl: BASE_URL })).changed, []);
  });

  it('a follower that takes too much is counted as not compared, one that was deleted is not, and an outage ends the look', async () => {
    const { followers } = followersOf({
      dependents,
      failure: (name) => (name === 'a' ? new TaskTooCostlyError('time', 'late') : undefined),
      change: (name) =>
        name === 'A'
          ? new NotFoundError({ kind: 'model', domain: 'City', name })
          : new TaskTooCostlyError('memory', 'much'),
    });
    const { broken, changed, uncompared } = await followers.effect(CHANGE, { baseUrl: BASE_URL });
    assert.deepEqual([broken, changed, uncompared], [[], [], 2]);
    const broken2 = new StoreUnavailableError('down');
    const { followers: away } = followersOf({ dependents, change: () => broken2 });
    await assert.rejects(away.effect(CHANGE, { baseUrl: BASE_URL }), broken2);
  });

  for (const [count, left] of [
    [MAX_FOLLOWERS, 0],
    [MAX_FOLLOWERS + 1, 1],
  ] as const) {
    it(`of ${count} followers of a context ${left} are not looked at`, async () => {
      const all = Array.from({ length: count }, (_, n) => context(`f${n}`));
      let looked = 0;
      const { followers } = followersOf({
        dependents: { base: all },
        failure: () => {
          looked += 1;
          return undefined;
        },
      });
      const { uncompared } = await followers.effect(CHANGE, { baseUrl: BASE_URL });
      assert.deepEqual([uncompared, looked], [left, 100]);
    });
  }

  it('the stamp of followers changes when one comes, goes or changes, also beyond those that are looked at', async () => {
    const all = Array.from({ length: 150 }, (_, n) => context(`f${n}`));
    const stampOf = (followers: readonly Dependent[], etags?: Map<string, string>) =>
      followersOf({
        dependents: { base: followers },
        ...(etags === undefined ? {} : { etags }),
      }).followers.stamp('base');
    const first = await stampOf(all);
    assert.equal(await stampOf(all), first);
    for (const other of [
      await stampOf(all.slice(1)),
      await stampOf(all.slice(0, -1)),
      await stampOf([...all, context('new')]),
      await stampOf([...all.slice(0, -1), context('other')]),
      await stampOf(all, new Map([['f0', 'second']])),
      await stampOf(all, new Map([['f99', 'gone']])),
    ])
      assert.notEqual(other, first);
  });
});
