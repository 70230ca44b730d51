import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { limitsOf, RepositoryCollector } from '../../../../sidecar/schemas/repository/collector.js';
import { packTarGz, type PackedFile } from '../../../../sidecar/schemas/repository/pack.js';
import { readTarGz } from '../../../../sidecar/schemas/repository/tar.js';

const FILES: readonly PackedFile[] = [
  { path: 'b/schema.json', content: '{"b":1}' },
  { path: 'a/é.json', content: Buffer.from('{}') },
];

describe('a written archive', () => {
  it('a written archive has the files with their contents, and no time, so that equal content has equal bytes', async () => {
    const first = await buffer(packTarGz(FILES));
    assert.deepEqual(await buffer(packTarGz(FILES)), first);
    const entries = extract();
    const times: number[] = [];
    entries.on('entry', ({ mtime }, stream, next) => {
      times.push(mtime.getTime());
      stream.resume();
      stream.once('end', next);
    });
    await pipeline(Readable.from([gunzipSync(first)]), entries);
    assert.deepEqual(times, [0, 0]);
    const collector = new RepositoryCollector(limitsOf(100_000));
    await readTarGz(first, collector);
    assert.deepEqual(
      collector.result().files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]),
      [
        ['a/é.json', '{}'],
        ['b/schema.json', '{"b":1}'],
      ],
    );
  });

  it('a written archive fails with the error of its files', async () => {
    async function* files() {
      yield* FILES;
      await Promise.resolve();
      throw new Error('The store is away.');
    }
    await assert.rejects(buffer(packTarGz(files())), /The store is away/);
  });

  it('an archive whose reader leaves ends the source of its files, and nothing else', async () => {
    let unread = 0;
    const content = randomBytes(256 * 1024);
    async function* files() {
      try {
        for (;;) yield await Promise.resolve({ path: `${(unread += 1)}.json`, content });
      } finally {
        ended();
      }
    }
    let ended = (): void => undefined;
    const end = new Promise<void>((resolve) => (ended = resolve));
    const archive = packTarGz(files());
    archive.once('data', () => archive.destroy());
    // An unhandled error would be one of the process, and fail the test.
    await end;
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(archive.destroyed);
    assert.ok(unread < 100);
  });
});
