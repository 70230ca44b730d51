import { pipeline, type Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

/** A file of an archive. */
export interface PackedFile {
  readonly path: string;
  readonly content: string | Buffer;
}

/** The time of every entry, so that equal content gives equal bytes. */
const NO_TIME = new Date(0);

/** Files as a tar.gz, made as it is read. It fails with what the files fail with. */
export function packTarGz(files: AsyncIterable<PackedFile> | Iterable<PackedFile>): Readable {
  const tar = pack();
  const zipped = createGzip();
  pipeline(tar, zipped, () => {
    // Either ends the other, and the reader of the result gets the reason.
  });
  write(tar, files).catch((error: unknown) => {
    zipped.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  return zipped;
}

/** One file after the other, as fast as they are read. */
async function write(
  tar: ReturnType<typeof pack>,
  files: AsyncIterable<PackedFile> | Iterable<PackedFile>,
): Promise<void> {
  for await (const { path, content } of files) {
    if (tar.destroyed) return;
    await new Promise<void>((resolve, reject) => {
      // The reader left: nobody reads the entry.
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
