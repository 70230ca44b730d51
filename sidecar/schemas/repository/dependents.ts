import type { JsonValue } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { generatedContextName, type ModelKey, NotFoundError } from '../../store/index.js';
import { type ChangeReport, reportOf, unproven } from '../json-schema/differences.js';
import type { SchemaService } from '../models/index.js';
import { ChangedContexts, nameOf } from './changed-contexts.js';
import { changeOf, refusalOf, withChange } from './refusals.js';
import type { UpdatedDependent } from './shapes.js';

/** Which models are updated, and the contexts that the import has changed so far. */
export interface DependentsOptions {
  readonly dryRun: boolean;
  readonly baseUrl: string;
  readonly signal?: AbortSignal | undefined;
  /** Models to skip. */
  readonly except?: ReadonlySet<string>;
  /** Contexts that have changed so far; contexts of models that are updated now are added. */
  readonly changed?: ChangedContexts | undefined;
}

interface UpdatedModel {
  readonly entry: UpdatedDependent;
  /** Number of changed contexts at the time of the update. */
  readonly count: number;
}

/**
 * Creates a new version of each model that was created with an earlier text of a shared document, one model after the
 * other. A model whose update is refused keeps its version. If a run is interrupted, the next one updates the remaining
 * models, even if it changes no document. A model that follows a changed context, perhaps of another model, keeps its
 * version; it is reported if the context changes its meaning.
 *
 * @throws errors of the workers, StoreUnavailableError
 */
export async function updateDependents(
  uris: readonly string[],
  { store, models, references, contexts, comparison }: SchemaService,
  { dryRun, baseUrl, signal, except = new Set(), changed = new ChangedContexts(contexts) }: DependentsOptions,
): Promise<readonly UpdatedDependent[]> {
  const outdated = new Map<string, ModelKey>();
  for (const uri of uris)
    for (const key of await references.outdatedModels(uri))
      if (!except.has(nameOf(key))) outdated.set(nameOf(key), key);
  const updated = new Map<string, UpdatedModel>();
  for (const [name, key] of byName(outdated)) {
    signal?.throwIfAborted();
    updated.set(name, { entry: await update(key), count: changed.count });
  }
  for (const [name, key] of byName(changed.followers())) {
    if (except.has(name)) continue;
    signal?.throwIfAborted();
    const unchanged: UpdatedDependent = { domain: key.domain, model: key.name, status: 'unchanged' };
    const { entry, count } = updated.get(name) ?? { entry: unchanged, count: 0 };
    const change = await changeByContexts(key, { before: changed.before(key, count), baseUrl }, comparison);
    if (change.differences.length > 0) updated.set(name, { entry: withChange(entry, change), count });
  }
  return byName(updated).map(([, { entry }]) => entry);

  async function update(key: ModelKey): Promise<UpdatedDependent> {
    const names = { domain: key.domain, model: key.name };
    const before = changed.before(key);
    try {
      const schema = parseJson((await store.models.texts(key)).schema) as JsonValue;
      const options = { expected: 'present', dryRun, baseUrl, contextsBefore: before } as const;
      const { outcome, change } = await changed.during(generatedContextName(key), () =>
        models.put(key, { schema }, options),
      );
      const unchanged: UpdatedDependent = { ...names, status: 'unchanged' };
      return outcome === 'unchanged'
        ? withChange(unchanged, change)
        : { ...names, status: 'updated', ...changeOf(change) };
    } catch (error) {
      const refused = { ...names, ...refusalOf(error, undefined, '') };
      return withChange(refused, await changeByContexts(key, { before, baseUrl }, comparison));
    }
  }
}

function byName<Value>(values: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] {
  return [...values].sort(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * Reports how changed contexts affect a model that keeps its version; the report is empty for a model that does not
 * exist. Because the contexts are already stored, a model that cannot be compared does not end the import.
 *
 * @param options `before`: the earlier texts of the changed contexts, by name
 * @throws errors of the workers, StoreUnavailableError
 */
export async function changeByContexts(
  key: ModelKey,
  { before, baseUrl }: { readonly before: ReadonlyMap<string, string> | undefined; readonly baseUrl: string },
  comparison: SchemaService['comparison'],
): Promise<ChangeReport> {
  const nothing = reportOf([]);
  if (before === undefined) return nothing;
  try {
    return await comparison.byContexts(key, { contextsBefore: before, baseUrl });
  } catch (error) {
    if (error instanceof NotFoundError) return nothing;
    const { reason } = refusalOf(error, undefined, '');
    return reportOf([unproven(`what a changed context means for the model cannot be compared: ${reason}`)]);
  }
}
