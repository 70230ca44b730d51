import { pipeline, type Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

/** A file for an archive. */
export interface PackedFile {
  readonly path: string;
  readonly content: string | Buffer;
}

/** The time of every entry, so that equal content results in equal bytes. */
const NO_TIME = new Date(0);

/** Packs files into a tar.gz while it is being read. Errors of the files become errors of the stream. */
export function packTarGz(files: AsyncIterable<PackedFile> | Iterable<PackedFile>): Readable {
  const tar = pack();
  const zipped = createGzip();
  pipeline(tar, zipped, () => {
    // If either stream ends, so does the other, and the reader of the result gets the error.
  });
  write(tar, files).catch((error: unknown) => {
    zipped.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  return zipped;
}

/** Writes the files one after the other, as fast as they are read. */
async function write(
  tar: ReturnType<typeof pack>,
  files: AsyncIterable<PackedFile> | Iterable<PackedFile>,
): Promise<void> {
  for await (const { path, content } of files) {
    if (tar.destroyed) return;
    await new Promise<void>((resolve, reject) => {
      // The reader has disconnected, so the entry will not be read.
      tar.once('close', resolve);
      const entry = tar.entry({ name: path, mtime: NO_TIME, mode: 0o644 }, content, (error) => {
        tar.removeListener('close', resolve);
        if (error === null || error === undefined) resolve();
        else reject(error);
      });
      // An entry fails together with its archive; an unhandled error event would end the process.
      entry.on('error', reject);
    });
  }
  tar.finalize();
}
