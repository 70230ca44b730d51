import type { ChangeReport, ModelKey, SchemaService } from '../service/service.js';
import { NotFoundError } from '../store/errors.js';
import { changeOf, refusalOf, withChange } from './refusals.js';
import type { UpdatedDependent } from './shapes.js';

export interface DependentsOptions {
  readonly dryRun: boolean;
  readonly baseUrl: string;
  readonly signal?: AbortSignal | undefined;
  /** Models that are left out. */
  readonly except?: ReadonlySet<string>;
  /** Versions of contexts that were updated, by name, from before that. */
  readonly contextsBefore?: ReadonlyMap<string, number> | undefined;
}

/** Names a model in a set. */
export function nameOf({ domain, name }: ModelKey): string {
  return `${domain}/${name}`;
}

/**
 * Gives a new version to each model that was made with an earlier state of shared documents, one after the other; a model that
 * refuses the change keeps its version. Models that an interrupted run left out are updated by the next one, even if that changes
 * no document. Models that follow a context that was updated keep their versions; those for which it changes something are reported.
 *
 * @throws errors of the workers, StoreUnavailableError
 */
export async function updateDependents(
  uris: readonly string[],
  { models, references, contexts }: Pick<SchemaService, 'models' | 'references' | 'contexts'>,
  { dryRun, baseUrl, signal, except = new Set(), contextsBefore }: DependentsOptions,
): Promise<readonly UpdatedDependent[]> {
  const outdated = new Map<string, ModelKey>();
  for (const uri of uris)
    for (const key of await references.outdatedModels(uri))
      if (!except.has(nameOf(key))) outdated.set(nameOf(key), key);
  const followers = new Map<string, ModelKey>();
  for (const context of contextsBefore?.keys() ?? [])
    for (const key of await contexts.followers(context))
      if (!except.has(nameOf(key))) followers.set(nameOf(key), key);
  const keys = new Map([...followers, ...outdated]);
  const updated: UpdatedDependent[] = [];
  for (const name of [...keys.keys()].sort()) {
    signal?.throwIfAborted();
    const key = keys.get(name);
    if (key === undefined) continue;
    if (outdated.has(name)) updated.push(await update(key));
    else updated.push(...(await follow(key)));
  }
  return updated;

  async function update(key: ModelKey): Promise<UpdatedDependent> {
    const names = { domain: key.domain, model: key.name };
    try {
      const { schema } = await models.get(key);
      const { outcome, change } = await models.update(key, { schema }, { dryRun, baseUrl, contextsBefore });
      const unchanged: UpdatedDependent = { ...names, status: 'unchanged' };
      return outcome === 'unchanged'
        ? withChange(unchanged, change)
        : { ...names, status: 'updated', ...changeOf(change) };
    } catch (error) {
      const refused = { ...names, ...refusalOf(error, undefined, '') };
      return withChange(refused, await changeByContexts(key, { contextsBefore, baseUrl }, models));
    }
  }

  async function follow(key: ModelKey): Promise<readonly UpdatedDependent[]> {
    const change = await changeByContexts(key, { contextsBefore, baseUrl }, models);
    if (change.differences.length === 0) return [];
    return [{ domain: key.domain, model: key.name, status: 'unchanged', ...changeOf(change) }];
  }
}

/**
 * What updated contexts change for a model that keeps its version; nothing for one that is not there. The contexts are stored by
 * then, so that a model that cannot be compared does not end the import.
 *
 * @throws errors of the workers, StoreUnavailableError
 */
export async function changeByContexts(
  key: ModelKey,
  {
    contextsBefore,
    baseUrl,
  }: { readonly contextsBefore: ReadonlyMap<string, number> | undefined; readonly baseUrl: string },
  models: Pick<SchemaService['models'], 'changeByContexts'>,
): Promise<ChangeReport> {
  const nothing: ChangeReport = { overall: 'compatible', differences: [] };
  if (contextsBefore === undefined) return nothing;
  try {
    return await models.changeByContexts(key, { contextsBefore, baseUrl });
  } catch (error) {
    if (error instanceof NotFoundError) return nothing;
    const { reason } = refusalOf(error, undefined, '');
    const detail = `what a changed context means for the model cannot be compared: ${reason}`;
    const unproven = { pointer: '', class: 'narrowing', reason: 'unproven', detail } as const;
    return { overall: 'narrowing', differences: [unproven] };
  }
}
