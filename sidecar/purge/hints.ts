import type { PurgeScope } from './context.js';
import { BrokerFailedError, BrokerRefusedError, BrokerReplyError } from './errors.js';
import type { PurgeReport } from './events.js';
import type { HintPlan, HintQuestion } from './hint-plan.js';
import type { ListedResource } from './listing/listed-resource.js';
import { createLister } from './listing/listing.js';
import type { Parameter } from './query/parameters.js';

/** Where hints are looked for. */
export interface HintSource {
  readonly resource: ListedResource;
  /** What is added to each question, one query for each; the broker shows something when one of them does. */
  readonly views: readonly (readonly Parameter[])[];
  /** Questions asked at most. */
  readonly questionsMax: number;
}

/**
 * Adds to the report of a dry run that matched nothing why that may be, by a few more queries.
 *
 * @throws PurgeStoppedError
 */
export async function withHints(
  scope: PurgeScope,
  report: PurgeReport,
  plan: () => HintPlan,
  source: HintSource,
): Promise<PurgeReport> {
  if (!report.dryRun || report.matched > 0) return report;
  const { hints, types: allTypes, attributes: allAttributes } = plan();
  const types = allTypes.slice(0, source.questionsMax);
  const missing = await unanswered(scope, types, source);
  if (missing.length === 0) {
    const attributes = allAttributes.slice(0, source.questionsMax - types.length);
    missing.push(...(await unanswered(scope, attributes, source)));
  }
  return { ...report, hints: [...hints, ...missing], requests: scope.requester.requests };
}

async function unanswered(
  scope: PurgeScope,
  questions: readonly HintQuestion[],
  { resource, views }: HintSource,
): Promise<string[]> {
  const hints: string[] = [];
  for (const { selection, hint } of questions) {
    let showsNothing = true;
    for (const view of views) {
      showsNothing = await isSurelyEmpty(scope, resource, [...selection, ...view]);
      if (!showsNothing) break;
    }
    if (showsNothing) hints.push(hint);
  }
  return hints;
}

/** Whether a query shows nothing beyond doubt; a hint is not worth an error. */
async function isSurelyEmpty(
  { requester, capabilities, limits, clock }: PurgeScope,
  resource: ListedResource,
  selection: readonly Parameter[],
): Promise<boolean> {
  const { pageSize } = limits;
  const lister = createLister({ requester, capabilities, pageSize, pageSizeMax: pageSize, resource, clock });
  try {
    const { ids, count = 0, hasNext, warning } = await lister.page({ selection, limit: 1, count: true });
    return ids.length === 0 && count === 0 && !hasNext && warning === undefined;
  } catch (error) {
    const isOfBroker =
      error instanceof BrokerRefusedError ||
      error instanceof BrokerFailedError ||
      error instanceof BrokerReplyError;
    if (!isOfBroker) throw error;
    return false;
  }
}
