import { defined } from '../../shared/defined.js';
import { isResourceName, RESOURCE_NAME_RULE } from '../../shared/resource-name.js';
import { byPath, type RefusedFile } from './collector.js';
import { RepositoryUnclearError } from './errors.js';
import { fileNameOf, folderOf } from './file-paths.js';
import type { ImportPlan, PlannedContext, PlannedModel } from './import-plan.js';
import type { Links } from './links.js';
import {
  EXPORTED_CONTEXT,
  EXPORTED_CONTEXT_VERSION,
  EXPORTED_MODEL,
  type InnerFile,
  type SortedFiles,
} from './sorted-files.js';

interface Naming {
  readonly isExport: boolean;
  readonly domain: string | undefined;
  /** The name of the only model being searched for. */
  readonly name: string | undefined;
  readonly refused: RefusedFile[];
  readonly sorted: SortedFiles;
  readonly links: Links;
}

interface FoundModel {
  readonly planned: PlannedModel;
  readonly contextFile: InnerFile | undefined;
  /** Whether its folder has its name, rather than only its title. */
  readonly isNamedByFolder: boolean;
}

const NO_DOMAIN =
  'Nothing says which domain it belongs to, such as a $id: name one with the parameter domain.';

/**
 * Determines the names of models. If several files claim a name, that of the only folder with this name gets it.
 * Otherwise none does, because it is unclear which is meant.
 */
export function namedModels(files: readonly InnerFile[], naming: Naming): readonly FoundModel[] {
  const { isExport, domain, refused, sorted, links } = naming;
  const domains = new Set(
    isExport ? files.flatMap(({ inner }) => EXPORTED_MODEL.exec(inner)?.[1] ?? []) : [],
  );
  if (domain !== undefined && domains.size > 1)
    throw new RepositoryUnclearError(
      `It contains several domains (${[...domains].join(', ')}): leave the parameter domain out.`,
    );
  const examples = sorted.examplesIn(new Set(files.map(({ inner }) => folderOf(inner))));
  const found: FoundModel[] = [];
  const homeless: RefusedFile[] = [];
  for (const file of [...files].sort((one, other) => byPath(one.file, other.file))) {
    const { inner } = file;
    const { path, facts } = file.file;
    const exported = EXPORTED_MODEL.exec(inner);
    const folder = fileNameOf(folderOf(inner).slice(0, -1));
    const hasFolder = fileNameOf(inner) === 'schema.json';
    const isNamedByFolder = hasFolder && isResourceName(folder);
    const name = naming.name ?? (isNamedByFolder ? folder : (facts.title ?? ''));
    if (!isResourceName(name)) {
      const reason =
        'A model is named after the folder of its schema.json, or else ' +
        `by its title; neither is a valid name (${RESOURCE_NAME_RULE}).`;
      refused.push({ path, reason });
      continue;
    }
    const repository = links.repositoryOf(inner);
    const into = domain ?? exported?.[1] ?? repository?.name;
    if (into === undefined || !isResourceName(into)) {
      homeless.push({ path, reason: NO_DOMAIN });
      continue;
    }
    const exportedName = exported === null ? undefined : `${exported[1]}/${name}`;
    const versions = sorted.versionsOf(exportedName);
    const settings = sorted.settingsOf(exportedName);
    const contextFile = settings === undefined ? sorted.nearestContext(inner, name) : undefined;
    const id = links.ids.get(inner);
    const planned: PlannedModel = {
      path,
      domain: into,
      name,
      ...defined({ id, context: contextFile?.file.path, settings: settings?.file.path }),
      versions: versions.map((one) => one.file.path),
      examples: hasFolder ? (examples.get(folderOf(inner)) ?? []) : [],
    };
    found.push({ planned, contextFile, isNamedByFolder });
  }
  if (found.length === 0 && homeless.length > 0) throw new RepositoryUnclearError(NO_DOMAIN);
  refused.push(...homeless);
  const claims = Map.groupBy(found, ({ planned }) => `${planned.domain}/${planned.name}`);
  return [...claims.values()].flatMap((claimed) => {
    if (claimed.length === 1) return claimed;
    const inFolders = claimed.filter(({ isNamedByFolder }) => isNamedByFolder);
    const winners = inFolders.length === 1 ? inFolders : [];
    for (const { planned } of claimed.filter((one) => !winners.includes(one))) {
      const other = (winners[0] ?? claimed.find((one) => one.planned !== planned))?.planned.path;
      const reason =
        `${other} is also named ${planned.name}; a domain can have only one model of a name, ` +
        (winners.length === 1 ? 'and its folder has this name.' : 'so neither is stored.');
      refused.push({ path: planned.path, reason });
    }
    return winners;
  });
}

/**
 * Returns the contexts to store: all of an export; for any other repository, those of its models and all others that
 * are not shared documents.
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
  'Nothing says which repository it belongs to, so it has no name: name a domain with the parameter domain.';

/** Returns the versions of contexts in an export, by context name. */
export function contextVersionsOf({ contextVersions }: SortedFiles): ImportPlan['contextVersions'] {
  const partOf = ({ inner }: InnerFile, part: 1 | 2) => EXPORTED_CONTEXT_VERSION.exec(inner)?.[part] ?? '';
  const versionOf = (file: InnerFile) => ({ path: file.file.path, number: Number(partOf(file, 2)) });
  const byName = Map.groupBy(contextVersions, (file) => partOf(file, 1));
  return new Map(
    [...byName].map(([name, files]) => [
      name,
      files.map(versionOf).sort((one, other) => one.number - other.number),
    ]),
  );
}

/**
 * Returns the name under which a context of a repository is stored: the domain, the folders around it and its own name,
 * joined by hyphens.
 *
 * @param path within the repository
 */
function contextName(domain: string, path: string): string {
  const words = path.replace(/\.json(?:ld)?$/i, '').split('/');
  return [domain, ...words.map((word) => word.replaceAll(/[^A-Za-z0-9_.-]+/g, '_'))].join('-');
}
