import { LiveJob } from '../jobs/live-job.js';
import type { ScanRecord } from '../store/index.js';

/** A scan that this process runs. */
export class LiveScan extends LiveJob<ScanRecord> {
  override get hasBegun(): boolean {
    return this.record.checked + this.record.notJudged > 0;
  }

  /** Changes what it has found until now. */
  found(members: Partial<ScanRecord>): void {
    const record = { ...this.record, ...members };
    const { checked, notJudged, expected, sample = Infinity } = record;
    const left = expected === undefined ? undefined : Math.min(expected, sample);
    this.set({ ...members, ...this.paceAt(checked + notJudged, left) });
  }
}
