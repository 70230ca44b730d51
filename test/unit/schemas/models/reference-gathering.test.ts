import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { RemoteDocumentError } from '../../../../sidecar/schemas/remote/errors.js';
import type { RemoteDocuments } from '../../../../sidecar/schemas/remote/remote-documents.js';
import type { Contents } from '../../../../sidecar/schemas/models/contents.js';
import { OvertakenError } from '../../../../sidecar/schemas/models/errors.js';
import { ReferenceGathering, References } from '../../../../sidecar/schemas/models/references.js';
import {
  NotFoundError,
  PreconditionFailedError,
  StoreUnavailableError,
} from '../../../../sidecar/store/errors.js';
import type { SchemaStore } from '../../../../sidecar/store/store.js';

const STORED = 'https://stored.example/x';
const ALLOWED = 'https://allowed.example/x';
const BROKEN = 'https://allowed.example/broken';
const OTHER = 'https://other.example/x';
const DOCUMENT = { $ref: 'y', a: 1 };
const TEXT = JSON.stringify(DOCUMENT);
const hash = (text: string) => createHash('sha256').update(text).digest('hex');

function gatheringOf(put: () => Promise<unknown> = () => Promise.resolve()) {
  const fetched: string[] = [];
  const puts: unknown[] = [];
  const store = {
    references: {
      spellings: () => Promise.resolve([]),
      texts: (uris: readonly string[]) =>
        Promise.resolve(
          new Map(
            uris
              .filter((uri) => uri === STORED)
              .map((uri) => [uri, { uri, text: '{"b":2}', sha256: 'stored', size: 7 }]),
          ),
        ),
      put: (...given: readonly unknown[]) => {
        puts.push(given);
        return put();
      },
    },
  } as unknown as SchemaStore;
  const remote = {
    allows: (url: string) => url.startsWith('https://allowed.example/'),
    fetch: (url: string) => {
      fetched.push(url);
      return url === BROKEN
        ? Promise.reject(new RemoteDocumentError('status', url, 'It answers 404.'))
        : Promise.resolve({ url, text: TEXT, document: DOCUMENT });
    },
  } as unknown as RemoteDocuments;
  return { gathering: new ReferenceGathering(store, remote), fetched, puts };
}

describe('the documents that a schema refers to', () => {
  it('a document is taken from the store, else from an allowed origin, and the reason is kept where there is none', async () => {
    const { gathering, fetched } = gatheringOf();
    assert.deepEqual(await gathering.load(STORED), { b: 2 });
    assert.deepEqual(fetched, []);
    assert.deepEqual(await gathering.load(ALLOWED), DOCUMENT);
    assert.equal(await gathering.load(BROKEN), undefined);
    assert.equal(await gathering.load(OTHER), undefined);
    assert.deepEqual(
      [...gathering.reasons],
      [
        [BROKEN, 'It answers 404.'],
        [OTHER, 'it is neither stored here nor from an allowed origin'],
      ],
    );
    assert.deepEqual(fetched, [ALLOWED, BROKEN]);
  });

  it('a document as a text has the hash under which it is, or would be, stored', async () => {
    const { gathering } = gatheringOf();
    assert.deepEqual(await gathering.text(ALLOWED), { text: TEXT, sha256: hash(TEXT) });
    const stored = await gathering.text(STORED);
    assert.deepEqual([stored?.text, stored?.sha256], ['{"b":2}', 'stored']);
    assert.equal(await gathering.text(OTHER), undefined);
  });

  it('what was fetched is stored where nothing is yet, and nothing else is', async () => {
    const { gathering, puts } = gatheringOf();
    for (const uri of [STORED, ALLOWED, OTHER]) await gathering.load(uri);
    const found = gathering.found([STORED, ALLOWED, OTHER]);
    assert.deepEqual(
      [...found].map(([uri, { sha256 }]) => [uri, sha256]),
      [
        [STORED, 'stored'],
        [ALLOWED, hash(TEXT)],
      ],
    );
    await gathering.keep(found);
    const references = new Set(['https://allowed.example/y']);
    assert.deepEqual(puts, [[{ uri: ALLOWED, source: 'fetched', text: TEXT, references }, 'absent']]);
  });

  it('a document that another write stores meanwhile makes the write start over, and an outage does not', async () => {
    const precondition = new PreconditionFailedError({ kind: 'reference', uri: ALLOWED }, 'x');
    for (const [error, expected] of [
      [precondition, OvertakenError],
      [new StoreUnavailableError('down'), StoreUnavailableError],
    ] as const) {
      const { gathering } = gatheringOf(() => Promise.reject(error));
      await gathering.load(ALLOWED);
      await assert.rejects(gathering.keep(gathering.found([ALLOWED])), expected);
    }
  });
});

describe('the models that were made with an earlier document', () => {
  it('a model is outdated when its current version has another text of this very document, on every page', async () => {
    const pinned = (uri: string, sha256: string) => ({ version: { references: [{ uri, sha256 }] } });
    const models: Readonly<Record<string, object>> = {
      old: pinned(STORED, 'before'),
      current: pinned(STORED, 'now'),
      otherDocument: pinned(OTHER, 'before'),
      last: pinned(STORED, 'before'),
    };
    const filler = Array.from({ length: 1000 }, (_, n) => ({ kind: 'context', name: `c${n}`, version: 1 }));
    const keyOf = (name: string) => ({ kind: 'model', domain: 'City', name, version: 1 });
    const all = [...['old', 'current', 'otherDocument', 'gone'].map(keyOf), ...filler, keyOf('last')];
    const pages: unknown[] = [];
    const store = {
      references: {
        spellings: () => Promise.resolve([]),
        get: () => Promise.resolve({ content: { sha256: 'now' } }),
        dependents: (_uri: string, { limit, offset }: { limit: number; offset: number }) => {
          pages.push([limit, offset]);
          return Promise.resolve({ items: all.slice(offset, offset + limit), total: all.length });
        },
      },
      models: {
        get: ({ name }: { name: string }) =>
          models[name] === undefined
            ? Promise.reject(new NotFoundError({ kind: 'model', domain: 'City', name }))
            : Promise.resolve(models[name]),
      },
    } as unknown as SchemaStore;
    const references = new References(store, undefined as unknown as Contents);
    assert.deepEqual(
      (await references.outdatedModels(STORED)).map(({ name }) => name),
      ['old', 'last'],
    );
    assert.deepEqual(pages, [
      [1000, 0],
      [1000, 1000],
    ]);
  });
});
