import type { Problem } from '../shared/problem.js';

/** The states of a job; all but the first three are final. */
export const JOB_STATES = [
  'queued',
  'running',
  'cancelling',
  'succeeded',
  'partial',
  'failed',
  'cancelled',
  'refused',
  'interrupted',
] as const;
export type JobState = (typeof JOB_STATES)[number];

export type FinalJobState = Exclude<JobState, 'queued' | 'running' | 'cancelling'>;

/** Whether a job in this state has ended. */
export function isFinal(state: JobState): state is FinalJobState {
  return state !== 'queued' && state !== 'running' && state !== 'cancelling';
}

/** What is stored for every job: who requested what, when, and the outcome. Times are ISO 8601, in UTC. */
interface JobMembers {
  readonly id: string;
  readonly state: JobState;
  /** The query string as sent. */
  readonly query: string;
  readonly tenant?: string;
  /** The Link header, which names the @context. */
  readonly link?: string;
  /** The service and service path of the entities, from the FIWARE headers. */
  readonly fiware?: { readonly service?: string; readonly servicePath?: string };
  readonly caller: string;
  /** The address of the client, and its user agent, if these are recorded. */
  readonly clientAddress?: string;
  readonly userAgent?: string;
  readonly requestId: string;
  /** The trace that the job belongs to (W3C Trace Context). */
  readonly traceparent?: string;
  /** The gateway process that runs the job, or ran it last. */
  readonly worker: string;
  /** The policy set by the gateway in front when the job was started, with the names of X-Purge-Policy. */
  readonly policy: Readonly<Record<string, number | boolean | string>>;
  /** The broker that a queued job waits for, if BROKER_URL names a different one; without credentials. */
  readonly waitsFor?: string;
  /** Items per second; null for no limit. */
  readonly maxPerSecond: number | null;
  readonly matched: number;
  /** The number of requests to the broker, and how many of them were retries. */
  readonly requests: number;
  readonly retries: number;
  /** While the job runs: the expected final value of `matched`, if the broker has counted the matches. */
  readonly expected?: number;
  /** While the job runs: the recent number of items settled per second. */
  readonly ratePerSecond?: number;
  /** While the job runs: when it will end at that rate, if the broker has counted the matches. */
  readonly estimatedEndAt?: string;
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** Why the job did not succeed. */
  readonly problem?: Problem;
  readonly warnings: readonly string[];
}

/** What is stored for a purge, and its result. */
export interface PurgeRecord extends JobMembers {
  /** `restore` undoes another purge. */
  readonly target: 'entities' | 'temporal' | 'restore';
  /** The unit of the counts. */
  readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
  readonly dryRun: boolean;
  /** The retention policy whose run this is. */
  readonly retentionPolicy?: string;
  /** The run matched more than its policy allows, and so became a dry run. */
  readonly heldBack?: true;
  readonly concurrency: number;
  readonly deleted: number;
  readonly alreadyGone: number;
  readonly failed: number;
  readonly unknown: number;
  /** Matches that appeared during the purge and were not deleted. */
  readonly arrived: number;
  /** Items that could not be deleted, at most 100. */
  readonly errors: readonly unknown[];
  /** In a dry run: the ids of some matches. */
  readonly sample?: readonly string[];
  /** The archive of what the purge deleted. */
  readonly archive?: ArchiveSummary | undefined;
  /** In a dry run with a plan: what it found, so that a purge can delete exactly that. */
  readonly plan?: { readonly items: number; readonly expiresAt: string };
  /** The dry run whose plan this purge applies. */
  readonly planOf?: string | undefined;
  /** In a restore: the purge that it undoes. */
  readonly restoreOf?: string;
  /** In a restore: the number of items created again; in a dry run, of those that would be. */
  readonly restored?: number;
  /** In a restore: the number of items that already existed and were left unchanged. */
  readonly alreadyThere?: number;
  /** In a dry run of a restore: how many of the existing items differ from the archive. */
  readonly different?: number;
}

/** The archive of a purge. */
export interface ArchiveSummary {
  /** Number of entities, each counted once. */
  readonly entities: number;
  /** Size as stored. */
  readonly bytes: number;
  /** Minimum number of objects. */
  readonly segments?: number;
  /** SHA-256 of the list of objects, in hex; set once the list was written. */
  readonly listDigest?: string;
  readonly expiresAt: string;
  /** When it was erased on request. */
  readonly erasedAt?: string;
}

/** The result of a scan for the entities of one model. */
export interface ScannedModel {
  readonly domain: string;
  readonly model: string;
  readonly version: number;
  readonly checked: number;
  readonly valid: number;
  readonly invalid: number;
}

/** A fault that some entities of a scan have in common. */
export interface ScanFinding {
  readonly domain: string;
  readonly model: string;
  /** JSON pointer to the place in the entity; positions in arrays are `*`. */
  readonly pointer: string;
  readonly keyword: string;
  /** A sentence about the fault, as found in the first entity. */
  readonly detail: string;
  /** Number of entities with this fault. */
  readonly entities: number;
  /** Ids of some of them. */
  readonly sample: readonly string[];
}

/** Entities of a type that has no model. */
interface Unmodelled {
  readonly type: string;
  readonly entities: number;
  readonly sample: readonly string[];
}

/** What is stored for a scan, and its result. */
export interface ScanRecord extends JobMembers {
  readonly target: 'scan';
  /** The domain in which models are searched. */
  readonly domain?: string;
  /** `D/M` or `D/M@3`: the model used for all entities. */
  readonly model?: string;
  /** SHA-256 of the schema used for the check, if that schema is not stored. */
  readonly candidate?: string;
  /** Maximum number of entities to check. */
  readonly sample?: number;
  readonly checked: number;
  readonly valid: number;
  readonly invalid: number;
  readonly notJudged: number;
  readonly models: readonly ScannedModel[];
  readonly unmodelled: readonly Unmodelled[];
  /** Most frequent findings first. */
  readonly findings: readonly ScanFinding[];
  /** The last successful scan with the same settings. */
  readonly previous?: { readonly id: string; readonly invalid: number; readonly endedAt: string };
}

