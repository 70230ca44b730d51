import { GatewayError } from '../shared/errors.js';

/** The folder or bucket of the archives cannot be used at the moment: it is full, unreachable, slow, or refuses access. */
export class ArchiveUnavailableError extends GatewayError {
  readonly kind = 'archiveUnavailable';
}

/** An archive exists but cannot be read: it is damaged, incomplete, or was written with another secret. */
export class ArchiveUnreadableError extends GatewayError {
  readonly kind = 'archiveUnreadable';
}

/** Returns the code of a system error, such as ENOSPC. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
