import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import type { EntryKind, RepositoryCollector } from './collector.js';
import { unreadableArchive } from './errors.js';

/** Size of the pieces in which the archive is unpacked, so that other work can run in between. */
const PIECE_BYTES = 64 * 1024;

/**
 * Reads a gzipped tar into the collector, within its limits. Nothing is written to disk.
 *
 * @param signal ends the work, with its reason
 * @throws ArchiveUnreadableError, RepositoryTooLargeError
 */
export async function readTarGz(
  packed: Uint8Array,
  collector: RepositoryCollector,
  signal?: AbortSignal,
): Promise<void> {
  const entries = extract();
  const unpacking = pipeline(
    Readable.from(piecesOf(packed)),
    createGunzip(),
    counting(collector),
    entries,
    ...(signal === undefined ? [] : [{ signal }]),
  );
  // A failure ends both; the pipeline has the reason.
  const reading = readEntries(entries, collector);
  const [unpacked, read] = await Promise.allSettled([unpacking, reading]);
  signal?.throwIfAborted();
  for (const end of [read, unpacked])
    if (end.status === 'rejected') throw unreadableArchive('tar.gz', end.reason);
}

async function readEntries(
  entries: ReturnType<typeof extract>,
  collector: RepositoryCollector,
): Promise<void> {
  for await (const entry of entries) {
    const { name, type, size } = entry.header;
    const path = collector.enter(name, kindOf(type), size);
    if (path === undefined) {
      entry.resume();
      continue;
    }
    // Never more than the header announced.
    const pieces: Uint8Array[] = [];
    for await (const piece of entry as AsyncIterable<Uint8Array>) pieces.push(piece);
    collector.keep(path, Buffer.concat(pieces));
  }
}

function kindOf(type: Header['type']): EntryKind {
  switch (type) {
    case 'file':
    case 'contiguous-file':
      return 'file';
    case 'directory':
      return 'folder';
    case 'link':
    case 'symlink':
      return 'link';
    default:
      return 'other';
  }
}

function* piecesOf(packed: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < packed.length; at += PIECE_BYTES) yield packed.subarray(at, at + PIECE_BYTES);
}

function counting(collector: RepositoryCollector): Transform {
  return new Transform({
    transform(piece: Uint8Array, _encoding, done) {
      try {
        collector.count(piece.length);
        done(null, piece);
      } catch (error) {
        done(error as Error);
      }
    },
  });
}
