import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createHash } from 'node:crypto';
import { MEDIA_TYPES, serve } from '../../../../sidecar/schemas/models/contents.js';
import { Contexts } from '../../../../sidecar/schemas/models/contexts.js';
import { createCoreContexts } from '../../../../sidecar/schemas/models/core-contexts.js';
import { BrokenFollowersError, BundledContextError } from '../../../../sidecar/schemas/models/errors.js';
import {
  NotFoundError,
  PreconditionFailedError,
  ReadOnlyContextError,
} from '../../../../sidecar/store/errors.js';
import type { NewContextVersion } from '../../../../sidecar/store/records.js';
import { TaskTooCostlyError } from '../../../../sidecar/shared/workers/errors.js';

const OPTIONS = { baseUrl: 'http://gateway.example' };
const NO_EFFECT = { broken: [], changed: [], uncompared: 0, stamp: 'one' };

interface Setting {
  readonly kind?: 'custom' | 'generated';
  /** What following contexts and models see of each change, one after the other; errors are thrown. */
  readonly effects?: readonly (object | Error)[];
  readonly stamp?: () => string | Error;
  readonly check?: () => object | Error;
  /** What the first writes fail with. */
  readonly writes?: readonly Error[];
}

/** The contexts of a store that has `terms`, and notes what is written. */
function contextsOf({
  kind = 'custom',
  effects = [],
  stamp = () => 'one',
  check = () => ({ checked: { urls: [], warnings: [] } }),
  writes: failures = [],
}: Setting = {}) {
  const writes: unknown[] = [];
  const left = [...failures];
  const asked: unknown[] = [];
  const effectsLeft = [...effects];
  const content = { sha256: 'before', size: 1 };
  const at = { context: { name: 'terms', kind, etag: 'e1', currentVersion: 1 }, version: { content } };
  const store = {
    revision: () => Promise.resolve('1'),
    domains: {
      get: (name: string) =>
        name === 'city'
          ? Promise.resolve({ name })
          : Promise.reject(new NotFoundError({ kind: 'domain', name })),
    },
    contexts: {
      get: (name: string) =>
        name === 'terms' ? Promise.resolve(at) : Promise.reject(new NotFoundError({ kind: 'context', name })),
      update: (name: string, version: NewContextVersion, ifMatch: unknown) => {
        const error = left.shift();
        if (error !== undefined) return Promise.reject(error);
        writes.push([name, version, ifMatch]);
        return Promise.resolve({ context: { ...at.context, currentVersion: 2 } });
      },
      list: ({ limit, offset }: { limit: number; offset: number }) =>
        Promise.resolve({
          items: Array.from({ length: 30 }, (_, n) => ({ name: `stored${n}` })).slice(offset, offset + limit),
          total: 30,
        }),
      delete: (...given: readonly unknown[]) => {
        writes.push(given);
        return Promise.resolve();
      },
    },
    references: {
      spellings: () => Promise.resolve([]),
      texts: (uris: readonly string[]) =>
        Promise.resolve(
          new Map(
            uris.filter((uri) => uri.includes('kept')).map((uri) => [uri, { uri, sha256: `of ${uri}` }]),
          ),
        ),
    },
  };
  const followers = {
    all: () =>
      Promise.resolve([
        { kind: 'context', name: 'x', version: 1 },
        { kind: 'model', domain: 'city', name: 'Lamp', version: 3 },
      ]),
    effect: (change: unknown, options: { signal?: AbortSignal }) => {
      asked.push([change, options.signal !== undefined]);
      const next = effectsLeft.shift() ?? NO_EFFECT;
      return next instanceof Error ? Promise.reject(next) : Promise.resolve({ ...NO_EFFECT, ...next });
    },
    stamp: () => {
      const found = stamp();
      return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
    },
  };
  const parts = {
    ...{ store, followers, core: createCoreContexts() },
    contents: {
      text: () => Promise.resolve('{"@context":{"old":"urn:old"}}'),
      servedContext: () => Promise.resolve(serve('{}', MEDIA_TYPES.context)),
    },
    loading: {
      ownContext: (url: string) => {
        const name = /contexts\/(.+)$/.exec(url)?.[1];
        return name === undefined ? undefined : { name };
      },
      supplyForCheck: () => assert.fail('nothing is named'),
    },
    workers: {
      run: () => {
        const found = check();
        return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
      },
    },
    domainContexts: { of: (name: string) => Promise.reject(new NotFoundError({ kind: 'domain', name })) },
    lifecycles: { ofContext: () => Promise.resolve(undefined) },
  };
  const contexts = new Contexts(parts as unknown as ConstructorParameters<typeof Contexts>[0]);
  return { contexts, writes, asked };
}

