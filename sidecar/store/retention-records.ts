import type { OptionValues } from '../shared/purge-options.js';
import type { Page, Paged } from './records.js';
import type { Expected, IfMatch } from './store.js';

/** What is purged regularly, as its user wrote it. */
export interface RetentionSettings extends OptionValues<'retention'> {
  readonly target: 'entities' | 'temporal';
  /** A query string; what is older than the cutoff is added to it. */
  readonly query: string;
  readonly tenant?: string | undefined;
  /** A Link header that names the @context. */
  readonly link?: string | undefined;
  /** A duration of ISO 8601, such as P90D. */
  readonly olderThan: string;
  /** The time by which the age is measured: see purge/query/older-than.ts. */
  readonly by: string;
  /** A cron pattern of five fields. */
  readonly schedule: string;
  /** A name of the IANA database; schedule and cutoff go by its calendar. */
  readonly timeZone: string;
  /** A run that matches more than so many times the median of the last ones becomes a report; 0 for no such guard. */
  readonly maxGrowth: number;
  readonly mode: 'report' | 'enforce';
  readonly enabled: boolean;
  readonly description?: string | undefined;
}

/** Who wrote a retention policy, and what the gateway in front allowed them. */
export interface RetentionAuthor {
  readonly caller: string;
  /** By the names of X-Purge-Policy. */
  readonly policy: Readonly<Record<string, number | boolean | string>>;
}

export interface RetentionPolicy {
  readonly name: string;
  readonly settings: RetentionSettings;
  readonly author: RetentionAuthor;
  /** Its schedule was looked at up to this time, in milliseconds: what was due until then has begun, or was left out. */
  readonly doneUntil: number;
  /** Times are in milliseconds. */
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly etag: string;
}

export interface NewRetentionPolicy {
  readonly name: string;
  readonly settings: RetentionSettings;
  readonly author: RetentionAuthor;
}

export interface RetentionPolicies {
  /** By name. */
  list(page: Page): Promise<Paged<RetentionPolicy>>;
  /** @throws NotFoundError */
  get(name: string): Promise<RetentionPolicy>;
  /**
   * Creates a policy, or replaces one. A new one, and one whose schedule changed or that was disabled before, has nothing due
   * from before now.
   *
   * @throws PreconditionFailedError, UnstorableTextError
   */
  put(
    policy: NewRetentionPolicy,
    expected?: Expected,
  ): Promise<{ readonly policy: RetentionPolicy; readonly isNew: boolean }>;
  /** @throws NotFoundError, PreconditionFailedError */
  delete(name: string, ifMatch?: IfMatch): Promise<void>;
  /** Those that are enabled, by name. */
  enabled(): Promise<readonly RetentionPolicy[]>;
  /**
   * Takes what is due of a policy, so that no other process does.
   *
   * @param from the `doneUntil` that was read
   * @param until the new one
   * @returns false when it is another one by now, or the policy is gone or disabled
   */
  claim(name: string, from: number, until: number): Promise<boolean>;
}
