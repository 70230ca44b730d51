import { termMeanings } from '../json-ld/term-meanings.js';
import { type ChangeReport, reportOf } from '../json-schema/differences.js';
import { reportChanges } from '../json-schema/schema-work.js';
import { isTooMuch } from './model-documents.js';
import type { ServiceWorkers } from './schema-intake.js';

/** What two versions of a model are compared by. */
export interface ComparedVersion {
  /** Text of the schema, self-contained. */
  readonly bundled: string;
  /** Text of the context, as it is served. */
  readonly context: string;
}

export const UNCHANGED: ChangeReport = { overall: 'compatible', differences: [] };

/**
 * What changes between two versions of a model, with witnesses where looking for them does not take too much. If the comparison takes too much time or depth, the change counts as
 * narrowing. It is a task of its own: its deadline must not refuse the schema.
 *
 * @throws WorkersBusyError, TaskFailedError
 */
export async function changesBetween(
  before: ComparedVersion,
  after: ComparedVersion,
  entityType: string,
  workers: ServiceWorkers,
): Promise<ChangeReport> {
  if (before.bundled === after.bundled && before.context === after.context) return UNCHANGED;
  const input = {
    before: before.bundled,
    after: after.bundled,
    terms: { before: termsOf(before), after: termsOf(after) },
    entityType,
  };
  const detail = 'the schemas are too complex to compare';
  return (
    (await unlessTooMuch(() => reportChanges({ ...input, withWitnesses: true }, workers))) ??
    (await unlessTooMuch(() => reportChanges(input, workers))) ??
    reportOf([{ pointer: '', class: 'narrowing', reason: 'unproven', detail }])
  );
}

async function unlessTooMuch<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isTooMuch(error)) return undefined;
    throw error;
  }
}

function termsOf({ context }: ComparedVersion): ReturnType<typeof termMeanings> {
  return termMeanings(JSON.parse(context));
}
