import { randomUUID } from 'node:crypto';
import { type PurgeReport, queryText, type PurgeParameters, cutoffOf, olderThan } from '../../purge/index.js';
import {
  type Expected,
  type IfMatch,
  type Page,
  type Paged,
  PreconditionFailedError,
  type JobFilter,
  type PurgeRecord,
  type Jobs,
  type RetentionPolicies,
  type RetentionPolicy,
  type RetentionSettings,
} from '../../store/index.js';
import type { Clock } from '../../shared/clock.js';
import {
  narrower,
  preparePurge,
  type NewJob,
  type NewPurge,
  type PurgeKinds,
  type PurgePolicy,
} from '../purge-kinds.js';
import type { PurgeService } from '../purge-service.js';
import { refusedMember } from './schedule.js';
import { checkSettings } from './settings-check.js';
import { optionsIn, optionsOf } from '../../shared/purge-options.js';
import { defined } from '../../shared/defined.js';

export interface RetentionServiceOptions {
  readonly store: RetentionPolicies;
  readonly purges: Pick<PurgeService, 'submit' | 'run' | 'list'>;
  readonly history: Pick<Jobs, 'completedRuns' | 'lastRuns'>;
  readonly kinds: PurgeKinds;
  /** Gives the time of day. */
  readonly clock: Pick<Clock, 'now'>;
}

/** The part of a policy that its runs depend on. */
type PolicyToRun = Pick<RetentionPolicy, 'name' | 'settings'> & {
  readonly author: Pick<RetentionPolicy['author'], 'policy'>;
};

export interface ListedPolicy {
  readonly policy: RetentionPolicy;
  readonly lastRun: PurgeRecord | undefined;
}

/** What a policy would match now. */
export interface RetentionPreview {
  /** The id of the preview's record. */
  readonly id: string;
  readonly cutoff: string;
  readonly query: string;
  readonly report: PurgeReport;
  /** Set if an enforcing run would only report, because there are more matches than this. */
  readonly reportAbove: number | undefined;
}

/** Retention policies, which regularly delete data that is old enough. */
export class RetentionService {
  readonly #options: RetentionServiceOptions;

  constructor(options: RetentionServiceOptions) {
    this.#options = options;
  }

  async list(page: Page): Promise<Paged<ListedPolicy>> {
    const { store, history } = this.#options;
    const { items, total } = await store.list(page);
    const runs = await history.lastRuns(items.map(({ name }) => name));
    return { items: items.map((policy) => ({ policy, lastRun: runs.get(policy.name) })), total };
  }

  /** @throws NotFoundError */
  get(name: string): Promise<RetentionPolicy> {
    return this.#options.store.get(name);
  }

  /**
   * Creates or replaces a policy. All its runs are limited to what the gateway in front allows its author now.
   *
   * @throws QueryRefusedError, PolicyRefusedError if the policy could never run; PreconditionFailedError
   */
  async put(
    name: string,
    settings: RetentionSettings,
    { caller, policy }: Pick<NewJob, 'caller' | 'policy'>,
    expected?: Expected,
  ): Promise<{ readonly policy: RetentionPolicy; readonly isNew: boolean }> {
    this.#check(settings, policy);
    return this.#options.store.put({ name, settings, author: { caller, policy: { ...policy } } }, expected);
  }

