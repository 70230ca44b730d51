import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { fromBufferPromise, getFileNameLowLevel, type Entry, type ZipFile } from 'yauzl';
import type { EntryKind, RepositoryCollector } from './collector.js';
import { unreadableArchive } from './errors.js';

/**
 * Reads a zip into the collector, within its limits. Files that no import reads are not unpacked.
 *
 * @param signal ends the work, with its reason
 * @throws ArchiveUnreadableError, RepositoryTooLargeError
 */
export async function readZip(
  packed: Buffer,
  collector: RepositoryCollector,
  signal?: AbortSignal,
): Promise<void> {
  try {
    // Names are decoded here, because yauzl would stop at the first one that it rejects.
    const zip = await fromBufferPromise(packed, { lazyEntries: true, decodeStrings: false });
    for await (const entry of zip.eachEntry() as AsyncIterable<Entry>) {
      signal?.throwIfAborted();
      const name = nameOf(entry);
      const path = collector.enter(name, kindOf(name, entry), entry.uncompressedSize);
      if (path === undefined) continue;
      if (!entry.canDecodeFileData()) {
        collector.refuse(path, 'it is encrypted, or compressed in a way that is not supported');
        continue;
      }
      const content = await contentOf(zip, entry, collector);
      // yauzl only checks lengths.
      if (crc32(content) !== entry.crc32)
        collector.refuse(path, 'its content does not match the checksum in the archive');
      else collector.keep(path, content);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw unreadableArchive('zip', error);
  }
}

async function contentOf(zip: ZipFile, entry: Entry, collector: RepositoryCollector): Promise<Buffer> {
  const pieces: Buffer[] = [];
  // yauzl ends the stream if it is longer than the archive says.
  for await (const piece of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
    collector.count(piece.length);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Some programs, such as those of macOS, write names in UTF-8 without the flag that says so (APPNOTE D.1). */
function nameOf({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string {
  const flags = isUtf8(fileNameRaw) ? generalPurposeBitFlag | UTF_8 : generalPurposeBitFlag;
  return getFileNameLowLevel(flags, fileNameRaw, extraFields, false);
}

const UTF_8 = 0x800;

/** The Unix file types, which zips store in the upper half of the attributes. */
const [KINDS, FILE, FOLDER, LINK] = [0o170000, 0o100000, 0o040000, 0o120000];

function kindOf(name: string, { externalFileAttributes }: Entry): EntryKind {
  const kind = (externalFileAttributes >>> 16) & KINDS;
  if (kind === LINK) return 'link';
  if (name.endsWith('/') || kind === FOLDER) return 'folder';
  return kind === 0 || kind === FILE ? 'file' : 'other';
}
