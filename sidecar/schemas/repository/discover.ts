import { defined } from '../../shared/defined.js';
import { isResourceName } from '../../shared/resource-name.js';
import { byPath, type RefusedFile } from './collector.js';
import { folderOf, isUrl, nameOfFolder } from './file-paths.js';
import { contextsOf, contextVersionsOf, namedModels } from './found-models.js';
import { NO_FACTS } from './describe.js';
import type { DescribedFile, ImportPlan, OnlyModel, PlannedDomainSettings } from './import-plan.js';
import { linkDocuments } from './links.js';
import {
  EXPORTED_DOMAIN,
  EXPORTED_MODEL,
  isOfModels,
  isOfExport,
  rootOf,
  SortedFiles,
} from './sorted-files.js';
import { type FileWithUrl, storableUri } from './urls.js';

/** What is known before the files of a repository are looked at. */
export interface DiscoverOptions {
  /** The domain of all models. By default, that of their folder in an export, or the name of the repository. */
  readonly domain?: string | undefined;
  /** Excludes all other models. */
  readonly only?: OnlyModel;
  /** Files that could not be read, and are refused only if they are used. */
  readonly unread?: readonly RefusedFile[];
}

/**
 * Finds the models of a repository, the documents that they name, contexts and examples. A model is a folder with a
 * `schema.json`, or an entity schema with a title to which no other schema refers.
 *
 * @throws RepositoryUnclearError if there is no domain for a model
 */
export function discover(
  files: readonly DescribedFile[],
  { domain, only, unread = [] }: DiscoverOptions = {},
): ImportPlan {
  const root = rootOf([...files, ...unread]);
  const inside = files
    .filter(({ path }) => !isUrl(path))
    .map((file) => ({ file, inner: file.path.slice(root.length) }));
  const isExport = isOfExport(inside.map(({ inner }) => inner));
  const sorted = new SortedFiles();
  for (const file of inside) sorted.add(file, isExport);
  const refused: RefusedFile[] = [];

  const { explicit, faults } = explicitUrls(files, sorted);
  refused.push(...faults);
  const couldBeTitled = sorted.schemas.filter(
    ({ file: { facts } }) => facts.isEntity && facts.title !== undefined && isResourceName(facts.title),
  );
  const asked = sorted.schemas.filter(({ file }) => file.path === only?.path);
  const unreadAt = new Map(unread.map((file) => [file.path.slice(root.length), file]));
  const links = linkDocuments({
    files: [
      ...[...unreadAt.keys()].map((path): DescribedFile => ({ path, sha256: path, facts: NO_FACTS })),
      ...inside.map(({ file, inner }): DescribedFile => ({ ...file, path: inner })),
      ...files.filter(({ path }) => isUrl(path)),
    ],
    explicit,
    isExplicitAll: isExport,
    domain,
    archive: nameOfFolder(root),
    schemas: sorted.schemas.map(({ inner }) => inner),
    start: [...sorted.models, ...asked].map(({ inner }) => inner),
    startUnlessNamed: couldBeTitled.map(({ inner }) => inner),
    // An export includes the URLs of everything it needs.
    contexts: isExport
      ? []
      : [...inside.map(({ inner }) => inner), ...files.map(({ path }) => path).filter(isUrl)],
  });
  const titled = couldBeTitled.filter(({ inner }) => !links.named.has(inner));
  const found =
    only === undefined
      ? [...sorted.models, ...titled]
      : [...sorted.models.filter(({ file }) => file.path === only.path), ...asked];
  const naming = { isExport, domain, refused, sorted, links };
  const models = namedModels(found, { ...naming, name: only?.name });
  const titledPaths = new Set(titled.map(({ inner }) => inner));
  const pathOf = (inner: string) => (isUrl(inner) ? inner : root + inner);
  const linked = links.documents.filter(({ path, isNamed }) => isNamed || !titledPaths.has(path));
  const documents = linked.filter(({ path }) => !unreadAt.has(path));
  const used = new Set(linked.map(({ path }) => path));
  const missed = [...unreadAt].filter(([inner]) => isExport || used.has(inner) || isOfModels(inner));
  refused.push(...missed.map(([, { path, reason, line }]) => ({ path, reason, ...defined({ line }) })));
  refused.push(...links.refused.map((one) => ({ ...one, path: pathOf(one.path) })));
  const stored = new Set(documents.map(({ path }) => path));
  const loose = [...sorted.schemas, ...sorted.others].filter(
    ({ inner }) => !stored.has(inner) && !titledPaths.has(inner),
  );
  // For a single model, only its own context is needed.
  const others = only === undefined ? stored : new Set(sorted.contexts.map(({ inner }) => inner));
  const domainSettings = domainSettingsOf(sorted, domain);
  const domains = [...models.map(({ planned }) => planned), ...domainSettings].map((one) => one.domain);
  return {
    domains: [...new Set(domains)],
    domainSettings,
    documents: documents.map(({ path, url, mayReplace }) => ({ path: pathOf(path), url, mayReplace })),
    contexts: contextsOf(models, others, naming),
    contextVersions: contextVersionsOf(sorted),
    models: models.map(({ planned }) => planned),
    refused: refused.sort(byPath),
    ignored: loose.length + unreadAt.size - missed.length,
  };
}

/** Returns the URLs assigned to documents from outside: as their names, or in a table of URLs. */
function explicitUrls(files: readonly DescribedFile[], { urls }: SortedFiles) {
  const explicit: FileWithUrl[] = [];
  const faults: RefusedFile[] = [];
  for (const { path } of files.filter((file) => isUrl(file.path))) {
    const url = storableUri(path);
    if (url !== undefined && !path.includes('#')) explicit.push({ path, url });
    else
      faults.push({
        path,
        reason: 'It is not an absolute http, https or urn URL without fragment and credentials.',
      });
  }
  for (const { file, inner } of urls) {
    for (const [name, target] of file.facts.urls ?? []) {
      const url = storableUri(name);
      if (url !== undefined && !name.includes('#')) explicit.push({ path: folderOf(inner) + target, url });
      else
        faults.push({
          path: file.path,
          reason: `${name.slice(0, 300)} is not a URL under which a document can be stored.`,
        });
    }
  }
  return { explicit, faults };
}

/**
 * Returns the settings of domains in an export.
 *
 * @param domain the domain into which the only domain of the export is imported, under another name
 */
function domainSettingsOf(
  { domains, models }: SortedFiles,
  domain: string | undefined,
): readonly PlannedDomainSettings[] {
  const all = domains.map(({ inner, file: { path } }) => ({
    path,
    domain: EXPORTED_DOMAIN.exec(inner)?.[1] ?? '',
  }));
  if (domain === undefined) return all;
  const names = new Set(models.map(({ inner }) => EXPORTED_MODEL.exec(inner)?.[1]));
  const [only, ...others] = names.size === 0 ? all : all.filter((one) => names.has(one.domain));
  return only === undefined || others.length > 0 ? [] : [{ ...only, domain }];
}
