import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { type ComposeInput, composeContext } from '../../../../sidecar/schemas/json-ld/compose-context.js';
import { coreContextUrl } from '../../../../sidecar/schemas/json-ld/core-context.js';
import { ContextInvalidError } from '../../../../sidecar/schemas/json-ld/errors.js';
import type { Supply } from '../../../../sidecar/schemas/json-ld/supplied-contexts.js';
import { RemoteDocumentError } from '../../../../sidecar/schemas/remote/errors.js';
import type { RemoteDocuments } from '../../../../sidecar/schemas/remote/remote-documents.js';
import type { ContextLoading } from '../../../../sidecar/schemas/models/context-supply.js';
import { createCoreContexts } from '../../../../sidecar/schemas/models/core-contexts.js';
import {
  contextUrl,
  INTERNAL_BASE,
  isBelow,
  namedContext,
} from '../../../../sidecar/schemas/models/context-urls.js';
import { OwnContexts } from '../../../../sidecar/schemas/models/own-context.js';
import type { SchemaStore } from '../../../../sidecar/store/store.js';
import type { JsonValue } from '../../../../sidecar/shared/json/json.js';
import { TaskTooCostlyError } from '../../../../sidecar/shared/workers/errors.js';
import { rejection } from './harness.js';

const BASE_URL = 'http://gateway.example';
const STORED = 'https://stored.example/context';
const FETCHED = 'https://allowed.example/context';
const BROKEN = 'https://allowed.example/broken';
const GENERATED = { Lamp: 'urn:generated:Lamp', power: 'urn:generated:power' };
const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const supplyOf = (context: unknown) => {
  const text = JSON.stringify({ '@context': context });
  return { text, sha256: hash(text) };
};

/** What a service with the contexts `parts`, and `more` in two versions, makes of the context of a model. */
function ownContexts(compose: (input: ComposeInput) => Promise<unknown> = composeContext) {
  const [asked, puts] = [[] as unknown[], [] as unknown[]];
  const here: Readonly<Record<string, Supply>> = {
    parts: supplyOf({ part: 'urn:part' }),
    more: supplyOf({ more: 'urn:more' }),
    unusable: {
      failure: {
        code: 'CONTEXT_UNUSABLE',
        detail: `The context ${contextUrl(INTERNAL_BASE, 'unusable')} cannot be used: it is a fake.`,
      },
    },
  };
  const loading = {
    ownContext: (url: string, baseUrl: string) =>
      isBelow(url, baseUrl) || isBelow(url, INTERNAL_BASE) ? namedContext(url) : undefined,
    supplyForCheck: async (...given: readonly [string, string, string]) => {
      asked.push(given);
      const found = here[namedContext(given[0])?.name ?? ''];
      return found ?? { failure: { code: 'CONTEXT_REFUSED', detail: 'not shown' } };
    },
  } as unknown as ContextLoading;
  const store = {
    references: {
      spellings: () => Promise.resolve([]),
      texts: async ([uri]: readonly string[]) =>
        new Map(uri === STORED ? [[uri, { uri, ...supplyOf({ stored: 'urn:stored' }), size: 1 }]] : []),
      put: async ({ uri }: { readonly uri: string }, expected: string) => puts.push([uri, expected]),
    },
  } as unknown as SchemaStore;
  const remote = {
    allows: (url: string) => url.startsWith('https://allowed.example/'),
    fetch: async (url: string) => {
      if (url === BROKEN) throw new RemoteDocumentError('status', url, 'it answers 404');
      return { url, text: '', document: { '@context': { fetched: 'urn:fetched' } } };
    },
  } as unknown as RemoteDocuments;
  const workers = { run: (_kind: string, input: ComposeInput) => compose(input) };
  const own = new OwnContexts({
    ...{ store, remote, loading, core: createCoreContexts() },
    workers: workers as never,
  });
  const accept = (given: unknown) =>
    own.accept({ domain: 'city', name: 'Lamp' }, own.named(given as JsonValue, BASE_URL), GENERATED, {
      ...{ baseUrl: BASE_URL, composed: undefined },
    });
  const contextOf = async (given: unknown) => {
    const { text, contexts } = await accept(given);
    const { '@context': context } = JSON.parse(text) as { '@context': readonly unknown[] };
    return [context.slice(1, -1), [...contexts], context.at(-1) === coreContextUrl()];
  };
  return { accept, contextOf, asked, puts };
}

