import { GatewayError } from '../shared/errors.js';

/** The folder or bucket of the archives cannot be used now: it is full, away, slow, or refuses. */
export class ArchiveUnavailableError extends GatewayError {
  readonly kind = 'archiveUnavailable';
}

/** An archive is there and cannot be read: it is damaged, incomplete, or was written with another secret. */
export class ArchiveUnreadableError extends GatewayError {
  readonly kind = 'archiveUnreadable';
}
