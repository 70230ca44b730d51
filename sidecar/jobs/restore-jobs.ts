import {
  type RequestedRate,
  PolicyRefusedError,
  restoreArchive,
  type RestoreEvent,
  type RestorePosition,
  type RestoreReport,
  unlessStopped,
} from '../purge/index.js';
import type { JobResumeData, JobRecord, OrphanedJob, PurgeRecord, UnfinishedJob } from '../store/index.js';
import type { ArchiveService } from './archive-service.js';
import type { JobRunner, JobService, JobWork } from './job-service.js';
import { type Lease, LiveJob } from './live-job.js';
import { newJobMembers } from './job-record.js';
import { limitsUnder, type NewJob, type PurgeKinds, type PurgePolicy } from './purge-kinds.js';
import { headersAt } from './job-headers.js';
import { NOTHING_DONE, type OrphanedPurge, requeued, targetOf } from './purge-record.js';
import type { PurgeServiceOptions } from './service-options.js';
import { defined } from '../shared/defined.js';
import { quoted } from '../shared/format-value.js';

/** The parameters of a restore, except for the purge to undo. */
export interface NewRestore extends NewJob, RequestedRate {
  /** Restores only these entities. */
  readonly ids?: readonly string[] | undefined;
  readonly dryRun: boolean;
}

/** Restores what purges have archived, as jobs. */
export class RestoreJobs implements JobRunner {
  readonly runs = 'restore';
  readonly #options: PurgeServiceOptions;
  readonly #jobs: JobService;
  readonly #archives: ArchiveService;

  constructor(options: PurgeServiceOptions, jobs: JobService, archives: ArchiveService) {
    this.#options = options;
    this.#jobs = jobs;
    this.#archives = archives;
  }