const NEW = { new: 'urn:new' };
const looking = { ...OPTIONS, looksAtFollowers: true } as const;

describe('the contexts of a service', () => {
  it('the list of contexts has the core ones first and each context once, whatever the pages', async () => {
    const { contexts } = contextsOf();
    const { items: all, total } = await contexts.list({ limit: 1000, offset: 0 });
    assert.equal(all.length, total);
    const core = [...createCoreContexts().keys()];
    assert.deepEqual(
      all.map(({ name }) => name),
      [...core, ...Array.from({ length: 30 }, (_, n) => `stored${n}`)],
    );
    for (const limit of [1, 3, core.length, core.length + 1]) {
      const pages: string[] = [];
      for (let offset = 0; offset < total; offset += limit) {
        const page = await contexts.list({ limit, offset });
        assert.equal(page.total, total);
        pages.push(...page.items.map(({ name }) => name));
      }
      assert.deepEqual(
        pages,
        all.map(({ name }) => name),
      );
    }
  });

  it('the ETag of a custom context is that of its state, and of one that does not change that of its text', async () => {
    const ofText = createHash('sha256').update('{}').digest('hex');
    const etag = async (kind: 'custom' | 'generated', version?: number) =>
      (await contextsOf({ kind }).contexts.document('terms', version)).etag;
    assert.equal(await etag('custom'), 'e1');
    assert.equal(await etag('custom', 1), ofText);
    assert.equal(await etag('generated'), ofText);
  });

  it('a core context has its one version, and none can be changed or deleted', async () => {
    const { contexts, writes } = contextsOf();
    const [name = ''] = createCoreContexts().keys();
    assert.deepEqual(await contexts.document(name, 1), await contexts.document(name));
    await assert.rejects(contexts.document(name, 2), NotFoundError);
    await assert.rejects(contexts.update(name, NEW, OPTIONS), BundledContextError);
    await assert.rejects(contexts.delete(name), BundledContextError);
    await assert.rejects(contexts.update('city', NEW, OPTIONS), ReadOnlyContextError);
    await assert.rejects(contexts.update('none', NEW, OPTIONS), NotFoundError);
    await assert.rejects(
      contextsOf({ kind: 'generated' }).contexts.update('terms', NEW, OPTIONS),
      ReadOnlyContextError,
    );
    assert.deepEqual(writes, []);
    await contexts.delete('terms', ['e1']);
    assert.deepEqual(writes, [['terms', ['e1']]]);
  });

  it('a new version is written over the state it was made from, with the contexts and documents that it names', async () => {
    const urls = [
      ...['http://gateway.example/api/v2/contexts/other', 'https://a.example/kept', 'https://a.example/gone'],
      ...['http://gateway.example/api/v2/contexts/ngsi-ld-core-context-v1.9'],
      'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.9.jsonld',
    ];
    const { contexts, writes } = contextsOf({ check: () => ({ checked: { urls, warnings: [] } }) });
    await contexts.update('terms', NEW, OPTIONS);
    assert.deepEqual(writes, [
      [
        'terms',
        {
          text: '{"@context":{"new":"urn:new"}}',
          contexts: new Set(['other']),
          references: new Map([['https://a.example/kept', 'of https://a.example/kept']]),
        },
        ['e1'],
      ],
    ]);
  });

  it('an update in another state than the client saw is refused before anything is checked', async () => {
    const { contexts } = contextsOf({ check: () => assert.fail('nothing is checked') });
    await assert.rejects(
      contexts.update('terms', NEW, { ...OPTIONS, ifMatch: ['other'] }),
      PreconditionFailedError,
    );
  });

  it('an update that another one overtakes is made again from the new state', async () => {
    const overtaken = new PreconditionFailedError({ kind: 'context', name: 'terms' }, 'e2');
    const { contexts, writes } = contextsOf({ writes: [overtaken] });
    assert.equal((await contexts.update('terms', NEW, OPTIONS)).isNewVersion, true);
    assert.equal(writes.length, 1);
  });

  it('a context that takes too much to check is invalid, with what it took', async () => {
    for (const bound of ['time', 'memory'] as const) {
      const { contexts } = contextsOf({ check: () => new TaskTooCostlyError(bound, 'too much') });
      await assert.rejects(contexts.update('terms', NEW, OPTIONS), (error: unknown) => {
        const { code, message, cause } = error as { code: string; message: string; cause: unknown };
        assert.ok(cause instanceof TaskTooCostlyError);
        return code === 'CONTEXT_INVALID' && message.includes(`too much ${bound}`);
      });
    }
  });
});