/** The record of any job. All jobs go through the same life cycle, whatever they do. */
export type JobRecord = PurgeRecord | ScanRecord;

/** The kinds of jobs. Each kind is a separate API resource, with its own places and its own history. */
export type JobKindName = 'purge' | 'scan';

/**
 * Returns the kind as stored. Restores are purges, but have their own kind in the database, which finds those that have
 * not ended.
 */
export function storedKindOf(record: Pick<JobRecord, 'target'>): JobKindName | 'restore' {
  return record.target === 'restore' ? 'restore' : kindOf(record);
}

/** Returns the kind of job. @param target of the record */
export function kindOf({ target }: Pick<JobRecord, 'target'>): JobKindName {
  return target === 'scan' ? 'scan' : 'purge';
}

/** What is needed to continue a job after a restart, besides its record. */
export interface JobResumeData {
  /** Headers sent to the broker with each request, except for secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that are secrets, in encrypted form. */
  readonly sealedHeaders?: string;
  /** The schema that a scan uses, if it is not a stored one. */
  readonly candidate?: string;
  /** If there are more matches than this, the purge only reports them and deletes nothing. */
  readonly reportAbove?: number | undefined;
  /** If the job has a maximum, how many items it may have deleted: written before each request that deletes. */
  readonly spent?: number;
  /** A process that crashed may have sent deletes that are not included in any count. */
  readonly mayHaveBegun?: true;
  /** How many processes in a row crashed while they ran the job, and how much was settled at the last of these crashes. */
  readonly crashes?: { readonly count: number; readonly settled: number };
  /** The dry run stores what it finds as a plan. */
  readonly makesPlan?: true | undefined;
  /** In a restore: which entities to restore (all by default), and its position, in the engine's own format. */
  readonly restore?: { readonly ids?: readonly string[]; readonly position?: unknown };
}

/** A job that has not ended. If `job` is undefined, it is a purge whose caller waits for the answer. */
export interface UnfinishedJob {
  readonly record: JobRecord;
  readonly job: JobResumeData | undefined;
}

export interface JobFilter {
  /** Jobs of this kind; of all kinds if not given. */
  readonly kind?: JobKindName | undefined;
  readonly state?: JobState | undefined;
  readonly tenant?: string | undefined;
  /** Only jobs of these tenants. */
  readonly tenants?: ReadonlySet<string> | undefined;
  readonly caller?: string | undefined;
  /** True: only dry runs; false: no dry runs. */
  readonly dryRun?: boolean | undefined;
  readonly retentionPolicy?: string | undefined;
  /** Milliseconds: created at this time or later. */
  readonly since?: number | undefined;
  /** Milliseconds: created before this time. */
  readonly until?: number | undefined;
  /** Part of the query in readable form; case does not matter. */
  readonly text?: string | undefined;
  /** An entity type named in the query. */
  readonly type?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A change requested while a job waits or runs. */
export interface ControlRequest extends Partial<Pick<PurgeRecord, 'maxPerSecond' | 'concurrency'>> {
  readonly cancel?: true;
}

/** A process that runs jobs. Until its lease expires, no other process takes them over; the lease can be renewed. */
export interface JobHolder {
  /** A name that is unique to the process. */
  readonly holder: string;
  readonly leaseMs: number;
}

export interface TakeOptions extends JobHolder {
  /** Whether the process has a free place for a job that deletes. */
  readonly takesJobs: boolean;
  /** Whether it has a free place for a dry run. */
  readonly takesDryRuns: boolean;
  /** Whether it has a free place for a scan. */
  readonly takesScans: boolean;
  /** Whether to also take purges whose holder let its lease expire. */
  readonly takesLapsed: boolean;
  /** The broker of the process. Jobs for other brokers are left to processes of those brokers. */
  readonly broker?: string | undefined;
}

/** A purge that a process holds. */
export interface HeldJob {
  readonly id: string;
  /** A number that grows each time a job is taken: writes by an earlier holder are refused. 0 without a job. */
  readonly lease: number;
  readonly request: ControlRequest | undefined;
}

export type TakenJob = UnfinishedJob & Omit<HeldJob, 'id'>;

/** A job that no process runs, in the state in which the last one left it. */
export interface OrphanedJob {
  readonly record: JobRecord;
  readonly job: JobResumeData;
  /** The broker that the job is meant for. */
  readonly broker: string;
  readonly request: ControlRequest | undefined;
}

/** Which jobs of other brokers to put back into the queue. */
export interface RequeueOptions {
  /** The broker of the process that puts the jobs back. */
  readonly broker: string;
  /** Whether to include jobs whose holder let its lease expire. */
  readonly takesLapsed: boolean;
  /** Whether to include jobs that already wait. */
  readonly takesWaiting: boolean;
}

/** Reports a change, possibly made by another process: a job waits, a change is requested of a job, or its record changed. */
export interface JobNotice {
  readonly what: 'waiting' | 'request' | 'record';
  readonly id: string;
}

/** What entitles a process to write a record. */
export interface JobClaim {
  readonly lease: number;
  /** The process that holds a purge not yet in the store. */
  readonly by?: JobHolder;
}

/** The outcome of a request: granted by the store itself, passed on to the holder, or too late. */
export interface ControlResult {
  readonly record: JobRecord;
  readonly outcome: 'done' | 'asked' | 'over';
}
