import { JobKind } from '../jobs/job-kind.js';
import type { JobRunner, JobService, JobWork } from '../jobs/job-service.js';
import type { Lease } from '../jobs/live-job.js';
import { limitsUnder, type PurgeKind, type PurgePolicy } from '../jobs/purge-kinds.js';
import { contextOfRequest, parseScanQuery, type PurgeEvent, type PurgeReport } from '../purge/index.js';
import type { EntityJudge } from '../schemas/models/index.js';
import { GatewayError } from '../shared/errors.js';
import { parseJson } from '../shared/json/lossless-json.js';
import type { JsonValue } from '../shared/json/json.js';
import {
  type FoundEntities,
  type FoundEntity,
  type JobResumeData,
  type JobRecord,
  type ScanEntities,
  type ScanRecord,
  type OrphanedJob,
  type UnfinishedJob,
} from '../store/index.js';
import { runScan, noMatchWarnings } from './scan-run.js';
import {
  startedRecord,
  LiveScan,
  type NewScan,
  newScanRecord,
  requeuedScan,
  type OrphanedScan,
  comparisonKey,
} from './scan-record.js';
import { keyOfFinding, ScanResults } from './scan-results.js';

export interface ScanServiceOptions {
  /** What scans need to list entities. */
  readonly setup: Pick<PurgeKind, 'dependencies' | 'limits'>;
  readonly judge: EntityJudge;
  readonly entities: ScanEntities;
}

/** Maximum number of scans searched for the previous comparable one. */
const MAX_PREVIOUS = 200;

/** Maximum number of warnings in a record. */
const MAX_WARNINGS = 20;

/** The scan has no finding at this position. */
class FindingNotFoundError extends GatewayError {
  readonly kind = 'notFound';

  constructor(id: string, position: number, findings: number) {
    super(`The scan ${id} has no finding ${String(position)}: it has ${String(findings)}, numbered from 0.`);
  }
}

/** Runs scans, which judge the entities in the broker by the models. */
export class ScanService extends JobKind<ScanRecord> implements JobRunner {
  readonly name = 'scan';
  readonly runs = 'scan';
  readonly #options: ScanServiceOptions;

  constructor(jobs: JobService, options: ScanServiceOptions) {
    super(jobs);
    this.#options = options;
    jobs.serve(this);
  }

