import { GatewayError } from '../shared/errors.js';

/** The folder or bucket of the archives cannot be used at the moment: it is full, unreachable, slow, or refuses access. */
export class ArchiveUnavailableError extends GatewayError {
  readonly kind = 'archiveUnavailable';
}

/** An archive exists but cannot be read: it is damaged, incomplete, or was written with another secret. */
export class ArchiveUnreadableError extends GatewayError {
  readonly kind = 'archiveUnreadable';
}
