import { GatewayError, type ProblemMembers } from '../../shared/errors.js';

/** The archive is damaged, or has another format. */
export class ArchiveUnreadableError extends GatewayError {
  readonly kind = 'invalidRequest';
}

/** The repository is larger than one import may be. */
export class RepositoryTooLargeError extends GatewayError {
  readonly kind = 'bodyTooLarge';
}

/** The error for an archive of a kind: the error itself if the archive is too large, else that it cannot be read. */
export function unreadableArchive(kind: string, cause: unknown): GatewayError {
  if (cause instanceof RepositoryTooLargeError) return cause;
  const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '');
  return new ArchiveUnreadableError(`The archive is not a readable ${kind}: ${why}.`, { cause });
}

/** The repository leaves something open, such as the domain of its models. */
export class RepositoryUnclearError extends GatewayError {
  readonly kind = 'invalidRequest';

  override get members(): ProblemMembers {
    return { parameter: 'domain' };
  }
}
