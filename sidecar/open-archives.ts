import type { FastifyBaseLogger } from 'fastify';
import { type Archives, ArchiveUnavailableError, openArchives } from './archive/index.js';
import type { PurgeMetrics } from './metrics/job-metrics.js';
import { systemClock } from './shared/clock.js';
import { type Config, ConfigError } from './shared/config/load.js';

/**
 * Opens the archives that the configuration names; undefined where it names none.
 *
 * @throws ConfigError where they cannot be written
 */
export async function openConfiguredArchives(
  config: Config,
  logger: FastifyBaseLogger,
  metrics: Pick<PurgeMetrics, 'archiveFailed'>,
): Promise<Archives | undefined> {
  const place = config.ARCHIVE_URL;
  if (place === undefined) return undefined;
  const { ARCHIVE_SECRET: secret, ARCHIVE_SECRET_BEFORE: before } = config;
  try {
    return await openArchives({
      ...{ place, keepDays: config.ARCHIVE_DAYS, clock: systemClock },
      secrets: [secret, before].filter((one) => one !== undefined),
      aws: {
        accessKeyId: config.AWS_ACCESS_KEY_ID ?? '',
        secretAccessKey: config.AWS_SECRET_ACCESS_KEY ?? '',
        sessionToken: config.AWS_SESSION_TOKEN,
        region: config.AWS_REGION,
        endpoint: config.AWS_ENDPOINT_URL,
      },
      onFailed(error) {
        logger.error({ err: error }, 'a segment of an archive cannot be written');
        metrics.archiveFailed();
      },
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const isSaid = error instanceof ArchiveUnavailableError;
    throw new ConfigError([`ARCHIVE_URL cannot be used. ${isSaid ? why : `Its check failed: ${why}.`}`]);
  }
}
