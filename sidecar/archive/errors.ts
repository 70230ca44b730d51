import { GatewayError } from '../shared/errors.js';

/** The folder or bucket of the archives cannot be used now: it is full, away, slow, or refuses. */
export class ArchiveUnavailableError extends GatewayError {
  readonly kind = 'archiveUnavailable';
}

/** An archive is there and cannot be read: it is damaged, incomplete, or was written with another secret. */
export class ArchiveUnreadableError extends GatewayError {
  readonly kind = 'archiveUnreadable';
}

/** The code of an error of the system, such as ENOSPC. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
