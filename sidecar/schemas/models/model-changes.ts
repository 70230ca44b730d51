import { TaskTooCostlyError } from '../../shared/workers/errors.js';
import { runWithContexts } from '../json-ld/outcomes.js';
import { comparableTerms, withoutCore } from '../json-ld/term-meanings.js';
import { type ChangeReport, type Difference, reportOf } from '../json-schema/differences.js';
import { reportChanges } from '../json-schema/schema-work.js';
import type { CompareInput } from '../json-schema/tasks.js';
import type { ContextSupply } from './context-supply.js';
import { withBaseUrl } from './context-urls.js';
import { isTooMuch } from './model-documents.js';
import type { ServiceWorkers } from './schema-intake.js';

/** What two versions of a model are compared by. */
export interface ComparedVersion {
  /** Text of the schema, self-contained. */
  readonly bundled: string;
  /** Text of the context, as it is stored. */
  readonly context: string;
}

export interface CompareOptions {
  /** The model's name. */
  readonly entityType: string;
  /** Of this service, as the client reaches it. */
  readonly baseUrl: string;
  /** Texts of contexts of this service, by name, that count for the version before instead of the current ones. */
  readonly contextsBefore?: ReadonlyMap<string, string> | undefined;
  /** The same for the version after. */
  readonly contextsAfter?: ReadonlyMap<string, string> | undefined;
}

/** Two versions of a model, with what the terms of their contexts mean now. */
export interface ComparedVersions {
  readonly input: CompareInput;
  /** Why the terms are not known, where they had to be. */
  readonly unknown: string | undefined;
}

interface Parts {
  readonly workers: ServiceWorkers;
  readonly contextSupply: ContextSupply;
}

type Terms = NonNullable<CompareInput['terms']>['before'];

export const UNCHANGED: ChangeReport = { overall: 'compatible', differences: [] };

/**
 * Finds out what the terms of both contexts mean. A context of this service that one of them names by its URL counts as it is now,
 * unless the options say otherwise.
 *
 * @throws WorkersBusyError, TaskFailedError, StoreUnavailableError
 */
export async function comparedVersions(
  before: ComparedVersion,
  after: ComparedVersion,
  { entityType, baseUrl, contextsBefore, contextsAfter }: CompareOptions,
  parts: Parts,
): Promise<ComparedVersions> {
  const input = { before: before.bundled, after: after.bundled, entityType };
  const isSame = before.context === after.context;
  if (isSame && contextsBefore === undefined && contextsAfter === undefined)
    return { input, unknown: undefined };
  const [old, fresh] = await Promise.all([
    termsOf(before.context, { baseUrl, instead: contextsBefore }, parts),
    termsOf(after.context, { baseUrl, instead: contextsAfter }, parts),
  ]);
  // It could not be processed before either, so that nothing has changed.
  if (isSame && typeof old === 'string' && old === fresh) return { input, unknown: undefined };
  if (typeof old === 'object' && typeof fresh === 'object')
    return { input: { ...input, terms: { before: old, after: fresh } }, unknown: undefined };
  return { input, unknown: [old, fresh].find((one) => typeof one === 'string') };
}

/** The same the other way round. */
export function exchanged({ input, unknown }: ComparedVersions): ComparedVersions {
  const { before, after, terms } = input;
  const others = terms === undefined ? {} : { terms: { before: terms.after, after: terms.before } };
  return { input: { ...input, before: after, after: before, ...others }, unknown };
}

/**
 * What changes between two versions of a model, with witnesses where looking for them does not take too much. If the comparison
 * takes too much time or depth, the change counts as narrowing. It is a task of its own: its deadline must not refuse the schema.
 *
 * @throws WorkersBusyError, TaskFailedError
 */
export async function changesBetween(
  { input, unknown }: ComparedVersions,
  workers: ServiceWorkers,
): Promise<ChangeReport> {
  const { before, after, terms } = input;
  const report =
    before === after && terms === undefined
      ? UNCHANGED
      : ((await unlessTooMuch(() => reportChanges({ ...input, withWitnesses: true }, workers))) ??
        (await unlessTooMuch(() => reportChanges(input, workers))) ??
        reportOf([unproven('the schemas are too complex to compare')]));
  if (unknown === undefined) return report;
  return reportOf([unproven(`what the terms mean cannot be compared: ${unknown}`), ...report.differences]);
}

function unproven(detail: string): Difference {
  return { pointer: '', class: 'narrowing', reason: 'unproven', detail };
}

async function unlessTooMuch<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isTooMuch(error)) return undefined;
    throw error;
  }
}

/** What the terms of a context mean, or why that is not known. */
async function termsOf(
  context: string,
  {
    baseUrl,
    instead,
  }: { readonly baseUrl: string; readonly instead: ReadonlyMap<string, string> | undefined },
  { workers, contextSupply }: Parts,
): Promise<Terms | string> {
  const text = JSON.stringify(withoutCore(context));
  try {
    const outcome = await runWithContexts(
      (supplied) => workers.run('contextTerms', { text, supplied }),
      (url) => contextSupply.supply(url, baseUrl, { withoutDomains: true, instead }),
    );
    if ('terms' in outcome)
      return comparableTerms({ terms: new Map(outcome.terms), defaults: outcome.defaults });
    const reason = 'failed' in outcome ? outcome.failed : 'refused' in outcome ? outcome.refused.detail : '';
    return withBaseUrl(reason, baseUrl);
  } catch (error) {
    if (error instanceof TaskTooCostlyError) return `processing a context takes too much ${error.bound}`;
    throw error;
  }
}
