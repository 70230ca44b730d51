import type { ModelKey, ModelTexts } from '../store/records.js';
import type { SchemaStore } from '../store/store.js';
import { changesBetween, type ComparedVersion } from './model-changes.js';
import type { ModelDescriptions } from './model-documents.js';
import type { ServiceWorkers } from './schema-intake.js';
import type { ModelDiff } from './shapes.js';

interface Parts {
  readonly store: SchemaStore;
  readonly workers: ServiceWorkers;
  readonly descriptions: ModelDescriptions;
}

/** Places that are listed at most. */
const MAX_POINTERS = 1000;

/**
 * What has changed from one stored version of a model to another, in either order.
 *
 * @param to the current version when not given
 * @param from the one before `to` when not given, or the first
 * @throws NotFoundError, WorkersBusyError, TaskFailedError
 */
export async function diffOf(
  key: ModelKey,
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
  { store, workers, descriptions }: Parts,
): Promise<ModelDiff> {
  const after = await store.models.texts(key, to);
  const before = await store.models.texts(key, from ?? Math.max(1, after.version.number - 1));
  const compared = async ({ version, context }: ModelTexts): Promise<ComparedVersion> => {
    const { bundled } = await descriptions.of(version);
    return { bundled, context };
  };
  const [change, pointers] = await Promise.all([
    changesBetween(await compared(before), await compared(after), key.name, workers),
    workers.run('changedPointers', { before: before.schema, after: after.schema }),
  ]);
  return {
    from: before.version.number,
    to: after.version.number,
    change,
    pointers: pointers.slice(0, MAX_POINTERS),
    pointersTotal: pointers.length,
  };
}
