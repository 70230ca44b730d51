/**
 * Archives of what purges delete: written before the deletion, read for a restore. This room knows nothing of brokers
 * and jobs.
 */
export { type ArchiveCounts, type ArchivedLine, ArchiveWriter, entityLine } from './archive-writer.js';
export { ARCHIVE_NOT_FOUND, type ArchiveReader } from './archive-reader.js';
export { Archives } from './archives.js';
export { BucketStorage, type BucketOptions } from './bucket-storage.js';
export { ArchiveCipher } from './cipher.js';
export { digestOf } from './digest-table.js';
export { ArchiveUnavailableError, ArchiveUnreadableError } from './errors.js';
export { FolderStorage, createRootFolder } from './folder-storage.js';
export { type ArchivedEntity, instanceKey, parseLine, itemTexts } from './lines.js';
export type { ArchiveStorage } from './storage.js';
