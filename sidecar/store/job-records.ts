import type { Problem } from '../ngsi-ld/problem.js';

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
export type JobState =
  | 'queued'
  | 'running'
  | 'cancelling'
  | 'succeeded'
  | 'partial'
  | 'failed'
  | 'cancelled'
  | 'refused'
  | 'interrupted';

/** The states of a job that has ended. */
export type FinalJobState = Exclude<JobState, 'queued' | 'running' | 'cancelling'>;

/** Whether a job in this state has ended. */
export function isFinal(state: JobState): state is FinalJobState {
  return state !== 'queued' && state !== 'running' && state !== 'cancelling';
}

/** What is kept of every job: who asked for what, when, and how it went. Times are ISO 8601, in UTC. */
interface JobMembers {
  readonly id: string;
  readonly state: JobState;
  /** The query string, as it was sent. */
  readonly query: string;
  readonly tenant?: string;
  /** The Link header, which names the @context. */
  readonly link?: string;
  /** Where the headers of FIWARE said that the entities are. */
  readonly fiware?: { readonly service?: string; readonly servicePath?: string };
  readonly caller: string;
  /** Where the request came from, and the program that sent it, where that is kept. */
  readonly clientAddress?: string;
  readonly userAgent?: string;
  readonly requestId: string;
  /** The trace that it belongs to (W3C Trace Context). */
  readonly traceparent?: string;
  /** The gateway process that works on it, or did last. */
  readonly worker: string;
  /** The policy of the gateway in front under which it was started, by the names of X-Purge-Policy. */
  readonly policy: Readonly<Record<string, number | boolean | string>>;
  /** The broker that a queued job waits for, where BROKER_URL names another one; without credentials. */
  readonly waitsFor?: string;
  /** Items per second; null for no limit. */
  readonly maxPerSecond: number | null;
  readonly matched: number;
  /** Requests to the broker, and how many of them were sent again. */
  readonly requests: number;
  readonly retries: number;
  /** What `matched` will be, where the broker has counted the matches; while it runs. */
  readonly expected?: number;
  /** Items settled in a second, as of lately; while it runs. */
  readonly ratePerSecond?: number;
  /** When it will be done at that rate, where the broker has counted the matches; while it runs. */
  readonly estimatedEndAt?: string;
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** Why it did not end well. */
  readonly problem?: Problem;
  readonly warnings: readonly string[];
}

/** What is kept of a purge, and what came of it. */
export interface PurgeRecord extends JobMembers {
  /** `restore`: it undoes another purge. */
  readonly target: 'entities' | 'temporal' | 'restore';
  /** What the counts are in. */
  readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
  readonly dryRun: boolean;
  /** The retention policy that it is a run of. */
  readonly retentionPolicy?: string;
  /** A run that matched more than its policy allows, and so became a dry run. */
  readonly heldBack?: true;
  readonly concurrency: number;
  readonly deleted: number;
  readonly alreadyGone: number;
  readonly failed: number;
  readonly unknown: number;
  /** Matches that turned up while it ran, and were left. */
  readonly arrived: number;
  /** Items that could not be deleted, at most 100. */
  readonly errors: readonly unknown[];
  /** Of a dry run: ids of some matches. */
  readonly sample?: readonly string[];
  /** What was archived of what it deleted. */
  readonly archive?: ArchiveSummary | undefined;
  /** Of a dry run that kept what it found, for a purge of exactly that. */
  readonly plan?: { readonly items: number; readonly expiresAt: string };
  /** The dry run whose plan it applies. */
  readonly planOf?: string | undefined;
  /** Of a restore: the purge that it undoes. */
  readonly restoreOf?: string;
  /** Of a restore: created again; in a dry run, those that would be. */
  readonly restored?: number;
  /** Of a restore: there before, and left. */
  readonly alreadyThere?: number;
  /** Of a dry run of a restore: those of them that say something else than the archive. */
  readonly different?: number;
}

/** The archive of a purge. */
export interface ArchiveSummary {
  /** Each counted once. */
  readonly entities: number;
  /** As stored. */
  readonly bytes: number;
  /** Objects that it has at least. */
  readonly segments?: number;
  /** SHA-256 of the list of them, in hex; where it was written. */
  readonly listDigest?: string;
  readonly expiresAt: string;
  /** When it was erased by request. */
  readonly erasedAt?: string;
}

/** How the entities of one model fared in a scan. */
export interface ScannedModel {
  readonly domain: string;
  readonly model: string;
  readonly version: number;
  readonly checked: number;
  readonly valid: number;
  readonly invalid: number;
}

/** What is wrong with some entities of a scan, all in the same way. */
export interface ScanFinding {
  readonly domain: string;
  readonly model: string;
  /** Of the place in the entity; positions in arrays are `*`. */
  readonly pointer: string;
  readonly keyword: string;
  /** A sentence about that place, as the first entity had it. */
  readonly detail: string;
  /** How many entities have it. */
  readonly entities: number;
  /** Ids of some of them. */
  readonly sample: readonly string[];
}

/** Entities that no model is for. */
interface Unmodelled {
  readonly type: string;
  readonly entities: number;
  readonly sample: readonly string[];
}

