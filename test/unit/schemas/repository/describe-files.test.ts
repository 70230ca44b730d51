import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RepositoryTasks } from '../../../../sidecar/schemas/repository/tasks.js';
import { RepositoryTooLargeError } from '../../../../sidecar/schemas/repository/errors.js';
import { describeFiles } from '../../../../sidecar/schemas/repository/source.js';
import { TaskFailedError, TaskTooCostlyError } from '../../../../sidecar/shared/workers/errors.js';
import type { TaskRunner } from '../../../../sidecar/shared/workers/tasks.js';
import { workersOf } from './workers.js';

describe('the files of an import', () => {
  const file = (path: string, content: string | Buffer) => ({ path, bytes: Buffer.from(content) });

  it('a pointer file of Git LFS is refused as such', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n';
    const { refused } = await describeFiles([file('Car/schema.json', pointer)], workersOf());
    assert.match(refused[0]?.reason ?? '', /Git LFS pointer.*git lfs pull/);
  });

  it('files may name other documents 200,000 times; beyond that, they are refused as too large together', async () => {
    const allOf = Array.from({ length: 1000 }, (_, index) => ({ $ref: `r${index}.json` }));
    const files = Array.from({ length: 201 }, (_, index) => file(`${index}.json`, JSON.stringify({ allOf })));
    const { workers } = workersOf();
    assert.equal((await describeFiles(files.slice(1), { workers })).described.length, 200);
    await assert.rejects(describeFiles(files, { workers }), RepositoryTooLargeError);
  });

  it('a file that is too costly is refused alone, and a failure of the workers ends the import', async () => {
    const files = [file('a.json', '{}'), file('b.json', '{}')];
    let count = 0;
    const costly = workersOf(() =>
      (count += 1) === 1 ? new TaskTooCostlyError('memory', 'much') : undefined,
    );
    const { described, refused } = await describeFiles(files, costly);
    assert.deepEqual(refused, [{ path: 'a.json', reason: 'Reading it takes too much memory.' }]);
    assert.deepEqual(
      described.map(({ path }) => path),
      ['b.json'],
    );
    const failed = new TaskFailedError('closed');
    await assert.rejects(
      describeFiles(
        files,
        workersOf(() => failed),
      ),
      failed,
    );
  });

  it('the files of an import are described eight at a time, and no more of them once the client has disconnected', async () => {
    const leaving = new AbortController();
    let [count, now, most] = [0, 0, 0];
    const workers = {
      run: async () => {
        count += 1;
        now += 1;
        most = Math.max(most, now);
        if (count === 12) leaving.abort(new Error('gone'));
        await Promise.resolve();
        now -= 1;
        return { facts: { kind: 'other', isEntity: false, references: [], contexts: [], innerIds: [] } };
      },
    } as unknown as TaskRunner<RepositoryTasks>;
    const files = Array.from({ length: 20 }, (_, n) => file(`${n}.json`, '{}'));
    assert.equal((await describeFiles(files.slice(0, 11), { workers })).described.length, 11);
    assert.equal(most, 8);
    count = 0;
    await assert.rejects(describeFiles(files, { workers, signal: leaving.signal }), /gone/);
    assert.equal(count, 16);
  });
});
