import type { FastifyBaseLogger } from 'fastify';
import {
  ArchiveCipher,
  Archives,
  type ArchiveStorage,
  ArchiveUnavailableError,
  BucketStorage,
  FolderStorage,
  createRootFolder,
} from './archive/index.js';
import type { PurgeMetrics } from './metrics/job-metrics.js';
import { systemClock } from './shared/clock.js';
import type { ArchiveLocation } from './shared/config/archive-url.js';
import { type Config, ConfigError } from './shared/config/load.js';

/**
 * Opens the configured archives, and makes sure that they can be written. Undefined if none are configured.
 *
 * @throws ConfigError if they cannot be written
 */
export async function openConfiguredArchives(
  config: Config,
  logger: FastifyBaseLogger,
  metrics: Pick<PurgeMetrics, 'archiveFailed'>,
): Promise<Archives | undefined> {
  const { ARCHIVE_URL: location, ARCHIVE_SECRET: secret, ARCHIVE_SECRET_BEFORE: before } = config;
  if (location === undefined) return undefined;
  try {
    const archives = new Archives({
      storage: await openStorage(location, config),
      cipher: new ArchiveCipher([secret, before].filter((one) => one !== undefined)),
      keepDays: config.ARCHIVE_DAYS,
      onFailed(error) {
        logger.error({ err: error }, 'a segment of an archive cannot be written');
        metrics.archiveFailed();
      },
      onNotRemoved(error, purge) {
        logger.error(
          { err: error, purge },
          'an archive that is due for removal cannot be removed; this will be retried',
        );
      },
    });
    await archives.check().catch(async (error: unknown) => {
      await archives.close();
      throw error;
    });
    return archives;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const isExplained = error instanceof ArchiveUnavailableError;
    throw new ConfigError([`ARCHIVE_URL cannot be used. ${isExplained ? why : `Its check failed: ${why}.`}`]);
  }
}

async function openStorage(location: ArchiveLocation, config: Config): Promise<ArchiveStorage> {
  if (location.kind === 'folder') {
    createRootFolder(location.path);
    return new FolderStorage(location.path);
  }
  return new BucketStorage({
    bucket: location.bucket,
    prefix: location.prefix,
    clock: systemClock,
    accessKeyId: config.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: config.AWS_SECRET_ACCESS_KEY ?? '',
    sessionToken: config.AWS_SESSION_TOKEN,
    region: config.AWS_REGION,
    endpoint: config.AWS_ENDPOINT_URL,
  });
}
