import type { PurgeEvent, PurgeProgress, PurgeReport } from '../purge/index.js';
import type { PurgeRecord } from '../store/index.js';
import { LiveJob } from './live-job.js';
import { settledBefore } from './purge-record.js';
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
