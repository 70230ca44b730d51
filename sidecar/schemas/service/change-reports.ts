import type { ChangeReport } from '../json-schema/change-report.js';
import { reportChanges } from '../json-schema/schema-work.js';
import { isTooMuch } from './model-examples.js';
import type { ServiceWorkers } from './schema-intake.js';

/**
 * What changes between two schemas. Where that takes too much time or depth to tell, documents that were valid may be
 * refused for all that is known.
 *
 * @param before text of the old schema, self-contained; `after` likewise
 * @throws WorkersBusyError, TaskFailedError
 */
export async function changesBetween(
  before: string,
  after: string,
  workers: ServiceWorkers,
): Promise<ChangeReport> {
  if (before === after) return { overall: 'compatible', differences: [] };
  try {
    return await reportChanges({ before, after }, workers);
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    const detail = 'the schemas are too intricate to tell what changes';
    return { overall: 'narrowing', differences: [{ pointer: '', kind: 'narrowing', detail }] };
  }
}
