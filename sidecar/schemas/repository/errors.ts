import { GatewayError } from '../../shared/errors.js';
import type { InputIssue } from '../../shared/json/pointer.js';

/** An archive that is broken, or has another format. */
export class ArchiveUnreadableError extends GatewayError {
  readonly code = 'ARCHIVE_UNREADABLE';
}

/** A repository that holds more than one import takes. */
export class RepositoryTooLargeError extends GatewayError {
  readonly code = 'REPOSITORY_TOO_LARGE';
}

/** What was read leaves something open, e.g. the domain that it belongs to. */
export class RepositoryUnclearError extends GatewayError {
  readonly code = 'REPOSITORY_UNCLEAR';
}

/** A body that is JSON, and not what an import takes. */
export class BodyShapeError extends GatewayError {
  readonly code = 'BODY_INVALID';
  readonly errors: readonly InputIssue[];

  constructor(pointer: string, detail: string) {
    super(`The body is invalid: ${pointer === '' ? 'it' : pointer} ${detail}.`);
    this.errors = [{ pointer, detail }];
  }
}
