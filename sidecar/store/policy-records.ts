import type { OptionValues } from '../shared/purge-options.js';

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

/** A write policy as its user wrote it: which writes are checked, and what happens to invalid ones. */
export interface WritePolicySettings {
  /** The policy with the highest decides. */
  readonly priority: number;
  /** What it is for; everything where these are left out. The tenant `""` is the default one. */
  readonly tenant?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly callers?: readonly string[] | undefined;
  readonly mode: 'off' | 'report' | 'enforce';
  /** `D/M` or `D/M@3`; the models of the entities' types where it is left out. */
  readonly model?: string | undefined;
  readonly onUnjudged: 'accept' | 'refuse';
  readonly onFailure: 'accept' | 'refuse';
  /** Whether the valid entities of a batch are sent where others are not. */
  readonly batch: 'valid-only' | 'all';
  readonly description?: string | undefined;
}

export interface NewWritePolicy {
  readonly name: string;
  readonly settings: WritePolicySettings;
  readonly caller: string;
}

export interface WritePolicy extends NewWritePolicy {
  /** Times are in milliseconds. */
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly etag: string;
}
