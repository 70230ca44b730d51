import { JobKind } from '../jobs/job-kind.js';
import type { JobService, JobWork } from '../jobs/job-service.js';
import type { Lease } from '../jobs/live-job.js';
import { limitsUnder, type PurgePolicy, type PurgeSetup } from '../jobs/purge-kinds.js';
import { contextOfRequest, parseScanQuery, type PurgeEvent, type PurgeReport } from '../purge/index.js';
import type { EntityJudge } from '../schemas/models/index.js';
import { GatewayError } from '../shared/errors.js';
import { parseJson, writeJson } from '../shared/json/lossless-json.js';
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
import { runScan, warningsOfNothing } from './scan-run.js';
import {
  begun,
  LiveScan,
  type NewScan,
  newScanRecord,
  requeuedScan,
  type OrphanedScan,
  subjectOf,
} from './scan-record.js';
import { keyOfFinding, ScanTally } from './scan-tally.js';

export interface ScanServiceOptions {
  /** What scans need to list entities. */
  readonly setup: Pick<PurgeSetup, 'dependencies' | 'limits'>;
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
export class ScanService extends JobKind<ScanRecord> {
  readonly name = 'scan';
  readonly #options: ScanServiceOptions;

  constructor(jobs: JobService, options: ScanServiceOptions) {
    super(jobs);
    this.#options = options;
    jobs.serve(this);
  }

  /** Number of scans running in this process. */
  get running(): number {
    return this.jobs.registry.scans;
  }

  /**
   * Accepts a scan. It runs when a place is free.
   *
   * @throws QueryRefusedError, NotFoundError, InvalidBodyError, SchemaNotAcceptedError; JobSecretError, QueueFullError,
   * PurgeStoppedError, StoreUnavailableError
   */
  async submit(asked: NewScan): Promise<ScanRecord> {
    const { sealer, worker } = this.jobs.options;
    this.jobs.registry.requireOpen();
    parseScanQuery(asked.query);
    contextOfRequest(asked.headers['link']);
    await this.#options.judge.forScan({ domain: asked.domain, model: asked.model, candidate: asked.schema });
    const sealed = sealer.seal(asked.headers);
    const record = newScanRecord(asked, worker, this.jobs.records.now());
    const before = await this.#previousOf(record);
    const known = before === undefined ? record : { ...record, previous: before };
    const candidate = asked.schema === undefined ? {} : { candidate: writeJson(asked.schema) };
    await this.jobs.enqueue(known, { ...sealed, ...candidate });
    return known;
  }

  /**
   * Returns the stored entities of a finding.
   *
   * @param position position of the finding in the record
   * @throws JobNotFoundError, FindingNotFoundError
   */
  async entitiesOf(
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

  override begin(record: JobRecord, job: JobResumeData, lease: Lease): JobWork {
    const { records, options } = this.jobs;
    const live = this.jobs.enter(LiveScan, begun(record as ScanRecord, options.worker, records.now()), lease);
    return { live, place: 'scan', run: () => this.#scan(live, job) };
  }

  override async abandon({ record }: UnfinishedJob, lease: Lease): Promise<LiveScan> {
    return this.jobs.enter(LiveScan, record as ScanRecord, lease);
  }

  override requeued(left: OrphanedJob): UnfinishedJob {
    return requeuedScan(left as OrphanedScan, this.jobs.records.now());
  }

  async #scan(live: LiveScan, job: JobResumeData): Promise<void> {
    const { setup, judge, entities } = this.#options;
    const { id, query, sample, domain, model, warnings: before } = live.record;
    const policy: PurgePolicy = live.record.policy;
    const { lease, stopped } = live;
    const { records } = this.jobs;
    const headers = this.jobs.options.sealer.open(job);
    const candidate = job.candidate === undefined ? undefined : (parseJson(job.candidate) as JsonValue);
    await records.whenStored(live, () => entities.clear(id, lease.number));
    const scanJudge = await records.whenStored(live, () => judge.forScan({ domain, model, candidate }));
    const tally = new ScanTally();
    const note = (more: Partial<ScanRecord>, listed: readonly string[] = []) => {
      const { found } = tally;
      live.found({
        ...found,
        // A scan that ends early has no report with the number of matches.
        matched: found.checked + found.notJudged,
        ...more,
        warnings: [...before, ...listed, ...tally.warnings].slice(0, MAX_WARNINGS),
      });
    };
    const keep = async (found: readonly FoundEntities[]) => {
      if (found.length > 0) await records.whenStored(live, () => entities.keep(id, lease.number, found));
      note({});
    };
    const report = await runScan(
      {
        query: parseScanQuery(query),
        headers,
        limits: limitsUnder(policy, setup.limits, policy.concurrency),
        sample,
        judge: {
          judge: (...page) => records.whenStored(live, () => scanJudge.judge(...page)),
        },
        tally,
        rateLimiter: live.rateLimiter,
        onJudged: keep,
        onEvent: (event) => this.#noteEvent(live, event),
      },
      setup.dependencies,
      stopped,
    );
    live.set({ requests: report.requests, retries: report.retries });
    const isWhole = isWholeReport(report, live.record) && !tally.isIncomplete;
    note({ matched: matchedOf(report, live.record) }, [
      ...report.warnings,
      ...warningsOfNothing(report),
      ...(report.isLowerBound === true && !isSampled(live.record)
        ? ['There are more matches than could be listed.']
        : []),
    ]);
    records.end(live, isWhole ? 'succeeded' : 'partial');
  }

  #noteEvent(live: LiveScan, event: PurgeEvent): void {
    this.jobs.options.observer.event(live.record, event);
    if (event.type === 'counted') live.set({ expected: event.matches });
    if (event.type === 'progress') live.set({ requests: event.requests, retries: event.retries });
  }

  async #previousOf(record: ScanRecord): Promise<ScanRecord['previous']> {
    const page = { state: 'succeeded', tenant: record.tenant ?? '', limit: MAX_PREVIOUS, offset: 0 } as const;
    const subject = subjectOf(record);
    const before = (await this.list(page)).items.find((one) => subjectOf(one) === subject);
    if (before?.endedAt === undefined) return undefined;
    return { id: before.id, invalid: before.invalid, endedAt: before.endedAt };
  }
}

/** Whether the scan has judged as many entities as requested, so that there may be more. */
function isSampled({ sample, checked, notJudged }: ScanRecord): boolean {
  return sample !== undefined && checked + notJudged >= sample;
}

function isWholeReport({ isLowerBound, warnings }: PurgeReport, record: ScanRecord): boolean {
  return (isLowerBound !== true || isSampled(record)) && warnings.length === 0;
}

function matchedOf({ matched }: PurgeReport, record: ScanRecord): number {
  return isSampled(record) ? Math.max(matched, record.expected ?? 0) : matched;
}
