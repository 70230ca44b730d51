import type { RestoreEvent, RestoreReport } from '../purge/index.js';
import type { PurgeRecord } from '../store/index.js';
import { LiveJob } from './live-job.js';

/** What a restore cannot give back. */
const NOT_RESTORED = {
  entities: 'createdAt and modifiedAt are new: the broker sets them itself.',
  attributes: 'createdAt and modifiedAt are new: the broker sets them itself.',
  instances:
    'createdAt, modifiedAt and the ids of the instances are new: the broker sets them itself. The scope of a history does ' +
    'not come back; the archive has it.',
} as const;

/** A restore that this process runs. */
export class LiveRestore extends LiveJob<PurgeRecord> {
  /** What earlier processes have sent. */
  readonly #before = { requests: this.record.requests, retries: this.record.retries };

  override get hasBegun(): boolean {
    const { restored = 0, unknown } = this.record;
    return restored + unknown > 0;
  }

  /** Brings the record up to date with an event of the engine. */
  note(event: RestoreEvent): void {
    if (event.type === 'progress') this.set(this.#countsOf(event));
  }

  /** Brings it up to date with what the restore came to. */
  noteReport(report: RestoreReport): void {
    this.set({ ...this.#countsOf(report), warnings: [...this.record.warnings, ...this.#warningsOf(report)] });
  }

  #warningsOf({ dryRun, restored }: RestoreReport): readonly string[] {
    const { unit } = this.record;
    return [
      ...(dryRun || restored === 0 || unit === undefined || unit === 'datasets' ? [] : [NOT_RESTORED[unit]]),
    ];
  }

  #countsOf(report: RestoreReport): Partial<PurgeRecord> {
    const { matched, restored, alreadyThere, different, failed, unknown, dryRun } = report;
    return {
      ...{ matched, restored, alreadyThere, failed, unknown, errors: report.errors, sample: report.sample },
      ...(dryRun ? { different } : {}),
      requests: this.#before.requests + report.requests,
      retries: this.#before.retries + report.retries,
      ...this.paceAt(restored + alreadyThere + failed, undefined),
    };
  }
}