  /** @throws SettingsRefusedError, PolicyRefusedError if the policy could never run */
  #check(settings: RetentionSettings, policy: PurgePolicy): void {
    const { kinds, clock } = this.#options;
    checkSettings(settings, clock.now(), () => {
      const { query } = retentionRun(settings, clock.now());
      const { target, link } = settings;
      return preparePurge(kinds, { target, policy, headers: defined({ link }), query });
    });
  }

  /** Deletes a policy; the records of its runs stay. @throws NotFoundError, PreconditionFailedError */
  delete(name: string, ifMatch?: IfMatch): Promise<void> {
    return this.#options.store.delete(name, ifMatch);
  }

  /**
   * Begins a run.
   *
   * @param ifMatch ETags, one of which the policy must have, so that the version that was reviewed is the one that runs
   * @throws NotFoundError, PreconditionFailedError, RunUnderWayError if the previous run has not ended, and what
   * PurgeService.submit throws
   */
  async run(name: string, by: NewJob, ifMatch?: IfMatch): Promise<PurgeRecord> {
    const policy = await this.get(name);
    if (ifMatch?.includes(policy.etag) === false)
      throw new PreconditionFailedError({ kind: 'retention policy', name }, policy.etag);
    return this.#begin(policy, by);
  }

  runScheduled(policy: RetentionPolicy): Promise<PurgeRecord> {
    const { caller } = policy.author;
    return this.#begin(policy, { caller, requestId: randomUUID(), policy: {}, headers: {} });
  }

  /** Returns the records of the runs of a policy, the newest first. @throws NotFoundError */
  async runs(name: string, page: Page & Pick<JobFilter, 'tenants'>): Promise<Paged<PurgeRecord>> {
    await this.get(name);
    return this.#options.purges.list({ ...page, retentionPolicy: name } satisfies JobFilter);
  }

  /**
   * Counts what a run would match now. This is a purge with a record, but not a run of the policy.
   *
   * @param gone aborts when the caller disconnects
   * @throws NotFoundError, PurgeFailedError
   */
  async preview(name: string, by: NewJob, gone: AbortSignal): Promise<RetentionPreview> {
    return this.#preview(await this.get(name), by, gone);
  }

  /**
   * Counts what a run would match with settings that are not saved.
   *
   * @param name the policy whose earlier runs set the usual number of matches, if there is one
   * @throws what `put` and `preview` throw
   */
  async previewSettings(
    name: string | undefined,
    settings: RetentionSettings,
    by: NewJob,
    gone: AbortSignal,
  ): Promise<RetentionPreview> {
    this.#check(settings, by.policy);
    return this.#preview({ name: name ?? '', settings, author: { policy: { ...by.policy } } }, by, gone);
  }

  async #preview(policy: PolicyToRun, by: NewJob, gone: AbortSignal): Promise<RetentionPreview> {
    const { purges, clock } = this.#options;
    const { cutoff, selection, query } = retentionRun(policy.settings, clock.now(), true);
    const { report, record } = await purges.run(purgeOf(policy, by, query), gone);
    const most = await this.#growthLimit(policy);
    const reportAbove = report.matched > (most ?? Infinity) ? most : undefined;
    return { id: record.id, cutoff, query: queryText(selection), report, reportAbove };
  }

  async #begin(policy: RetentionPolicy, by: NewJob): Promise<PurgeRecord> {
    const { name, settings } = policy;
    const { query } = retentionRun(settings, this.#options.clock.now());
    return this.#options.purges.submit({
      ...purgeOf(policy, by, query),
      retentionPolicy: name,
      reportAbove: settings.mode === 'report' ? undefined : await this.#growthLimit(policy),
    });
  }

  /**
   * Returns how many matches a run may have before it becomes a report; undefined if maxGrowth is 0 or there are no
   * earlier runs.
   */
  async #growthLimit({ name, settings: { maxGrowth } }: PolicyToRun): Promise<number | undefined> {
    if (maxGrowth === 0) return undefined;
    return growthLimit(maxGrowth, await this.#options.history.completedRuns(name, COMPARED_RUNS));
  }
}

function purgeOf({ settings, author }: PolicyToRun, by: NewJob, query: PurgeParameters): NewPurge {
  const { target, tenant, link } = settings;
  return {
    ...by,
    target,
    query,
    policy: narrower(author.policy, by.policy),
    headers: {
      ...by.headers,
      'x-request-id': by.requestId,
      ...defined({ 'ngsild-tenant': tenant, link }),
    },
  };
}

/** What a run of a policy deletes, or only reports. */
export interface RetentionRun {
  /** Data older than this is deleted: ISO 8601, in UTC. */
  readonly cutoff: string;
  /** The query without the options of the run. */
  readonly selection: PurgeParameters;
  readonly query: PurgeParameters;
}

/** Members of a policy that are also parameters of a purge; they are not allowed in the query. */
const MEMBERS = ['dryRun', ...optionsIn('retention')];

/** Maximum number of earlier runs that define the usual number of matches. */
const COMPARED_RUNS = 5;

/**
 * Returns the run that starts now.
 *
 * @param isReport whether nothing is deleted
 * @throws QueryRefusedError naming the wrong member or parameter
 */
export function retentionRun(
  settings: RetentionSettings,
  nowMs: number,
  isReport = settings.mode === 'report',
): RetentionRun {
  const { target, by, olderThan: age, timeZone } = settings;
  const cutoff = cutoffOf(nowMs, age, timeZone);
  const selection = olderThan(settings.query, { target, by }, cutoff);
  const member = MEMBERS.find((name) => selection.has(name));
  if (member !== undefined) {
    const advice = member === 'dryRun' ? 'set mode to report' : `set the member ${member}`;
    throw refusedMember('query', `${member} cannot be part of the query of a retention policy: ${advice}.`);
  }
  // A report counts all matches and deletes none, so the options for deleting do not apply.
  const options = isReport ? { dryRun: true } : optionsOf('retention', settings);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const query = new Map([...selection, ...given.map(([name, value]) => [name, String(value)] as const)]);
  if (isReport && query.get('record') === 'ids') query.delete('record');
  return { cutoff, selection, query };
}

/**
 * Returns how many matches a run may have before it becomes a report: `maxGrowth` times the median of the last runs.
 * Runs that were held back do not count: otherwise, after some of them, the guard would allow the growth although
 * nobody had reviewed it.
 *
 * @param runs completed runs of the policy; see Jobs.completedRuns
 * @returns undefined if there are no earlier runs
 */
export function growthLimit(
  maxGrowth: number,
  runs: readonly Pick<PurgeRecord, 'matched' | 'heldBack'>[],
): number | undefined {
  if (runs.length === 0) return undefined;
  const matches = runs
    .filter(({ heldBack }) => heldBack !== true)
    .map(({ matched }) => matched)
    .toSorted((one, other) => one - other);
  // All recent runs were held back and the usual number is no longer known, so the next runs are held back as well.
  if (matches.length === 0) return 0;
  const middle = matches.length / 2;
  const median = ((matches[Math.ceil(middle) - 1] ?? 0) + (matches[Math.floor(middle)] ?? 0)) / 2;
  return Math.floor(maxGrowth * median);
}
