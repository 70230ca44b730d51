import { linkHeader } from '../client/purges.js';
import type { OptionValues } from '../shared/purge-options.js';
import type { PurgeView } from './purge-view.js';

/** What to purge, in the terms of the command line. */
export interface PurgeRequest {
  readonly target: 'entities' | 'temporal';
  /** A query string without the options that have flags. */
  readonly query: string;
  readonly tenant: string | undefined;
  /** URL of the @context. */
  readonly link: string | undefined;
  /** Those that have flags, but for dryRun. */
  readonly options: OptionValues<'body'>;
}

/** What a purge would delete. */
export interface PurgePreview {
  readonly matched: number;
  readonly sample: readonly string[];
  readonly unit?: PurgeView['unit'];
  /** There are more than could be counted without deleting. */
  readonly atLeast?: boolean;
  /** Why nothing may have matched. */
  readonly hints?: readonly string[];
}

/** Where purges are done: by a gateway, or here. */
export interface PurgePlace {
  /** @throws CliError */
  preview(request: PurgeRequest, signal: AbortSignal): Promise<PurgePreview>;
  /**
   * Starts a purge. What it yields last has a final state; when the signal aborts it stops cleanly, and says what was done.
   *
   * @throws CliError when it could not be started, or its end is not reported
   */
  run(request: PurgeRequest, signal: AbortSignal): AsyncIterable<PurgeView>;
  /** Starts a purge and does not wait for it. @throws CliError where that is not possible */
  detach(request: PurgeRequest): Promise<PurgeView>;
  close(): Promise<void>;
}

/** The headers that a purge sends to the broker. */
export function headersOf({ tenant, link }: Pick<PurgeRequest, 'tenant' | 'link'>): Record<string, string> {
  return {
    ...(tenant === undefined ? {} : { 'ngsild-tenant': tenant }),
    ...(link === undefined ? {} : { link: linkHeader(link) }),
  };
}