  /**
   * Accepts a scan. It runs when a place is free.
   *
   * @throws QueryRefusedError, NotFoundError, InvalidBodyError, SchemaRefusedError; JobSecretError, QueueFullError,
   * PurgeStoppedError, StoreUnavailableError
   */
  async submit(request: NewScan): Promise<ScanRecord> {
    const { sealer, worker } = this.jobs.options;
    this.jobs.registry.requireOpen();
    parseScanQuery(request.query);
    contextOfRequest(request.headers['link']);
    await this.#options.judge.forScan({
      domain: request.domain,
      model: request.model,
      candidate: request.schema,
    });
    const sealed = sealer.seal(request.headers);
    const record = newScanRecord(request, worker, this.jobs.records.now());
    const previous = await this.#previousOf(record);
    const queued = previous === undefined ? record : { ...record, previous };
    const candidate = request.schema === undefined ? {} : { candidate: JSON.stringify(request.schema) };
    await this.jobs.enqueue(queued, { ...sealed, ...candidate });
    return queued;
  }

  /**
   * Returns the stored entities of a finding.
   *
   * @param position position of the finding in the record
   * @throws JobNotFoundError, FindingNotFoundError
   */
  async findingEntities(
    id: string,
    position: number,
  ): Promise<{
    /** Number of stored entities. */
    readonly kept: number;
    /** Reads some of them, starting at a position; returns none at the end. */
    readonly from: (position: number) => Promise<readonly FoundEntity[]>;
  }> {
    const { findings } = await this.get(id);
    const finding = findings[position];
    if (finding === undefined) throw new FindingNotFoundError(id, position, findings.length);
    const key = keyOfFinding(finding);
    const { entities } = this.#options;
    return { kept: await entities.count(id, key), from: (start) => entities.read(id, key, start) };
  }

  begin(record: JobRecord, job: JobResumeData, lease: Lease): JobWork {
    const { records, options } = this.jobs;
    const live = this.jobs.enter(
      LiveScan,
      startedRecord(record as ScanRecord, options.worker, records.now()),
      lease,
    );
    return { live, place: 'scan', run: () => this.#scan(live, job) };
  }

  async abandon({ record }: UnfinishedJob, lease: Lease): Promise<LiveScan> {
    return this.jobs.enter(LiveScan, record as ScanRecord, lease);
  }

  requeued(left: OrphanedJob): UnfinishedJob {
    return requeuedScan(left as OrphanedScan, this.jobs.records.now());
  }

  async #scan(live: LiveScan, job: JobResumeData): Promise<void> {
    const { setup, judge, entities } = this.#options;
    const { id, query, sample, domain, model, warnings: earlierWarnings } = live.record;
    const policy: PurgePolicy = live.record.policy;
    const { lease, stopped } = live;
    const { records } = this.jobs;
    const headers = this.jobs.options.sealer.open(job);
    const candidate = job.candidate === undefined ? undefined : (parseJson(job.candidate) as JsonValue);
    await records.whenStored(live, () => entities.clear(id, lease.number));
    const scanJudge = await records.whenStored(live, () => judge.forScan({ domain, model, candidate }));
    const results = new ScanResults();
    const updateRecord = (more: Partial<ScanRecord>, listed: readonly string[] = []) => {
      const { counts: found } = results;
      live.updateResults({
        ...found,
        // A scan that ends early has no report with the number of matches.
        matched: found.checked + found.notJudged,
        ...more,
        warnings: [...earlierWarnings, ...listed, ...results.warnings].slice(0, MAX_WARNINGS),
      });
    };
    const storeEntities = async (counts: readonly FoundEntities[]) => {
      if (counts.length > 0) await records.whenStored(live, () => entities.keep(id, lease.number, counts));
      updateRecord({});
    };
    const report = await runScan(
      {
        query: parseScanQuery(query),
        headers,
        limits: limitsUnder(policy, setup.limits, policy.concurrency),
        sample,
        judge: {
          readIds: (...text) => scanJudge.readIds(...text),
          judge: (...page) => records.whenStored(live, () => scanJudge.judge(...page)),
        },
        results,
        rateLimiter: live.rateLimiter,
        onJudged: storeEntities,
        onEvent: (event) => this.#noteEvent(live, event),
      },
      setup.dependencies,
      stopped,
    );
    live.set({ requests: report.requests, retries: report.retries });
    const isScanComplete = isComplete(report, live.record) && !results.isIncomplete;
    updateRecord({ matched: matchCount(report, live.record) }, [
      ...report.warnings,
      ...noMatchWarnings(report),
      ...(isScanComplete ? lostMatchWarnings(report, live.record) : []),
      ...(report.isLowerBound === true && !isSampled(live.record)
        ? ['There are more matches than could be listed.']
        : []),
    ]);
    records.end(live, isScanComplete ? 'succeeded' : 'partial');
  }

  #noteEvent(live: LiveScan, event: PurgeEvent): void {
    this.jobs.options.observer.event(live.record, event);
    if (event.type === 'counted') live.set({ expected: event.matches });
    if (event.type === 'progress') live.set({ requests: event.requests, retries: event.retries });
  }

  async #previousOf(record: ScanRecord): Promise<ScanRecord['previous']> {
    const page = { state: 'succeeded', tenant: record.tenant ?? '', limit: MAX_PREVIOUS, offset: 0 } as const;
    const subject = comparisonKey(record);
    const before = (await this.list(page)).items.find((one) => comparisonKey(one) === subject);
    if (before?.endedAt === undefined) return undefined;
    return { id: before.id, invalid: before.invalid, endedAt: before.endedAt };
  }
}

/** Whether the scan has judged as many entities as requested, so that there may be more. */
function isSampled({ sample, checked, notJudged }: ScanRecord): boolean {
  return sample !== undefined && checked + notJudged >= sample;
}

/** The warning of a scan during which entities were deleted: in lists with an offset, those behind them move forward. */
function lostMatchWarnings({ matched }: PurgeReport, record: ScanRecord): readonly string[] {
  const { expected = 0 } = record;
  if (isSampled(record) || matched >= expected) return [];
  return [
    `The broker counted ${expected} matches at first, and listed ${matched}: some were deleted during the scan, so that ` +
      'others may have been skipped. Scan again.',
  ];
}

function isComplete({ isLowerBound, warnings }: PurgeReport, record: ScanRecord): boolean {
  return (isLowerBound !== true || isSampled(record)) && warnings.length === 0;
}

function matchCount({ matched }: PurgeReport, record: ScanRecord): number {
  return isSampled(record) ? Math.max(matched, record.expected ?? 0) : matched;
}
