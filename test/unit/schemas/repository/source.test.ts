import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_FILE_BYTES } from '../../../../sidecar/schemas/repository/collector.js';
import { RepositoryTooLargeError } from '../../../../sidecar/schemas/repository/errors.js';
import { archiveKind, planOf, readSource, textOf } from '../../../../sidecar/schemas/repository/source.js';
import { TaskFailedError, TaskTooCostlyError } from '../../../../sidecar/shared/workers/errors.js';
import { zip } from '../../../support/archives.js';
import { workersOf } from './workers.js';
import { column } from '../../../support/columns.js';

const reading = (unpackedBytes = 1_000_000, files = 100) => ({
  limits: { packedBytes: 1_000_000, unpackedBytes, files },
  workers: workersOf().workers,
  deadlineMs: 100,
});

describe('the upload of an import', () => {
  it('the documents of a JSON body keep their lines, so that faults can be located', async () => {
    const text = JSON.stringify({ documents: { 'a.json': { a: 1, b: 2 } } });
    const { files } = await readSource({ kind: 'documents', text }, reading());
    assert.deepEqual(
      files.map(({ bytes }) => textOf(bytes)),
      ['{\n  "a": 1,\n  "b": 2\n}'],
    );
  });

  it('the bytes of an import are counted over all of its files, whatever they come in', async () => {
    const bytes = Buffer.from(`"${'x'.repeat(98)}"`);
    const parts = ['a.json', 'b.txt', 'https://a.example/c.json'].map((name) => ({ name, bytes }));
    assert.equal((await readSource({ kind: 'parts', parts }, reading(300))).files.length, 2);
    await assert.rejects(readSource({ kind: 'parts', parts }, reading(299)), RepositoryTooLargeError);
    const zipped = zip(['d.json', 'e.json'].map((name) => ({ name, content: bytes })));
    const archives = [...parts, { name: 'all.zip', bytes: zipped }];
    assert.equal((await readSource({ kind: 'parts', parts: archives }, reading(500))).files.length, 4);
    await assert.rejects(
      readSource({ kind: 'parts', parts: archives }, reading(499)),
      RepositoryTooLargeError,
    );
    const text = JSON.stringify({ documents: { 'a.json': 'x'.repeat(98), 'b.json': 'x'.repeat(98) } });
    assert.equal((await readSource({ kind: 'documents', text }, reading(200))).files.length, 2);
    await assert.rejects(readSource({ kind: 'documents', text }, reading(199)), RepositoryTooLargeError);
  });

  it('a file of a form is read up to the maximum size, and refused beyond it', async () => {
    const parts = ['a.json', 'https://a.example/b.json'].flatMap((name) => [
      { name: name.replace('.json', '-fits.json'), bytes: Buffer.alloc(MAX_FILE_BYTES, ' ') },
      { name, bytes: Buffer.alloc(MAX_FILE_BYTES + 1, ' ') },
    ]);
    const { files, refused } = await readSource({ kind: 'parts', parts }, reading(8 * MAX_FILE_BYTES));
    assert.deepEqual(column(files, 'path'), ['a-fits.json', 'https://a.example/b-fits.json']);
    const reason = `It has more than ${MAX_FILE_BYTES} bytes.`;
    assert.deepEqual(refused, [
      { path: 'a.json', reason, onlyIfUsed: true },
      { path: 'https://a.example/b.json', reason },
    ]);
  });

  for (const [bytes, kind] of [
    [[0x1f, 0x8b], 'gzip'],
    [[0x1f, 0x8c], undefined],
    [[0x50, 0x4b, 3, 4], 'zip'],
    [[0x50, 0x4b, 5, 6], 'zip'],
    [[0x50, 0x4b, 3, 6], undefined],
    [[0x50, 0x4b, 5, 4], undefined],
    [[0x50, 0x4c, 3, 4], undefined],
    [[], undefined],
  ] as const) {
    it(`the first bytes of a file determine its type: ${JSON.stringify(bytes)}`, () => {
      assert.equal(archiveKind(Uint8Array.from(bytes)), kind);
    });
  }
});

describe('the work on a whole import', () => {
  it('a task on all files has ten deadlines, and ends with the client', async () => {
    const { workers, runs } = workersOf();
    const { signal } = new AbortController();
    const whole = { ...reading(), workers, signal };
    await planOf({ files: [], domain: 'City', unread: [] }, whole);
    await readSource({ kind: 'documents', text: '{"documents": {}}' }, whole);
    assert.deepEqual(
      runs.map(([kind, options]) => [kind, options?.deadlineMs, options?.signal === signal]),
      [
        ['planImport', 1000, true],
        ['splitDocuments', 1000, true],
      ],
    );
  });

  it('an import that is too costly as a whole is too large, and other failures are passed on', async () => {
    for (const bound of ['time', 'memory'] as const) {
      const cause = new TaskTooCostlyError(bound, 'too much');
      const { workers } = workersOf(() => cause);
      for (const work of [
        planOf({ files: [], domain: undefined, unread: [] }, { ...reading(), workers }),
        readSource({ kind: 'documents', text: '{}' }, { ...reading(), workers }),
      ])
        await assert.rejects(work, (error: unknown) => {
          assert.ok(error instanceof RepositoryTooLargeError);
          assert.equal(error.cause, cause);
          assert.match(error.message, new RegExp(`too much ${bound}`));
          return true;
        });
    }
    const failed = new TaskFailedError('closed');
    const { workers } = workersOf(() => failed);
    await assert.rejects(
      planOf({ files: [], domain: undefined, unread: [] }, { ...reading(), workers }),
      failed,
    );
  });
});
