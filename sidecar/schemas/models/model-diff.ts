import type { ModelKey, ModelTexts } from '../../store/records.js';
import type { SchemaStore } from '../../store/store.js';
import type { ContextSupply } from './context-supply.js';
import {
  changesBetween,
  type ComparedVersion,
  comparedVersions,
  type CompareOptions,
} from './model-changes.js';
import type { ModelDescriptions } from './model-documents.js';
import type { ServiceWorkers } from './schema-intake.js';
import type { ModelService } from './service.js';
import type { ChangeReport, ModelDiff } from './shapes.js';

interface Parts {
  readonly store: SchemaStore;
  readonly workers: ServiceWorkers;
  readonly descriptions: ModelDescriptions;
  readonly contextSupply: ContextSupply;
}

type DiffOptions = Parameters<ModelService['diff']>[1];

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
  { from, to, baseUrl = '' }: DiffOptions,
  parts: Parts,
): Promise<ModelDiff> {
  const { store, workers, descriptions } = parts;
  const after = await store.models.texts(key, to);
  const before = await store.models.texts(key, from ?? Math.max(1, after.version.number - 1));
  const versions = await comparedVersions(
    await compared(before, descriptions),
    await compared(after, descriptions),
    { entityType: key.name, baseUrl },
    parts,
  );
  const [change, pointers] = await Promise.all([
    changesBetween(versions, workers),
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

/**
 * What has changed for a model as it is stored, by later versions of contexts that it follows.
 *
 * @param options `contextsBefore`: their texts from before, by name; `contextsAfter`: those that are not stored yet
 * @throws NotFoundError, WorkersBusyError, TaskFailedError
 */
export async function changeByContexts(
  key: ModelKey,
  options: Omit<CompareOptions, 'entityType'>,
  parts: Parts,
): Promise<ChangeReport> {
  const current = await compared(await parts.store.models.texts(key), parts.descriptions);
  const versions = await comparedVersions(current, current, { ...options, entityType: key.name }, parts);
  return changesBetween(versions, parts.workers);
}

async function compared(
  { version, context }: ModelTexts,
  descriptions: ModelDescriptions,
): Promise<ComparedVersion> {
  const { bundled } = await descriptions.of(version);
  return { bundled, context };
}
