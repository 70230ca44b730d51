import {
  type RequestedRate,
  type PurgeLimits,
  PolicyRefusedError,
  QueryRefusedError,
  type PurgeReport,
  contextOfRequest,
  type PurgeDependencies,
  type PurgeOrder,
  parseEntityPurgeQuery,
  type EntityPurgeQuery,
  type PurgeParameters,
  type PurgeQuery,
  type WholeTenant,
  parseTemporalPurgeQuery,
  type TemporalPurgeQuery,
} from '../purge/index.js';
import { type ArchiveMode, stricterArchive } from '../shared/purge-options.js';
import type { PurgeRecord } from '../store/index.js';

/**
 * The policy of the gateway in front, e.g. of a Kong consumer: what a purge may do, however it is started. Every member
 * is optional, and can only narrow what the configuration allows.
 */
export interface PurgePolicy {
  readonly maxAffected?: number;
  readonly pageSize?: number;
  readonly batchSize?: number;
  readonly concurrency?: number;
  readonly temporalConcurrency?: number;
  readonly dryRunOnly?: boolean;
  readonly allowTemporal?: boolean;
  /** The minimum a purge must archive. */
  readonly archive?: ArchiveMode;
}

/**
 * Combines two policies so that both apply: that of a plan or a retention policy, and that of the caller who applies or
 * runs it.
 */
export function narrower(one: PurgePolicy, other: PurgePolicy): PurgePolicy {
  const merged: Record<string, number | boolean | string> = { ...one };
  for (const [name, value] of Object.entries(other) as [string, number | boolean | ArchiveMode][]) {
    const before = merged[name];
    if (before === undefined) merged[name] = value;
    else if (typeof value === 'number' && typeof before === 'number') merged[name] = Math.min(before, value);
    else if (typeof value === 'string') merged[name] = stricterArchive(before as ArchiveMode, value);
    // allowTemporal allows, dryRunOnly forbids.
    else
      merged[name] =
        name === 'allowTemporal' ? before === true && value === true : before === true || value === true;
  }
  return merged;
}

/** The purges of one collection that this gateway can run. */
export interface PurgeKind<Query extends PurgeQuery = EntityPurgeQuery> {
  readonly dependencies: PurgeDependencies;
  /** What the configuration allows. Callers and policies can only narrow it. */
  readonly limits: PurgeLimits;
  /** How to treat a purge that may empty its tenant. */
  readonly wholeTenant: WholeTenant;
  readonly archiving: {
    /** The minimum that every purge archives. */
    readonly least: ArchiveMode;
    /** Whether archives can be stored. */
    readonly isPossible: boolean;
  };
  readonly run: (
    order: PurgeOrder<Query>,
    dependencies: PurgeDependencies,
    signal: AbortSignal,
  ) => Promise<PurgeReport>;
}

/** The purges that this gateway can run, by collection. */
export interface PurgeKinds {
  readonly entities: PurgeKind;
  readonly temporal: PurgeKind<TemporalPurgeQuery> & {
    /** Whether whole temporal entities may be deleted; some brokers delete the current entity with them. */
    readonly allowsWhole: boolean;
  };
}

/** A purge that was checked and may be run. */
export interface PreparedPurge {
  readonly query: PurgeQuery;
  readonly unit: NonNullable<PurgeReport['unit']>;
  /** The strictest limits of configuration, policy and caller. */
  readonly limits: PurgeLimits;
  /** How much of what it deletes is archived; `none` for a dry run. */
  readonly archive: ArchiveMode;
  /**
   * @param order its limits are these limits, or what is left of them; with `reportsOnly`, the purge counts its matches
   * and deletes nothing, as in a dry run
   */
  run(
    order: Omit<PurgeOrder, 'query' | 'headers'> & { readonly reportsOnly?: boolean },
    signal: AbortSignal,
  ): Promise<PurgeReport>;
}

/** A request for a job: the caller, the headers, and what the gateway in front allows. */
export interface NewJob {
  /** Sent to the broker with each request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly policy: PurgePolicy;
  /** The caller's name for the record. The address is in `client`. */
  readonly caller: string;
  readonly client?: Pick<PurgeRecord, 'clientAddress' | 'userAgent'> | undefined;
  readonly requestId: string;
}

/** A purge as requested by its caller. */
export interface NewPurge extends NewJob {
  readonly target: keyof PurgeKinds;
  /** The query string, or its parameters, including options such as dryRun. */
  readonly query: string | PurgeParameters;
  /** The retention policy of which the purge is a run. */
  readonly retentionPolicy?: string | undefined;
  /** If there are more matches than this, the purge deletes nothing and only reports them. */
  readonly reportAbove?: number | undefined;
  /** Set for a dry run that keeps its matches as a plan. */
  readonly makesPlan?: true | undefined;
  /** The dry run whose plan is applied. */
  readonly planOf?: string | undefined;
}

export type VettedMembers = Pick<NewPurge, 'target' | 'query' | 'policy' | 'headers'>;