describe('the context that a model brings to a service', () => {
  const parts = contextUrl(INTERNAL_BASE, 'parts');

  it('contexts of the service are kept by URL, however they are named, alone, in an array or wrapped', async () => {
    const { contextOf, asked } = ownContexts();
    const version = contextUrl(INTERNAL_BASE, 'more', 2);
    const terms = { own: 'urn:own' };
    for (const [given, elements, names] of [
      ['parts', [parts], ['parts']],
      [contextUrl(BASE_URL, 'parts'), [parts], ['parts']],
      [{ '@context': 'parts' }, [parts], ['parts']],
      [
        ['parts', contextUrl(BASE_URL, 'more', 2), terms],
        [parts, version, terms],
        ['parts', 'more'],
      ],
      [{ '@context': [terms, 'parts', 'more', 'parts'] }, undefined, ['parts', 'more']],
      [terms, [terms], []],
    ] as const) {
      const [found, contexts, endsWithCore] = await contextOf(given);
      if (elements !== undefined) assert.deepEqual(found, elements);
      assert.deepEqual([contexts, endsWithCore], [names, true]);
    }
    assert.deepEqual(asked[0], [parts, BASE_URL, 'city~Lamp']);
  });

  it('a core context of any name is the one that stands last, and nothing that the model depends on', async () => {
    const { contextOf } = ownContexts();
    const terms = { own: 'urn:own' };
    for (const core of ['ngsi-ld-core-context-v1.3', contextUrl(BASE_URL, 'ngsi-ld-core-context-v1.8')])
      assert.deepEqual(await contextOf([terms, core]), [[terms], [], true]);
  });

  it('documents of others become a part of it, named with their hashes, and those that were fetched are stored', async () => {
    const { accept, puts } = ownContexts();
    const { text, contexts, references, keepReferences } = await accept([STORED, FETCHED, 'parts']);
    const { '@context': context } = JSON.parse(text) as { '@context': unknown };
    const [stored, fetched] = [{ stored: 'urn:stored' }, { fetched: 'urn:fetched' }];
    assert.deepEqual(context, [GENERATED, stored, fetched, parts, coreContextUrl()]);
    assert.deepEqual([...contexts], ['parts']);
    assert.deepEqual(
      [...references],
      [
        [STORED, supplyOf(stored).sha256],
        [FETCHED, supplyOf(fetched).sha256],
      ],
    );
    assert.deepEqual(puts, []);
    await keepReferences();
    assert.deepEqual(puts, [[FETCHED, 'absent']]);
  });

  for (const [what, given, faults] of [
    ['there is no context of the name', 'nowhere', [['/context', /^There is no context "nowhere" here\.$/]]],
    [
      'a context of the service is unusable, by the URL that the client knows',
      [{}, 'unusable'],
      [
        [
          '/context/1',
          /^The context http:\/\/gateway\.example\/api\/v2\/contexts\/unusable cannot be used: it is a fake\.$/,
        ],
      ],
    ],
    [
      'others are not available, each with its reason',
      [BROKEN, 'https://other.example/c'],
      [
        ['/context/0', /^The context https:\/\/allowed\.example\/broken cannot be used: it answers 404\.$/],
        [
          '/context/1',
          /other\.example\/c cannot be used: it is neither stored here nor from an allowed origin\.$/,
        ],
      ],
    ],
    [
      'members stand beside it, which would have no effect',
      { '@context': 'parts', power: 'urn:power', other: 1 },
      [
        ['/context/power', /^Members next to @context have no effect/],
        ['/context/other', /^Members next to @context have no effect/],
      ],
    ],
    ['a part of it is wrong', { '@context': ['parts', { a: 5 }] }, [['/context/@context/1/a', /./]]],
  ] as const) {
    it(`the context of a model is refused where it is wrong: ${what}`, async () => {
      const { errors } = await rejection(ownContexts().accept(given), ContextInvalidError);
      assert.deepEqual(
        errors.map(({ pointer }) => pointer),
        faults.map(([pointer]) => pointer),
      );
      for (const [at, [, detail]] of faults.entries()) assert.match(errors[at]?.detail ?? '', detail);
    });
  }

  for (const bound of ['time', 'memory'] as const) {
    it(`the context of a model is refused when processing it takes too much ${bound}; other failures are not its fault`, async () => {
      const cause = new TaskTooCostlyError(bound, 'too much');
      const costly = ownContexts(() => Promise.reject(cause));
      const refusal = await rejection(costly.accept({}), ContextInvalidError);
      const detail = `Processing the context takes too much ${bound}.`;
      assert.deepEqual([refusal.errors, refusal.cause], [[{ pointer: '/context', detail }], cause]);
      const failure = new Error('failed');
      await assert.rejects(ownContexts(() => Promise.reject(failure)).accept({}), failure);
    });
  }

  it('a context that leads to too much is refused with that', async () => {
    const urls = Array.from({ length: 101 }, (_, at) => `https://other.example/${at}`);
    const { errors } = await rejection(
      ownContexts(() => Promise.resolve({ needs: { urls } })).accept({}),
      ContextInvalidError,
    );
    const detail = 'The contexts lead to more than 100 others by their URLs.';
    assert.deepEqual(errors, [{ pointer: '/context', detail }]);
  });
});
