import type { ImportReport, Transfer } from '../schemas/repository/transfer.js';
import { RepositoryUnclearError } from '../schemas/repository/errors.js';

/** Placeholder for the domain of models that are only checked, if nothing names one. */
export const UNNAMED_DOMAIN = 'models';

export interface LocalImportOptions {
  readonly domain?: string | undefined;
  readonly dryRun?: boolean;
}

/**
 * Imports files into a schema service in memory. Without a domain, models get the domains that an import on a gateway would
 * give them; if these cannot be determined, all models are in one domain.
 */
export async function importLocally(
  transfer: Transfer,
  parts: readonly { readonly name: string; readonly bytes: Buffer }[],
  { domain, dryRun = false }: LocalImportOptions,
): Promise<ImportReport> {
  const into = (named: string | undefined) =>
    transfer.import({ kind: 'parts', parts }, { domain: named, dryRun, baseUrl: 'http://localhost' });
  try {
    return await into(domain);
  } catch (error) {
    if (!(error instanceof RepositoryUnclearError) || domain !== undefined) throw error;
    return into(UNNAMED_DOMAIN);
  }
}
