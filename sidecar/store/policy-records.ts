import type { OptionValues } from '../shared/purge-options.js';
import type { Stamps } from './records.js';

/** The settings of a retention policy, as its user wrote them: what to purge regularly. */
export interface RetentionSettings extends OptionValues<'retention'> {
  readonly target: 'entities' | 'temporal';
  /** A query string; the condition for the cutoff is added to it. */
  readonly query: string;
  readonly tenant?: string | undefined;
  /** A Link header that names the @context. */
  readonly link?: string | undefined;
  /** An ISO 8601 duration, such as P90D. */
  readonly olderThan: string;
  /** The time property by which the age is measured: see purge/query/older-than.ts. */
  readonly by: string;
  /** A cron pattern with five fields. */
  readonly schedule: string;
  /** A time zone of the IANA database, used for the schedule and the cutoff. */
  readonly timeZone: string;
  /** A run with more matches than this multiple of the median of the last runs becomes a report; 0 turns this off. */
  readonly maxGrowth: number;
  readonly mode: 'report' | 'enforce';
  readonly enabled: boolean;
  readonly description?: string | undefined;
}

/** Who wrote a retention policy, and what the gateway in front allowed that caller. */
export interface RetentionAuthor {
  readonly caller: string;
  /** With the names of X-Purge-Policy. */
  readonly policy: Readonly<Record<string, number | boolean | string>>;
}

export interface NewRetentionPolicy {
  readonly name: string;
  readonly settings: RetentionSettings;
  readonly author: RetentionAuthor;
}

export interface RetentionPolicy extends NewRetentionPolicy, Stamps {
  /** The schedule was processed up to this time, in milliseconds: runs due by then were started or skipped. */
  readonly doneUntil: number;
}

/** A write policy as its user wrote it: which writes are checked, and what happens to invalid ones. */
export interface WritePolicySettings {
  /** The matching policy with the highest priority applies. */
  readonly priority: number;
  /** What the policy applies to; no restriction where a member is missing. The tenant `""` is the default tenant. */
  readonly tenant?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly callers?: readonly string[] | undefined;
  readonly mode: 'off' | 'report' | 'enforce';
  /** `D/M` or `D/M@3`; if not given, the models of the entities' types. */
  readonly model?: string | undefined;
  readonly onUnjudged: 'accept' | 'refuse';
  readonly onFailure: 'accept' | 'refuse';
  /** Whether to send the valid entities of a batch if other entities in it are invalid. */
  readonly batch: 'valid-only' | 'all';
  readonly description?: string | undefined;
}

export interface NewWritePolicy {
  readonly name: string;
  readonly settings: WritePolicySettings;
  readonly caller: string;
}

export interface WritePolicy extends NewWritePolicy, Stamps {}
