import { GatewayError, type ProblemMembers } from '../../shared/errors.js';

/** An archive that is broken, or has another format. */
export class ArchiveUnreadableError extends GatewayError {
  readonly kind = 'invalidRequest';
}

/** A repository that holds more than one import takes. */
export class RepositoryTooLargeError extends GatewayError {
  readonly kind = 'bodyTooLarge';
}

/** What was read leaves something open, e.g. the domain that it belongs to. */
export class RepositoryUnclearError extends GatewayError {
  readonly kind = 'invalidRequest';

  override get members(): ProblemMembers {
    return { parameter: 'domain' };
  }
}
