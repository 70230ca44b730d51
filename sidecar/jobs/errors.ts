import type { JobKindName, JobState, PurgeRecord } from '../store/index.js';
import { PurgeError } from '../purge/index.js';
import { GatewayError } from '../shared/errors.js';

/** The record does not exist, or it was deleted because of its age. */
export class JobNotFoundError extends GatewayError {
  readonly kind = 'notFound';

  constructor(noun: JobKindName, id: string) {
    super(`There is no ${noun} ${id}, or its record was deleted because of its age.`);
  }
}

/** No ids were recorded for a purge, or they were removed, or another process has them. */
export class IdsNotFoundError extends GatewayError {
  readonly kind = 'notFound';

  constructor(id: string, worker: string) {
    super(
      `No ids of the purge ${id} are recorded here. Ids are recorded ` +
        `with record=ids, by the process that runs the purge (${worker}).`,
    );
  }
}

/** A purge archived nothing, or its archive was erased or has expired. */
export class ArchiveNotFoundError extends GatewayError {
  readonly kind = 'notFound';

  constructor({ id, archive }: PurgeRecord) {
    const why =
      archive === undefined
        ? 'it archived nothing'
        : archive.erasedAt === undefined
          ? `the archive was kept until ${archive.expiresAt}`
          : `the archive was erased at ${archive.erasedAt}`;
    super(`The purge ${id} has no archive: ${why}.`);
  }
}

/** The archive cannot be used yet, because its purge has not ended. */
export class ArchiveInUseError extends GatewayError {
  readonly kind = 'inUse';

  constructor(id: string, state: JobState) {
    super(`The purge ${id} is ${state}: its archive is available when it has ended.`);
  }
}

/** A plan cannot be applied: it does not exist, is too old, or was already applied. */
export class PlanUnavailableError extends PurgeError {
  readonly kind = 'planGone';
  override readonly outcome = 'refused';
}

/** The job has ended, or is about to, and cannot be changed. */
export class JobEndedError extends GatewayError {
  readonly kind: 'purgeOver' | 'scanOver';

  constructor(noun: JobKindName, id: string, state: JobState) {
    super(`The ${noun} ${id} can no longer be changed: its state is ${state}.`);
    this.kind = noun === 'scan' ? 'scanOver' : 'purgeOver';
  }
}

/** The purge stopped because its caller disconnected. */
export class ClientDisconnectedError extends GatewayError {
  readonly kind = 'internalError';
}

/** The purge was cancelled by request while its caller waited. */
export class PurgeCancelledError extends GatewayError {
  readonly kind = 'purgeCancelled';

  constructor(options?: ErrorOptions) {
    super('The purge was cancelled by request. What it had not deleted by then remains.', options);
  }
}

/** The queue of jobs is full. */
export class QueueFullError extends GatewayError {
  readonly kind = 'tooManyPurges';
  override readonly retryAfter = '5';

  constructor(max: number) {
    super(`The queue is full: PURGE_MAX_QUEUED allows ${String(max)} waiting jobs.`);
  }
}

/** A purge that was refused or ended early, with its record up to then. */
export class PurgeFailedError extends Error {
  constructor(
    override readonly cause: unknown,
    readonly record: PurgeRecord,
    /** Whether deletes were sent, or were about to be. */
    readonly hasBegun = false,
  ) {
    super('The purge ended early.');
  }
}
