import type { Page, Paged } from './records.js';
import type { Expected, IfMatch } from './store.js';

/** Which writes are checked, and what becomes of those that are not valid, as its user wrote it. */
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

export interface WritePolicies {
  /** By name. */
  list(page: Page): Promise<Paged<WritePolicy>>;
  /** @throws NotFoundError */
  get(name: string): Promise<WritePolicy>;
  /**
   * Creates a policy, or replaces one.
   *
   * @throws PreconditionFailedError, UnstorableTextError
   */
  put(
    policy: NewWritePolicy,
    expected?: Expected,
  ): Promise<{ readonly policy: WritePolicy; readonly isNew: boolean }>;
  /** @throws NotFoundError, PreconditionFailedError */
  delete(name: string, ifMatch?: IfMatch): Promise<void>;
}
