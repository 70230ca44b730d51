import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { packTarGz, type PackedFile } from '../../../../sidecar/schemas/repository/pack.js';

const FILES: readonly PackedFile[] = [
  { path: 'b/schema.json', content: '{"b":1}' },
  { path: 'a/é.json', content: Buffer.from('{}') },
];

describe('a written archive', () => {
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
