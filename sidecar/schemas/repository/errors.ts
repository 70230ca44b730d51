import { GatewayError, type ProblemMembers } from '../../shared/errors.js';

/** The archive is damaged, or has another format. */
export class ArchiveUnreadableError extends GatewayError {
  readonly kind = 'invalidRequest';
}

/** The repository is larger than one import may be. */
export class RepositoryTooLargeError extends GatewayError {
  readonly kind = 'bodyTooLarge';
}

/** The repository leaves something open, such as the domain of its models. */
export class RepositoryUnclearError extends GatewayError {
  readonly kind = 'invalidRequest';

  override get members(): ProblemMembers {
    return { parameter: 'domain' };
  }
}