/** Checks a purge against its policy and the configuration. @throws QueryRefusedError, PolicyRefusedError */
export function preparePurge(kinds: PurgeKinds, asked: VettedMembers): PreparedPurge {
  contextOfRequest(asked.headers['link']);
  const { concurrency, temporalConcurrency } = asked.policy;
  if (asked.target === 'entities') {
    const query = parseEntityPurgeQuery(asked.query, kinds.entities.wholeTenant);
    const unit = query.removal === undefined ? 'entities' : 'attributes';
    return vetted(kinds.entities, asked, { query, unit }, concurrency);
  }
  const query = temporalQueryOf(kinds.temporal, asked);
  return vetted(kinds.temporal, asked, { query, unit: query.target.kind }, temporalConcurrency);
}

function temporalQueryOf(
  { wholeTenant, allowsWhole }: PurgeKinds['temporal'],
  { query: given, policy }: VettedMembers,
): TemporalPurgeQuery {
  const query = parseTemporalPurgeQuery(given, wholeTenant);
  if (policy.allowTemporal === false)
    throw new PolicyRefusedError('The policy of this gateway does not allow temporal purges.');
  if (query.target.kind === 'entities' && !query.dryRun && !allowsWhole) {
    throw new PolicyRefusedError(
      'This gateway does not delete whole temporal entities ' +
        '(TEMPORAL_WHOLE_DELETE=refuse), because the broker may delete the current ' +
        'entities with them: name attributes with attrs, or add a time filter.',
    );
  }
  return query;
}

function vetted<Query extends PurgeQuery>(
  kind: PurgeKind<Query>,
  { policy, headers }: VettedMembers,
  { query, unit }: Pick<PreparedPurge, 'unit'> & { readonly query: Query },
  concurrency: number | undefined,
): PreparedPurge {
  const { limits } = kind;
  if (policy.dryRunOnly === true && !query.dryRun)
    throw new PolicyRefusedError('The policy of this gateway allows dry runs only: add dryRun=true.');
  checkRate(limits, query);
  if (query.record === 'ids' && limits.strategy === 'native') {
    throw new QueryRefusedError(
      'invalidRequest',
      'PURGE_STRATEGY=native leaves the deletes to the broker, which does not say what it deleted: leave record out.',
      'record',
    );
  }
  const archive = archiveModeOf(kind, { query, unit }, policy.archive);
  const maxAffected = least(limits.maxAffected, least(policy.maxAffected, query.maxAffected));
  return {
    query,
    unit,
    limits: {
      ...limitsUnder(policy, limits, concurrency),
      maxAffected: maxAffected === Infinity ? undefined : maxAffected,
    },
    archive: query.dryRun ? 'none' : archive,
    run({ reportsOnly = false, ...order }, signal) {
      const asked = { ...query, dryRun: query.dryRun || reportsOnly };
      return kind.run({ query: asked, headers, ...order }, kind.dependencies, signal);
    },
  };
}

/**
 * Returns the limits of a job: the smaller value of limits and policy.
 *
 * @param concurrency the policy's value for this kind of job
 */
export function limitsUnder(
  policy: PurgePolicy,
  limits: PurgeLimits,
  concurrency: number | undefined,
): PurgeLimits {
  return {
    ...limits,
    pageSize: least(limits.pageSize, policy.pageSize),
    pageSizeMax: least(limits.pageSizeMax, policy.pageSize),
    batchSize: least(limits.batchSize, policy.batchSize),
    concurrency: least(limits.concurrency, concurrency),
  };
}

function least(one = Infinity, other = Infinity): number {
  return Math.min(one, other);
}

/**
 * Decides how much a purge archives: what it requests, but never less than the configuration and the policy require.
 *
 * @throws QueryRefusedError if the purge requests an archive that cannot be made, PolicyRefusedError if the
 * configuration or the policy requires one
 */
function archiveModeOf(
  { archiving, limits }: Pick<PurgeKind, 'archiving' | 'limits'>,
  { query, unit }: Pick<PreparedPurge, 'query' | 'unit'>,
  ofPolicy: ArchiveMode = 'none',
): ArchiveMode {
  const demanded = stricterArchive(archiving.least, ofPolicy);
  const mode = stricterArchive(query.archive ?? 'none', demanded);
  // A dry run deletes nothing, so only an archive that it requests itself has to be possible.
  if (mode === 'none' || (query.dryRun && mode === demanded)) return mode;
  const why = archiving.isPossible
    ? 'PURGE_STRATEGY=native leaves the deletes to the broker, which does not show what it deletes'
    : 'This gateway keeps no archives (ARCHIVE_URL is not set)';
  if (archiving.isPossible && (query.dryRun || !isLeftToBroker({ limits, unit }))) return mode;
  if (mode !== demanded)
    throw new QueryRefusedError('invalidRequest', `${why}: leave archive out.`, 'archive');
  throw new PolicyRefusedError(
    `${why}, but every purge has to archive (archive=${mode}). Nothing was deleted.`,
  );
}

/** Whether the broker itself chooses what a purge deletes. */
export function isLeftToBroker({ limits, unit }: Pick<PreparedPurge, 'limits' | 'unit'>): boolean {
  return limits.strategy === 'native' && unit === 'entities';
}

/** @throws QueryRefusedError for a rate if the broker carries out the purge itself */
export function checkRate({ strategy }: PurgeLimits, { maxPerSecond }: RequestedRate): void {
  if (typeof maxPerSecond !== 'number' || strategy !== 'native') return;
  throw new QueryRefusedError(
    'invalidRequest',
    'PURGE_STRATEGY=native leaves the deletes to the broker, so their rate cannot be limited: leave maxPerSecond out.',
    'maxPerSecond',
  );
}
