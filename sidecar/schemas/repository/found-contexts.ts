import { isResourceName } from '../../shared/resource-name.js';
import { byPath } from './collector.js';
import type { FoundModel, Naming } from './found-models.js';
import type { ImportPlan, PlannedContext, PlannedContextVersion } from './import-plan.js';
import { EXPORTED_CONTEXT, EXPORTED_CONTEXT_VERSION, type SortedFiles } from './sorted-files.js';

/** The contexts of an export, and those that models come with. */
export function contextsOf(
  models: readonly FoundModel[],
  {
    sorted: { contexts },
    isExport,
    links,
    refused,
  }: Pick<Naming, 'sorted' | 'isExport' | 'links' | 'refused'>,
): readonly PlannedContext[] {
  const found = new Map<string, PlannedContext>();
  if (isExport)
    for (const { file, inner } of contexts) {
      const name = EXPORTED_CONTEXT.exec(inner)?.[1];
      if (name !== undefined) found.set(file.path, { path: file.path, name });
    }
  for (const {
    planned: { domain },
    contextFile,
    folder,
  } of models) {
    if (contextFile === undefined || found.has(contextFile.file.path)) continue;
    const name = contextName(domain, folder);
    const base = links.bases.get(contextFile.inner);
    const { path } = contextFile.file;
    if (isResourceName(name)) found.set(path, { path, name, ...(base === undefined ? {} : { base }) });
    else
      refused.push({
        path,
        reason: 'The names of its folder and domain are too long for the name of a context.',
      });
  }
  return [...found.values()].sort(byPath);
}

/** The versions of contexts in an export, by the names of these. */
export function contextVersionsOf({ contextVersions }: SortedFiles): ImportPlan['contextVersions'] {
  const versions = new Map<string, PlannedContextVersion[]>();
  for (const { inner, file } of contextVersions) {
    const [, name = '', digits] = EXPORTED_CONTEXT_VERSION.exec(inner) ?? [];
    const version = { path: file.path, number: Number(digits) };
    const known = versions.get(name);
    if (known === undefined) versions.set(name, [version]);
    else known.push(version);
  }
  for (const known of versions.values()) known.sort((one, other) => one.number - other.number);
  return versions;
}

/** The name of a stored context that comes with a repository: that of the domain, and of the folder where it is in one. */
function contextName(domain: string, folder: string): string {
  const words = folder.split('/').filter((segment) => segment !== '');
  return [domain, ...words.map((word) => word.replaceAll(/[^A-Za-z0-9_.-]+/g, '_')), 'context'].join('-');
}
