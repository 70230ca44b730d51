import type { Clock } from '../shared/clock.js';
import { Archives } from './archives.js';
import { BucketStorage } from './bucket-storage.js';
import { ArchiveCipher } from './cipher.js';
import type { ArchiveUnavailableError } from './errors.js';
import { FolderStorage, makeRoot } from './folder-storage.js';
import type { ArchivePlace } from '../shared/config/archive-url.js';

/** What the configuration says of archives. */
export interface ArchiveSettings {
  readonly place: ArchivePlace;
  readonly keepDays: number;
  /** The first one encrypts, all of them decrypt; none: nothing is encrypted. */
  readonly secrets: readonly string[];
  /** For a bucket. */
  readonly aws: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken: string | undefined;
    readonly region: string;
    readonly endpoint: URL | undefined;
  };
  readonly clock: Pick<Clock, 'sleep'>;
  readonly onFailed: (error: ArchiveUnavailableError) => void;
}

/** Opens the archives, and makes sure that they can be written. @throws ArchiveUnavailableError when they cannot */
export async function openArchives(settings: ArchiveSettings): Promise<Archives> {
  const { place, keepDays, secrets, aws, clock, onFailed } = settings;
  if (place.kind === 'folder') await makeRoot(place.path);
  const storage =
    place.kind === 'folder' ? new FolderStorage(place.path) : new BucketStorage({ ...place, ...aws, clock });
  const archives = new Archives({ storage, keepDays, onFailed, cipher: new ArchiveCipher(secrets) });
  try {
    await archives.check();
  } catch (error) {
    await archives.close();
    throw error;
  }
  return archives;
}
