import type { ModelKey, SchemaService } from '../service/service.js';
import { changeOf, refusalOf } from './refusals.js';
import type { UpdatedDependent } from './shapes.js';

export interface DependentsOptions {
  readonly dryRun: boolean;
  readonly baseUrl: string;
  readonly signal?: AbortSignal | undefined;
  /** Models that are left out. */
  readonly except?: ReadonlySet<string>;
}

/** Names a model in a set. */
export function nameOf({ domain, name }: ModelKey): string {
  return `${domain}/${name}`;
}

/**
 * Gives the models that were made with shared documents as they are no longer a version with the documents as they are now, one
 * after the other; each of them keeps what it has where it refuses the change. Those that a run which was ended has left out are
 * updated by the next one, though it changes no document.
 *
 * @throws errors of the workers, StoreUnavailableError
 */
export async function updateDependents(
  uris: readonly string[],
  { models, references }: Pick<SchemaService, 'models' | 'references'>,
  { dryRun, baseUrl, signal, except = new Set() }: DependentsOptions,
): Promise<readonly UpdatedDependent[]> {
  const keys = new Map<string, ModelKey>();
  for (const uri of uris)
    for (const key of await references.outdatedModels(uri))
      if (!except.has(nameOf(key))) keys.set(nameOf(key), key);
  const updated: UpdatedDependent[] = [];
  for (const name of [...keys.keys()].sort()) {
    signal?.throwIfAborted();
    const key = keys.get(name);
    if (key !== undefined) updated.push(await update(key));
  }
  return updated;

  async function update(key: ModelKey): Promise<UpdatedDependent> {
    const names = { domain: key.domain, model: key.name };
    try {
      const { schema } = await models.get(key);
      const { outcome, change } = await models.update(key, { schema }, { dryRun, baseUrl });
      return outcome === 'unchanged'
        ? { ...names, status: 'unchanged' }
        : { ...names, status: 'updated', ...changeOf(change) };
    } catch (error) {
      return { ...names, ...refusalOf(error, undefined, '') };
    }
  }
}