/** What is kept of a scan, and what it found. */
export interface ScanRecord extends JobMembers {
  readonly target: 'scan';
  /** Where models are looked for. */
  readonly domain?: string;
  /** `D/M` or `D/M@3`: the model of all entities. */
  readonly model?: string;
  /** SHA-256 of the schema by which the entities are judged, where it is stored nowhere. */
  readonly candidate?: string;
  /** The most entities that are judged. */
  readonly sample?: number;
  readonly checked: number;
  readonly valid: number;
  readonly invalid: number;
  readonly notJudged: number;
  readonly models: readonly ScannedModel[];
  readonly unmodelled: readonly Unmodelled[];
  /** The most frequent first. */
  readonly findings: readonly ScanFinding[];
  /** The last scan of the same that succeeded. */
  readonly previous?: { readonly id: string; readonly invalid: number; readonly endedAt: string };
}

/** Every job has a record: what happens to all of them is the same, whatever they do. */
export type JobRecord = PurgeRecord | ScanRecord;

/** The kinds of jobs. Each is a resource of its own, with places and a history of its own. */
export type JobKindName = 'purge' | 'scan';

/**
 * The kind as it is stored. Restores are purges, and have a kind of their own in the database: a gateway of the version before
 * would run one as a purge.
 */
export function storedKindOf(record: Pick<JobRecord, 'target'>): JobKindName | 'restore' {
  return record.target === 'restore' ? 'restore' : kindOf(record);
}

/** @param target of a record */
export function kindOf({ target }: Pick<JobRecord, 'target'>): JobKindName {
  return target === 'scan' ? 'scan' : 'purge';
}

/** What a job needs to go on after a restart, besides its record. */
export interface JobNeeds {
  /** Sent to the broker with each request, except for secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that are secrets, encrypted. */
  readonly sealedHeaders?: string;
  /** The schema by which a scan judges, where none that is stored. */
  readonly candidate?: string;
  /** With more matches than this, the purge only reports them, and deletes nothing. */
  readonly reportAbove?: number | undefined;
  /** What the job may have deleted, where it has a maximum: written before each request that deletes. */
  readonly spent?: number;
  /** A process that was lost may have sent deletes that are in no count. */
  readonly mayHaveBegun?: true;
  /** The dry run keeps what it finds. */
  readonly makesPlan?: true | undefined;
  /** Of a restore: which entities (all by default), and how far it is, as the engine says it. */
  readonly restore?: { readonly ids?: readonly string[]; readonly position?: unknown };
}

/** A job that has not come to its end. Without what it needs, it is a purge whose caller waits for the answer. */
export interface UnfinishedJob {
  readonly record: JobRecord;
  readonly job: JobNeeds | undefined;
}

export interface JobFilter {
  /** Jobs of one kind; of all kinds when it is not given. */
  readonly kind?: JobKindName | undefined;
  readonly state?: JobState | undefined;
  readonly tenant?: string | undefined;
  /** Only jobs of these tenants. */
  readonly tenants?: ReadonlySet<string> | undefined;
  readonly caller?: string | undefined;
  /** True: dry runs alone; false: none of them. */
  readonly dryRun?: boolean | undefined;
  readonly retentionPolicy?: string | undefined;
  /** Milliseconds: created at this time or later. */
  readonly since?: number | undefined;
  /** Milliseconds: created before this time. */
  readonly until?: number | undefined;
  /** A part of the query as people read it, in any case. */
  readonly text?: string | undefined;
  /** An entity type that the query names. */
  readonly type?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** What is requested of a job while it waits or runs. */
export interface ControlRequest extends Partial<Pick<PurgeRecord, 'maxPerSecond' | 'concurrency'>> {
  readonly cancel?: true;
}

/** A process that works on purges. No other process does until its lease ends, in milliseconds; it may be renewed. */
export interface JobHolder {
  /** A name that no other process ever has. */
  readonly holder: string;
  readonly leaseMs: number;
}

export interface TakeOptions extends JobHolder {
  /** Whether the process has a place for a job that deletes. */
  readonly takesJobs: boolean;
  /** Whether it has one for a job that is a dry run. */
  readonly takesDryRuns: boolean;
  /** Whether it has one for a scan. */
  readonly takesScans: boolean;
  /** Whether purges whose holder let its lease end are taken as well. */
  readonly takesLapsed: boolean;
  /** Jobs for another broker are left to processes of that broker. */
  readonly broker?: string | undefined;
}

/** A purge in the hands of a process. */
export interface HeldJob {
  readonly id: string;
  /** A number that grows each time a job is taken: what an earlier holder writes is refused. 0 without a job. */
  readonly lease: number;
  readonly request: ControlRequest | undefined;
}

export type TakenJob = UnfinishedJob & Omit<HeldJob, 'id'>;

/** A job on which no process works, as the last one left it. */
export interface OrphanedJob {
  readonly record: JobRecord;
  readonly job: JobNeeds;
  /** The broker for which it is meant. */
  readonly broker: string;
  readonly request: ControlRequest | undefined;
}

/** Which jobs of other brokers go back to the queue. */
export interface RequeueOptions {
  /** The broker of the process that puts them back. */
  readonly broker: string;
  /** Whether those do whose holder let its lease end. */
  readonly takesLapsed: boolean;
  /** Whether those that wait already are looked at as well. */
  readonly takesWaiting: boolean;
}

/** Something that has changed, perhaps by another process: a job waits, something is asked of a purge, or its record. */
export interface JobNotice {
  readonly what: 'waiting' | 'wish' | 'record';
  /** Of the purge. */
  readonly id: string;
}

/** By what right a record is written. */
export interface JobClaim {
  readonly lease: number;
  /** Who holds a purge that is new to the store. */
  readonly by?: JobHolder;
}

/** What became of a request: granted by the store itself, passed on to the holder, or too late. */
export interface ControlResult {
  readonly record: JobRecord;
  readonly outcome: 'done' | 'asked' | 'over';
}
