import { type PurgeEvent, type PurgeProgress, type PurgeReport, Pace } from '../purge/index.js';
import { type ControlRequest, isFinal, type PurgeRecord } from '../store/index.js';
import type { Clock } from '../shared/clock.js';
import { RateMeter } from '../shared/rate-meter.js';
import type { Lease } from './lease.js';
import type { PurgeControl } from './purge-kinds.js';
import { ended, withoutPace } from './purge-record.js';

/** Watchers see changes at least this far apart, in milliseconds. */
const PUBLISH_EVERY_MS = 250;

/** The most failed items that a record names. */
const MAX_ERRORS = 100;

/** A purge that this process runs: its current record, and what can be changed while it runs. */
export class LivePurge {
  readonly control: PurgeControl;
  readonly lease: Lease;
  /** Aborts when the purge has to stop here: no new deletes then; those in flight finish. */
  readonly stopped: AbortSignal;
  readonly #stop = new AbortController();
  readonly #clock: Clock;
  /** What an earlier process had settled. */
  readonly #before: Pick<PurgeProgress, 'deleted' | 'alreadyGone' | 'requests' | 'retries'>;
  readonly #rate = new RateMeter();
  readonly #onChange: (record: PurgeRecord) => void;
  readonly #watchers = new Set<() => void>();
  #record: PurgeRecord;
  #hasBegun: boolean;
  #isCancelled = false;
  /** Deletes of an earlier process that may have had an effect; matches that are listed again were not deleted. */
  #unknownBefore: number;
  /** What an earlier process had counted, until this one has counted as well. */
  #expectedBefore: number | undefined;
  #publishedMs = -Infinity;
  #isPublishing = false;

