import {
  type PurgeEvent,
  type PurgeLimits,
  type PurgeProgress,
  type PurgeReport,
  unlessStopped,
  type OnOutcome,
} from '../purge/index.js';
import type { ArchiveService } from './archive-service.js';
import type { PurgeRecord } from '../store/index.js';
import { LiveJob } from './live-job.js';
import { isLeftToBroker, type PreparedPurge } from './purge-kinds.js';
import type { DeleteBudget } from './delete-budget.js';
import { settledBefore } from './purge-record.js';
import type { RecordKeeper } from './record-keeper.js';
import { PlanKeys } from './plan-keys.js';
import type { PurgeServiceOptions } from './service-options.js';
import { defined } from '../shared/defined.js';

/** Maximum number of failed items in a record. */
const MAX_ERRORS = 100;

/** A purge that this process runs. */
export class LivePurge extends LiveJob<PurgeRecord> {
  /** The record as an earlier process left it. */
  readonly #before = this.record;
  /** Items deleted or found already gone by earlier processes. */
  readonly settledBefore = settledBefore(this.#before);
  /** Deletes of an earlier process that may have had an effect. Matches that are listed again were not deleted. */
  #unknownBefore = this.#before.unknown;
  /** The number of matches counted by an earlier process, until this process has counted as well. */
  #expectedBefore = this.#before.expected;
  #hasBegun = this.settledBefore + this.#before.unknown > 0;

  /** Whether deletes were sent, or were about to be. */
  override get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Notes that an earlier process may have sent deletes. */
  begun(): void {
    this.#hasBegun = true;
  }

  /** Items that this process deleted, or may have deleted. */
  get affectedSince(): number {
    const { deleted, unknown } = this.record;
    return deleted + unknown - this.#before.deleted - this.#unknownBefore;
  }

  /** Updates the record with an event of the engine. */
  note(event: PurgeEvent): void {
    if (event.type === 'counted') this.#count(event.matches);
    if (event.type === 'failures') this.set({ errors: event.errors.slice(0, MAX_ERRORS) });
    if (event.type !== 'progress') return;
    this.#hasBegun ||= event.hasBegun;
    this.set(this.#countsOf(event));
  }

  /** Updates the record with the result of the purge. */
  noteReport(report: PurgeReport): void {
    this.set({ ...this.#countsOf(report), ...endOf(report, this.record.warnings) });
  }

  /** @param left number of matches that the broker counts now */
  #count(left: number): void {
    const counted = this.settledBefore + left;
    const before = this.#expectedBefore;
    this.#expectedBefore = undefined;
    const warnings = [...this.record.warnings];
    if (before !== undefined) {
      // Matches that are listed again were not deleted.
      const unknown = Math.min(this.#unknownBefore, Math.max(0, before - counted));
      const listed = this.#unknownBefore - unknown;
      this.#unknownBefore = unknown;
      if (listed > 0) warnings.push(listedAgain(listed));
    }
    const expected = counted + this.#unknownBefore;
    const missing = (before ?? expected) - expected;
    const note =
      `${String(missing)} of the matches counted earlier are neither left nor in the counts: ` +
      'this purge deleted them before it could record that, or others deleted them.';
    this.set({ expected, warnings: missing > 0 ? [...warnings, note] : warnings });
  }

  #countsOf(counted: Omit<PurgeProgress, 'hasBegun'>): Partial<PurgeRecord> {
    const { matched, deleted, alreadyGone, failed, unknown, requests, retries } = counted;
    const before = this.#before;
    const { expected } = this.record;
    const settled = this.settledBefore + deleted + alreadyGone + failed;
    return {
      matched: this.settledBefore + this.#unknownBefore + matched,
      deleted: before.deleted + deleted,
      alreadyGone: before.alreadyGone + alreadyGone,
      failed,
      unknown: this.#unknownBefore + unknown,
      requests: before.requests + requests,
      retries: before.retries + retries,
      ...this.estimateAt(settled, expected === undefined ? undefined : expected - this.#unknownBefore),
    };
  }
}

/** @param number matches that are listed again, or are new */
function listedAgain(number: number): string {
  return (
    `${String(number)} of the deletes without an answer when the gateway stopped ` +
    'are counted as not done, because as many matches are listed again. If ' +
    'those are new entities, that many deletes are missing from the counts.'
  );
}

/** @param before warnings of earlier processes */
function endOf(report: PurgeReport, before: readonly string[]): Partial<PurgeRecord> {
  const { arrived, errors, sample, dryRun, unit, isLowerBound } = report;
  const more = isLowerBound === true ? ['There are more matches than could be counted.'] : [];
  const warnings = [...before, ...report.warnings, ...more];
  return {
    arrived,
    warnings,
    errors: errors.slice(0, MAX_ERRORS),
    ...(dryRun ? { sample } : {}),
    ...defined({ unit }),
  };
}

/** A running purge, and what is needed to run it. */
export interface Work {
  readonly live: LivePurge;
  readonly prepared: PreparedPurge;
  /** Set if the number of deletes is bounded. */
  readonly budget?: DeleteBudget | undefined;
  /** Set for a dry run that keeps its matches as a plan. */
  readonly makesPlan?: true | undefined;
  /** Called before each delete; if it throws, the purge ends. */
  readonly beforeDelete?: (() => void) | undefined;
}

/** The current limits of a purge: earlier processes may have used a part of them, and the concurrency can change. */
function limitsOf(limits: PurgeLimits, live: LivePurge, budget: DeleteBudget | undefined): PurgeLimits {
  return {
    ...limits,
    maxAffected: budget?.remaining ?? limits.maxAffected,
    get concurrency() {
      return live.record.concurrency;
    },
  };
}

/** Runs purges, both jobs and those whose callers wait. */
export class PurgeRunner {
  readonly #options: PurgeServiceOptions;
  readonly #records: RecordKeeper;
  readonly #archives: ArchiveService;

  constructor(options: PurgeServiceOptions, records: RecordKeeper, archives: ArchiveService) {
    this.#options = options;
    this.#records = records;
    this.#archives = archives;
  }

  /**
   * Runs a purge to its end.
   *
   * @param stopped aborts when the purge has to stop
   * @throws what the engine throws
   */
  async run(
    { live, prepared, budget, makesPlan, beforeDelete: checkDelete }: Work,
    stopped: AbortSignal = live.stopped,
  ): Promise<PurgeReport> {
    const { id, planOf, dryRun } = live.record;
    const recordsIds = prepared.query.record === 'ids' && !dryRun;
    const ids = recordsIds ? this.#options.idFiles.recorder(id) : undefined;
    const onOutcome: OnOutcome | undefined = ids && ((item, outcome) => ids.note(item, outcome));
    const archive =
      prepared.archive === 'none' || dryRun
        ? undefined
        : await unlessStopped(this.#archives.begin(live, prepared), stopped);
    const { plans } = this.#options;
    const found = makesPlan === true ? new PlanKeys() : undefined;
    const onPlanned = found && ((item: string) => found.add(item));
    const plan =
      planOf === undefined ? undefined : await this.#records.whenStored(live, () => plans.load(planOf, id));
    const beforeDelete = () => {
      checkDelete?.();
      return live.lease.check();
    };
    const tell = (deletedBefore: number) => {
      const more = live.record.deleted - deletedBefore;
      if (more > 0) this.#options.observer.deleted(live.record, more);
      if (archive !== undefined) this.#archives.note(live, archive.writer.counts);
    };
    const onEvent = (event: PurgeEvent) => {
      const { deleted } = live.record;
      live.note(event);
      tell(deleted);
      this.#options.observer.event(live.record, event);
    };
    let report: PurgeReport;
    try {
      report = await prepared.run(
        {
          limits: limitsOf(prepared.limits, live, budget),
          rateLimiter: live.rateLimiter,
          budget,
          onEvent,
          onOutcome,
          archive,
          plan,
          onPlanned,
          beforeDelete,
          reportsOnly: dryRun,
        },
        stopped,
      );
      const { deleted } = live.record;
      live.noteReport(report);
      tell(deleted);
    } finally {
      if (archive !== undefined) await this.#archives.finish(live, archive, stopped);
      const missing = await ids?.close();
      if (missing !== undefined) live.set({ warnings: [...live.record.warnings, missing] });
    }
    if (found !== undefined) {
      const kept = isLeftToBroker(prepared)
        ? {
            why: 'No plan was kept: PURGE_STRATEGY=native leaves the deletes to the broker, which cannot keep to one.',
          }
        : await this.#records.whenStored(live, () => plans.save(id, found));
      live.set('plan' in kept ? kept : { warnings: [...live.record.warnings, kept.why] });
    }
    // The counts of the record, because they include what an earlier process left unknown.
    const { failed, unknown } = live.record;
    const isWhole = failed + unknown + report.warnings.length === 0;
    this.#records.end(live, isWhole ? 'succeeded' : 'partial');
    return report;
  }
}