describe('the followers of a context that is updated', () => {
  const broken = {
    broken: [{ follower: { kind: 'model', domain: 'city', name: 'Lamp', version: 1 }, reason: 'It fails.' }],
  };
  const changed = { changed: [{ domain: 'city', model: 'Lamp', change: {} }], uncompared: 2, stamp: 'two' };

  it('the followers of a context are looked at only on request, and when something changes', async () => {
    const { contexts, asked } = contextsOf();
    await contexts.update('terms', NEW, OPTIONS);
    await contexts.update('terms', { old: 'urn:old' }, looking);
    assert.deepEqual(asked, []);
    const { signal } = new AbortController();
    await contexts.update('terms', NEW, { ...looking, signal });
    const [before, after] = ['{"@context":{"old":"urn:old"}}', '{"@context":{"new":"urn:new"}}'];
    assert.deepEqual(asked, [[{ name: 'terms', before, after }, true]]);
    assert.deepEqual(await contexts.followers('terms'), [{ domain: 'city', name: 'Lamp' }]);
  });

  it('an update with which a follower could not be processed is refused, in a dry run too, and nothing is written', async () => {
    for (const dryRun of [false, true]) {
      const { contexts, writes } = contextsOf({ effects: [broken] });
      await assert.rejects(contexts.update('terms', NEW, { ...looking, dryRun }), (error: unknown) => {
        assert.ok(error instanceof BrokenFollowersError);
        assert.equal(error.dependents.length, 1);
        return error.message.includes('It fails.');
      });
      assert.deepEqual(writes, []);
    }
  });

  it('a dry run reports what followers would see, and writes nothing', async () => {
    const { contexts, writes } = contextsOf({ effects: [changed] });
    const { followers, warnings, isNewVersion, context } = await contexts.update('terms', NEW, {
      ...{ ...looking, dryRun: true, pointer: '/here' },
    });
    assert.deepEqual(
      [followers, isNewVersion, context.currentVersion, writes],
      [changed.changed, true, 1, []],
    );
    const detail =
      '2 followers of the context were not looked at: what the change means for them is not known.';
    assert.deepEqual(warnings, [{ code: 'followers-not-compared', pointer: '/here', detail }]);
  });

  it('followers that come before the change is written are looked at once more, and those that break are warned of', async () => {
    const { contexts, writes, asked } = contextsOf({
      effects: [{}, { ...broken, ...changed, uncompared: 1 }],
      stamp: () => 'two',
    });
    const { followers, warnings } = await contexts.update('terms', NEW, looking);
    assert.equal(writes.length, 1);
    // The second look is at what is stored then.
    assert.deepEqual(
      asked.map((one) => (one as readonly [{ after?: string }])[0].after === undefined),
      [false, true],
    );
    assert.deepEqual(followers, changed.changed);
    assert.deepEqual(
      warnings.map(({ code, pointer, detail }) => [code, pointer, detail]),
      [
        [
          'broken-follower',
          '/@context',
          'The model "Lamp" in domain "city" cannot be processed any more: It fails.',
        ],
        [
          'followers-not-compared',
          '/@context',
          '1 follower of the context was not looked at: what the change means for them is not known.',
        ],
      ],
    );
    const same = contextsOf({ effects: [changed], stamp: () => 'two' });
    assert.deepEqual((await same.contexts.update('terms', NEW, looking)).followers, changed.changed);
    assert.equal(same.asked.length, 1);
  });

  it('an outage after the change was written is no error: what it means for followers is not known', async () => {
    for (const setting of [
      { stamp: () => new Error('down') },
      { stamp: () => 'two', effects: [{}, new Error('down')] },
    ]) {
      const { contexts, writes } = contextsOf(setting);
      const { warnings, followers, context } = await contexts.update('terms', NEW, looking);
      assert.equal(writes.length, 1);
      assert.equal(context.currentVersion, 2);
      assert.deepEqual(followers, []);
      assert.match(warnings[0]?.detail ?? '', /^All followers of the context were not looked at/);
    }
    const { contexts, writes } = contextsOf({ effects: [new Error('down')] });
    await assert.rejects(contexts.update('terms', NEW, looking), /down/);
    assert.deepEqual(writes, []);
  });

  it('an update whose client has left while followers are looked at writes nothing', async () => {
    const leaving = new AbortController();
    const { contexts, writes } = contextsOf({
      check: () => {
        leaving.abort(new Error('gone'));
        return { checked: { urls: [], warnings: [] } };
      },
    });
    await assert.rejects(contexts.update('terms', NEW, { ...looking, signal: leaving.signal }), /gone/);
    assert.deepEqual(writes, []);
  });
});