  /** @param onChange called with the record on every change that watchers see */
  constructor(record: PurgeRecord, lease: Lease, clock: Clock, onChange: (record: PurgeRecord) => void) {
    this.#record = record;
    this.lease = lease;
    this.stopped = AbortSignal.any([this.#stop.signal, lease.lost]);
    this.#clock = clock;
    this.#onChange = onChange;
    const { deleted, alreadyGone, unknown, requests, retries, maxPerSecond, expected } = record;
    this.#unknownBefore = unknown;
    this.#expectedBefore = expected;
    this.#before = { deleted, alreadyGone, requests, retries };
    const pace = new Pace(clock, maxPerSecond ?? undefined);
    this.control = { pace, concurrency: record.concurrency };
    this.#hasBegun = this.settledBefore + unknown > 0;
  }

  get record(): PurgeRecord {
    return this.#record;
  }

  /** Deletes were sent, or were about to be. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** It was cancelled by request. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** An earlier process may have sent deletes. */
  begun(): void {
    this.#hasBegun = true;
  }

  /** Deleted or found gone by earlier processes. */
  get settledBefore(): number {
    return this.#before.deleted + this.#before.alreadyGone;
  }

  /** Deleted by this process, or may have been. */
  get affectedSince(): number {
    const { deleted, unknown } = this.#record;
    return deleted + unknown - this.#before.deleted - this.#unknownBefore;
  }

  /** Changes members of the record, and notifies watchers: at once for a new state, else soon. */
  set(members: Partial<PurgeRecord>): void {
    const isNewState = members.state !== undefined && members.state !== this.#record.state;
    const record = { ...this.#record, ...members };
    this.#record = record.state === 'running' ? record : withoutPace(record);
    if (isNewState) this.#publish();
    else void this.#publishSoon();
  }

  /** Stops it here, to go on later where that is possible. */
  stop(): void {
    this.#stop.abort();
    this.wake();
  }

  /** Stops it for good. */
  cancel(): void {
    if (this.#record.state !== 'running') return;
    this.#isCancelled = true;
    this.set({ state: 'cancelling' });
    this.#stop.abort();
  }

  /** Changes how hard it works. */
  change({ maxPerSecond, concurrency }: ControlRequest): void {
    if (maxPerSecond !== undefined) this.control.pace.setPerSecond(maxPerSecond ?? undefined);
    if (concurrency !== undefined) this.control.concurrency = concurrency;
    this.set({
      ...(maxPerSecond === undefined ? {} : { maxPerSecond }),
      ...(concurrency === undefined ? {} : { concurrency }),
    });
  }

  /** Brings the record up to date with an event of the engine. */
  note(event: PurgeEvent): void {
    switch (event.type) {
      case 'counted':
        this.#count(event.matches);
        return;
      case 'progress':
        this.#hasBegun ||= event.hasBegun;
        this.set(this.#countsOf(event));
        return;
      case 'finished':
        this.set({ ...this.#countsOf(event.report), ...endOf(event.report, this.#record.warnings) });
        return;
      default:
    }
  }

  /** Resolves on the next change that watchers see, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#watchers.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#watchers.add(done);
      signal.addEventListener('abort', done, { once: true });
      if (signal.aborted) done();
    });
  }

  /** @param left matches that the broker counts now */
  #count(left: number): void {
    const counted = this.settledBefore + left;
    const before = this.#expectedBefore;
    this.#expectedBefore = undefined;
    const warnings = [...this.#record.warnings];
    if (before !== undefined) {
      // Those that are listed again were not done.
      const unknown = Math.min(this.#unknownBefore, Math.max(0, before - counted));
      const listed = this.#unknownBefore - unknown;
      this.#unknownBefore = unknown;
      if (listed > 0) warnings.push(listedAgain(listed));
    }
    const expected = counted + this.#unknownBefore;
    const missing = (before ?? expected) - expected;
    const note = `${String(missing)} of the matches that were counted before are neither left nor in the counts: this purge deleted them before that was written down, or others did.`;
    this.set({ expected, warnings: missing > 0 ? [...warnings, note] : warnings });
  }

  #countsOf(counted: Omit<PurgeProgress, 'hasBegun'>): Partial<PurgeRecord> {
    const { matched, deleted, alreadyGone, failed, unknown, requests, retries } = counted;
    const before = this.#before;
    const settled = this.settledBefore + deleted + alreadyGone + failed;
    const nowMs = this.#clock.now();
    this.#rate.note(nowMs, settled);
    const rate = this.#rate.perSecond;
    const { expected } = this.#record;
    const leftMs = expected === undefined ? undefined : this.#rate.leftMs(expected - this.#unknownBefore);
    return {
      matched: this.settledBefore + this.#unknownBefore + matched,
      deleted: before.deleted + deleted,
      alreadyGone: before.alreadyGone + alreadyGone,
      ...{ failed, unknown: this.#unknownBefore + unknown },
      requests: before.requests + requests,
      retries: before.retries + retries,
      ...(rate === undefined ? {} : { ratePerSecond: Math.round(rate * 10) / 10 }),
      ...(leftMs === undefined ? {} : { estimatedEndAt: new Date(nowMs + leftMs).toISOString() }),
    };
  }

  async #publishSoon(): Promise<void> {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    const waitMs = this.#publishedMs + PUBLISH_EVERY_MS - this.#clock.now();
    if (waitMs > 0) await this.#clock.sleep(waitMs);
    this.#isPublishing = false;
    // Its end was reported meanwhile.
    if (!isFinal(this.#record.state)) this.#publish();
  }

  #publish(): void {
    this.#publishedMs = this.#clock.now();
    if (isFinal(this.#record.state)) this.#record = ended(this.#record);
    this.#onChange(this.#record);
    this.wake();
  }

  /** Wakes the watchers. */
  wake(): void {
    for (const tell of [...this.#watchers]) tell();
  }
}

/** @param number matches that are listed again, or new ones */
function listedAgain(number: number): string {
  return `${String(number)} of the deletes that had no answer when the gateway stopped count as not done, since as many matches are listed again. If those are new entities, that many deletes are missing from the counts.`;
}

/** @param before warnings of an earlier process */
function endOf(report: PurgeReport, before: readonly string[]): Partial<PurgeRecord> {
  const { arrived, errors, sample, dryRun, unit, isLowerBound } = report;
  const more = isLowerBound === true ? ['There are more matches than could be counted.'] : [];
  const warnings = [...before, ...report.warnings, ...more];
  return {
    ...{ arrived, warnings, errors: errors.slice(0, MAX_ERRORS) },
    ...(dryRun ? { sample } : {}),
    ...(unit === undefined ? {} : { unit }),
  };
}
