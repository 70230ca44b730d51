import { isResourceName } from '../../shared/resource-name.js';
import { byPath } from './collector.js';
import type { FoundModel, Naming } from './found-models.js';
import type { ImportPlan, PlannedContext, PlannedContextVersion } from './import-plan.js';
import {
  EXPORTED_CONTEXT,
  EXPORTED_CONTEXT_VERSION,
  type InnerFile,
  type SortedFiles,
} from './sorted-files.js';

/**
 * The contexts of an export; of another repository, those of its models and all others that are not shared documents.
 *
 * @param documents paths of shared documents
 */
export function contextsOf(
  models: readonly FoundModel[],
  documents: ReadonlySet<string>,
  { sorted: { contexts }, isExport, links, domain: given, refused }: Omit<Naming, 'name'>,
): readonly PlannedContext[] {
  const found = new Map<string, PlannedContext>();
  if (isExport)
    for (const { file, inner } of contexts) {
      const name = EXPORTED_CONTEXT.exec(inner)?.[1];
      if (name !== undefined) found.set(file.path, { path: file.path, name });
    }
  const paths = new Map([...found.values()].map(({ name, path }) => [name, path]));
  const take = ({ file: { path }, inner }: InnerFile, domain: string | undefined): void => {
    if (domain === undefined) {
      refused.push({ path, reason: NO_REPOSITORY });
      return;
    }
    const name = contextName(domain, inner.slice(links.repositoryOf(inner)?.folder.length ?? 0));
    const other = paths.get(name);
    const base = links.bases.get(inner);
    if (!isResourceName(name)) refused.push({ path, reason: TOO_LONG });
    else if (other !== undefined)
      refused.push({
        path,
        reason: `Its name would be ${name}, like that of ${other}: rename one of the files.`,
      });
    else {
      paths.set(name, path);
      found.set(path, { path, name, ...(base === undefined ? {} : { base }) });
    }
  };
  for (const { planned, contextFile } of models)
    if (contextFile !== undefined && !found.has(contextFile.file.path)) take(contextFile, planned.domain);
  const taken = new Set(models.map(({ contextFile }) => contextFile));
  for (const file of isExport ? [] : contexts)
    if (!taken.has(file) && !documents.has(file.inner))
      take(file, given ?? links.repositoryOf(file.inner)?.name);
  return [...found.values()].sort(byPath);
}

const TOO_LONG = 'The names of its folder and domain are too long for the name of a context.';
const NO_REPOSITORY =
  'Nothing says which repository it is of, from which it would have its name: name a domain by the parameter domain.';

/** The versions of contexts in an export, by the name of the context. */
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

/**
 * The name under which a context of a repository is stored: the domain, the folders around it and its own name, with hyphens.
 *
 * @param path within the repository
 */
function contextName(domain: string, path: string): string {
  const words = path.replace(/\.json(?:ld)?$/i, '').split('/');
  return [domain, ...words.map((word) => word.replaceAll(/[^A-Za-z0-9_.-]+/g, '_'))].join('-');
}