  /**
   * Accepts a restore. It runs when a place is free.
   *
   * @param of the purge to undo
   * @throws as ArchiveService.find(); RestoreUnderWayError, PolicyRefusedError, QueryRefusedError, JobSecretError,
   * QueueFullError, PurgeStoppedError, StoreUnavailableError
   */
  async submit(of: string, asked: NewRestore): Promise<PurgeRecord> {
    const { sealer, worker } = this.#options;
    this.#jobs.registry.requireOpen();
    const { record: source } = await this.#archives.find(of);
    const { policy, dryRun, ids } = asked;
    if (policy.dryRunOnly === true && !dryRun)
      throw new PolicyRefusedError('The policy of this gateway allows dry runs only: set dryRun to true.');
    const unit = restoredUnit(source);
    const headers = headersAt(asked.headers, source);
    const record: PurgeRecord = {
      ...newJobMembers({ ...asked, headers }, source.query, asked, {
        state: 'queued',
        worker,
        createdAt: this.#jobs.records.now(),
      }),
      target: 'restore',
      restoreOf: of,
      unit,
      dryRun,
      ...NOTHING_DONE,
      restored: 0,
      alreadyThere: 0,
      concurrency: restoreConcurrency(this.#options.kinds, policy),
    };
    await this.#jobs.enqueue(record, { ...sealer.seal(headers), restore: defined({ ids }) });
    return record;
  }

  begin(kept: JobRecord, job: JobResumeData, lease: Lease): JobWork {
    const { worker } = this.#options;
    const record = kept as PurgeRecord;
    const live = this.#enter(record, lease);
    if (record.startedAt !== undefined && record.worker !== worker)
      live.warn(`The gateway ${record.worker} stopped working on it, and ${worker} resumed it.`);
    return { live, place: record.dryRun ? 'dry run' : 'job', run: () => this.#restore(live, job) };
  }

  async abandon({ record }: UnfinishedJob, lease: Lease): Promise<LiveRestore> {
    return this.#enter(record as PurgeRecord, lease);
  }

  requeued(left: OrphanedJob): UnfinishedJob {
    return requeued(left as OrphanedPurge, this.#options.worker, this.#jobs.records.now());
  }

  /** Enters a restore in the state in which it was left; it now belongs to this process. */
  #enter(record: PurgeRecord, lease: Lease): LiveRestore {
    return this.#jobs.enter(LiveRestore, { ...record, worker: this.#options.worker }, lease);
  }

  async #restore(live: LiveRestore, job: JobResumeData): Promise<void> {
    const { kinds, sealer } = this.#options;
    const { restoreOf = '', dryRun } = live.record;
    const opened = () => unlessStopped(this.#archives.open(restoreOf, true), live.stopped);
    const { reader, record: source } = await this.#jobs.records.whenStored(live, opened);
    const target = targetOf(source);
    const { limits, dependencies } = kinds[target];
    const { ids, position } = job.restore ?? {};
    let needs = job;
    const report = await restoreArchive(
      {
        lines: () => reader.entities(),
        unit: restoredUnit(source),
        ids: ids === undefined ? undefined : new Set(ids),
        dryRun,
        headers: sealer.open(job),
        rateLimiter: live.rateLimiter,
        limits: {
          batchSize: limits.batchSize,
          get concurrency() {
            return live.record.concurrency;
          },
        },
        from: position as RestorePosition | undefined,
        beforeDelete: () => live.lease.check(),
        onEvent: (event) => live.note(event),
        save: async (at) => {
          needs = { ...needs, restore: { ...needs.restore, position: at } };
          await this.#jobs.records.writeAhead(live, needs);
        },
      },
      dependencies,
      live.stopped,
    );
    live.noteReport(report, reader.unlisted);
    const undone = report.failed + report.unknown + report.absent.length;
    this.#jobs.records.end(live, undone === 0 ? 'succeeded' : 'partial');
  }
}

/** Returns how many requests of a restore may be in flight. */
export function restoreConcurrency({ entities }: PurgeKinds, policy: PurgePolicy): number {
  return limitsUnder(policy, entities.limits, policy.concurrency).concurrency;
}

/** What is restored for a purge. For history, this is instances, whatever the unit of the purge was. */
function restoredUnit({ target, unit }: PurgeRecord): 'entities' | 'attributes' | 'instances' {
  if (target === 'temporal') return 'instances';
  return unit === 'attributes' ? 'attributes' : 'entities';
}

/** What a restore cannot recover. */
const NOT_RESTORED = {
  entities: 'createdAt and modifiedAt are new: the broker sets them itself.',
  attributes: 'createdAt and modifiedAt are new: the broker sets them itself.',
  instances:
    'createdAt, modifiedAt and the ids of the instances are new: the broker sets them itself. The scope of a history is ' +
    'not restored; the archive contains it.',
} as const;

/** Maximum number of errors, and of ids, in a record. */
const MAX_NAMED = 100;

const MAX_WARNED = 5;

/** A restore that this process runs. */
export class LiveRestore extends LiveJob<PurgeRecord> {
  /** The record as earlier processes left it. */
  readonly #before = this.record;

  override get hasBegun(): boolean {
    const { restored = 0, unknown } = this.record;
    return restored + unknown > 0;
  }

  /** Updates the record with an event of the engine. */
  note(event: RestoreEvent): void {
    if (event.type === 'progress') this.set(this.#countsOf(event));
  }

  /**
   * Updates the record with the result of the restore.
   *
   * @param unlisted number of segments of the archive that were not used
   */
  noteReport(report: RestoreReport, unlisted: number): void {
    const warnings = [
      ...this.record.warnings,
      ...this.#warningsOf(report),
      ...(unlisted === 0 ? [] : [notListed(unlisted)]),
    ];
    this.set({ ...this.#countsOf(report), warnings });
  }

  #warningsOf({ dryRun, restored, different, absent }: RestoreReport): readonly string[] {
    const { unit } = this.record;
    return [
      ...(dryRun || different === 0 ? [] : [storedOtherwise(different)]),
      ...(absent.length === 0 ? [] : [notInArchive(absent)]),
      ...(dryRun || restored === 0 || unit === undefined || unit === 'datasets' ? [] : [NOT_RESTORED[unit]]),
    ];
  }

  #countsOf(report: RestoreReport): Partial<PurgeRecord> {
    const { matched, restored, alreadyThere, different, failed, unknown, dryRun } = report;
    return {
      matched,
      restored,
      alreadyThere,
      failed,
      unknown,
      errors: this.#errorsWith(report),
      sample: [...new Set([...(this.#before.sample ?? []), ...report.sample])].slice(0, MAX_NAMED),
      ...(dryRun ? { different } : {}),
      requests: this.#before.requests + report.requests,
      retries: this.#before.retries + report.retries,
      ...this.estimateAt(restored + alreadyThere + failed, undefined),
    };
  }

  /**
   * Merges the errors with those of earlier processes. A page that was left unfinished is repeated, and its new error
   * for an item replaces the old one.
   */
  #errorsWith({ errors, failed }: RestoreReport): PurgeRecord['errors'] {
    const itemOf = (error: unknown) => JSON.stringify({ ...Object(error), error: undefined });
    const fresh = new Set(errors.map(itemOf));
    const before = this.#before.errors.filter((error) => !fresh.has(itemOf(error)));
    const room = Math.max(0, failed - errors.length);
    return [...before.slice(0, room), ...errors].slice(0, MAX_NAMED);
  }
}

function notListed(segments: number): string {
  return (
    `${segments} of the segments in the archive are not in its list, and were not used: a gateway that had lost the purge ` +
    'wrote them, or somebody added them.'
  );
}

function storedOtherwise(items: number): string {
  return (
    `At the broker, ${items} of the restored items differ from the archive: it stored less, or a client has changed them. ` +
    'A dry run of the restore names them.'
  );
}

function notInArchive(ids: readonly string[]): string {
  const named = ids.slice(0, MAX_WARNED).map((id) => quoted(id));
  const more = ids.length > MAX_WARNED ? ', …' : '';
  return `The archive does not contain ${ids.length} of the ids: ${named.join(', ')}${more}.`;
}
