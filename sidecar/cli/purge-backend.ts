import { linkHeader } from '../client/purges.js';
import { defined } from '../shared/defined.js';
import type { OptionValues } from '../shared/purge-options.js';
import type { PurgeView } from './purge-view.js';

/** What to purge, as given on the command line. */
export interface PurgeRequest {
  readonly target: 'entities' | 'temporal';
  /** A query string without the options that have flags. */
  readonly query: string;
  readonly tenant: string | undefined;
  /** URL of the @context. */
  readonly link: string | undefined;
  /** The options that have flags, except dryRun. */
  readonly options: OptionValues<'body'>;
  /** The plan to apply. If there is one, nothing else is sent. */
  readonly plan?: string | undefined;
}

export interface PurgePreview {
  readonly matched: number;
  readonly sample: readonly string[];
  readonly unit?: PurgeView['unit'];
  /** Whether there are more than could be counted without deleting. */
  readonly atLeast?: boolean;
  /** Possible reasons why nothing matched. */
  readonly hints?: readonly string[];
  /** Id of a plan that deletes exactly what was previewed. */
  readonly plan?: string;
}

/** Where purges run: on a gateway, or in this process. */
export interface PurgeBackend {
  preview(request: PurgeRequest, signal: AbortSignal): Promise<PurgePreview>;
  /** Previews a purge and makes a plan of it. Returns undefined if no plan is available, or nothing matches. */
  plan?(request: PurgeRequest, signal: AbortSignal): Promise<PurgePreview | undefined>;
  /**
   * Starts a purge. The last view has a final state; when the signal aborts, the purge stops cleanly and reports what was done.
   *
   * @throws CliError if it could not be started, or its end is not reported
   */
  run(request: PurgeRequest, signal: AbortSignal): AsyncIterable<PurgeView>;
  /** Starts a purge and does not wait for it. @throws CliError if that is not possible */
  detach(request: PurgeRequest): Promise<PurgeView>;
  close(): Promise<void>;
}

/** The headers that a purge sends to the broker. */
export function headersOf({ tenant, link }: Pick<PurgeRequest, 'tenant' | 'link'>) {
  return defined({ 'ngsild-tenant': tenant, link: link && linkHeader(link) });
}
