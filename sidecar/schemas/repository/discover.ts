import { isResourceName } from '../../shared/resource-name.js';
import { byPath, type RefusedFile } from './collector.js';
import type { DocumentFacts } from './describe.js';
import { RepositoryUnclearError } from './errors.js';
import { fileNameOf, folderOf, withoutTools } from './file-paths.js';
import { linkDocuments, type LinkedFile } from './links.js';
import { storableUri } from './urls.js';

/** A file that was read and described. */
export interface DescribedFile {
  /** Below the root of what was sent; or a URL. */
  readonly path: string;
  /** Of its bytes. */
  readonly sha256: string;
  readonly facts: DocumentFacts;
}

export interface PlannedModel {
  readonly path: string;
  readonly domain: string;
  readonly name: string;
  /** An `$id` that its schema needs to be given, so that its relative `$ref`s have a meaning. */
  readonly id?: string;
  /** Path of the context that it comes with. */
  readonly context?: string;
  /** Path of the settings that an export keeps beside it. */
  readonly settings?: string;
  /** Paths of its earlier schemas, oldest first; of an export. */
  readonly versions: readonly string[];
  /** Paths of its examples. */
  readonly examples: readonly string[];
}

/** A document that is stored under a URL. */
export interface PlannedDocument {
  readonly path: string;
  readonly url: string;
}

export interface PlannedContext {
  readonly path: string;
  /** Of the stored context that it becomes. */
  readonly name: string;
  /** A URL against which its relative names of other contexts resolve, where it has any. */
  readonly base?: string;
}

/** A version of a context in an export. */
export interface PlannedContextVersion {
  readonly path: string;
  readonly number: number;
}

/** What an export keeps of a domain. */
export interface PlannedDomainSettings {
  readonly path: string;
  readonly domain: string;
}

/** The one file that is to be a model, whatever an import would make of it. */
export interface OnlyModel {
  readonly path: string;
  /** In place of the one that its folder or title gives. */
  readonly name?: string | undefined;
}

/** What an import is to store, in order. Every list is in the order of paths. */
export interface ImportPlan {
  readonly domains: readonly string[];
  readonly domainSettings: readonly PlannedDomainSettings[];
  readonly documents: readonly PlannedDocument[];
  readonly contexts: readonly PlannedContext[];
  /**
   * Versions of contexts that something names by their numbers, by the names of the contexts, oldest first: all earlier ones of a
   * custom context, and those of a generated context that are named.
   */
  readonly contextVersions: ReadonlyMap<string, readonly PlannedContextVersion[]>;
  readonly models: readonly PlannedModel[];
  readonly refused: readonly RefusedFile[];
  /** All other documents. */
  readonly ignored: number;
}

/** The files of an export: domains with their models, the documents that they name, and custom contexts. */
const EXPORTED_MODEL = /^domains\/([^/]+)\/([^/]+)\/schema\.json$/;
const EXPORTED_VERSION = /^domains\/([^/]+\/[^/]+)\/versions\/(\d{1,9})\.json$/;
const EXPORTED_SETTINGS = /^domains\/([^/]+\/[^/]+)\/meta\.json$/;
const EXPORTED_CONTEXT = /^contexts\/([^/]+)\.jsonld$/;
const EXPORTED_CONTEXT_VERSION = /^contexts\/([^/]+)\.versions\/([1-9]\d{0,8})\.jsonld$/;
const EXPORTED_DOMAIN = /^settings\/([^/]+)\.json$/;
/** An export need not have a model. */
const EXPORTED_FILE = /^(?:domains\/[^/]+\/[^/]+|contexts|references|settings)\/./;
/** The folder of an exported model. */
const EXPORTED_FOLDER = /^domains\/[^/]+\/[^/]+\//;
const EXAMPLE = /(?:^|\/)examples?\//;

/**
 * Finds the models of a repository, the documents that they name, contexts and examples. A model is a folder with a
 * `schema.json`, or a schema of entities that nothing refers to, by its title.
 *
 * @param domain for everything; else each has the one of its folder in an export, or the name of the repository
 * @param only leaves out all other models
 * @throws RepositoryUnclearError when there is no domain for a model
 */
export function discover(
  described: readonly DescribedFile[],
  domain: string | undefined,
  only?: OnlyModel,
): ImportPlan {
  const files = withoutTools(described);
  const root = rootOf(files);
  const inside = files.filter(({ path }) => !isUrl(path)).map((file) => new InnerFile(file, root));
  const isExport = isOfExport(inside.map(({ inner }) => inner));
  const sorted = new Sorted();
  for (const file of inside) sorted.add(file, isExport);
  const refused: RefusedFile[] = [];

  const { explicit, faults } = explicitUrls(files, sorted);
  refused.push(...faults);
  const links = linkDocuments({
    files: [
      ...inside.map(({ file, inner }): LinkedFile => ({
        path: inner,
        sha256: file.sha256,
        facts: file.facts,
      })),
      ...files.filter(({ path }) => isUrl(path)),
    ],
    explicit,
    isExplicitAll: isExport,
    schemas: sorted.schemas.map(({ inner }) => inner),
    start: sorted.models.map(({ inner }) => inner),
    // An export has the URLs of all that it needs.
    contexts: isExport
      ? []
      : [...inside.map(({ inner }) => inner), ...files.map(({ path }) => path).filter(isUrl)],
  });
  const titled = sorted.schemas.filter(
    ({ inner, file: { facts } }) =>
      !links.named.has(inner) && facts.isEntity && facts.title !== undefined && isResourceName(facts.title),
  );
  const found =
    only === undefined
      ? [...sorted.models, ...titled]
      : [...sorted.models, ...sorted.schemas].filter(({ file }) => file.path === only.path);
  const models = named(found, {
    isExport,
    domain,
    name: only?.name,
    root,
    refused,
    sorted,
    links,
  });
  const titledPaths = new Set(titled.map(({ inner }) => inner));
  const pathOf = (inner: string) => (isUrl(inner) ? inner : root + inner);
  const documents = links.documents.filter(({ path, isNamed }) => isNamed || !titledPaths.has(path));
  refused.push(...links.refused.map((one) => ({ ...one, path: pathOf(one.path) })));
  const stored = new Set(documents.map(({ path }) => path));
  const loose = [...sorted.schemas, ...sorted.others].filter(
    ({ inner }) => !stored.has(inner) && !titledPaths.has(inner),
  );
  const domainSettings = domainSettingsOf(sorted, domain);
  return {
    domains: [
      ...new Set([
        ...models.map(({ planned }) => planned.domain),
        ...domainSettings.map((settings) => settings.domain),
      ]),
    ],
    domainSettings,
    documents: documents.map(({ path, url }) => ({ path: pathOf(path), url })),
    contexts: contextsOf(models, { sorted, isExport, links, refused }),
    contextVersions: contextVersionsOf(sorted),
    models: models.map(({ planned }) => planned),
    refused: refused.sort(byPath),
    ignored: described.length - files.length + loose.length,
  };
}

/** A file by its path below the root of the repository. */
class InnerFile {
  readonly inner: string;

  constructor(
    readonly file: DescribedFile,
    root: string,
  ) {
    this.inner = file.path.slice(root.length);
  }
}

/** The files by what they are, as far as their paths and members say. */
class Sorted {
  readonly models: InnerFile[] = [];
  readonly schemas: InnerFile[] = [];
  readonly contexts: InnerFile[] = [];
  readonly examples: InnerFile[] = [];
  readonly settings: InnerFile[] = [];
  readonly versions: InnerFile[] = [];
  readonly contextVersions: InnerFile[] = [];
  readonly domains: InnerFile[] = [];
  readonly urls: InnerFile[] = [];
  readonly others: InnerFile[] = [];
  #versions: Map<string, InnerFile[]> | undefined;
  #settings: Map<string, InnerFile[]> | undefined;
  #contexts: Map<string, InnerFile[]> | undefined;

  add(file: InnerFile, isExport: boolean): void {
    const { inner } = file;
    const { kind } = file.file.facts;
    if (kind === 'urls' && fileNameOf(inner) === 'urls.json') this.urls.push(file);
    else if (isExport && EXPORTED_VERSION.test(inner)) this.versions.push(file);
    else if (isExport && EXPORTED_SETTINGS.test(inner)) this.settings.push(file);
    else if (isExport && EXPORTED_CONTEXT.test(inner)) this.contexts.push(file);
    else if (isExport && EXPORTED_CONTEXT_VERSION.test(inner)) this.contextVersions.push(file);
    else if (isExport && EXPORTED_DOMAIN.test(inner)) this.domains.push(file);
    else if (EXAMPLE.test(isExport ? inner.replace(EXPORTED_FOLDER, '') : inner)) this.examples.push(file);
    else if (isExport ? EXPORTED_MODEL.test(inner) : fileNameOf(inner) === 'schema.json')
      this.models.push(file);
    else if (fileNameOf(inner) === 'context.jsonld') this.contexts.push(file);
    else if (kind === 'schema') this.schemas.push(file);
    else this.others.push(file);
  }

  /** Of an exported model, by `domain/model`: oldest first. */
  versionsOf(name: string | undefined): readonly InnerFile[] {
    this.#versions ??= grouped(this.versions, ({ inner }) => EXPORTED_VERSION.exec(inner)?.[1]);
    const versions = name === undefined ? [] : (this.#versions.get(name) ?? []);
    return versions.sort((one, other) => numberOf(one) - numberOf(other));
  }

  settingsOf(name: string | undefined): InnerFile | undefined {
    this.#settings ??= grouped(this.settings, ({ inner }) => EXPORTED_SETTINGS.exec(inner)?.[1]);
    return name === undefined ? undefined : this.#settings.get(name)?.[0];
  }

  /** The context in the folder of a file, or in the nearest folder around it. */
  nearestContext(inner: string): InnerFile | undefined {
    this.#contexts ??= grouped(this.contexts, (one) =>
      fileNameOf(one.inner) === 'context.jsonld' ? folderOf(one.inner) : undefined,
    );
    for (let folder: string | undefined = folderOf(inner); folder !== undefined; folder = parentOf(folder)) {
      const [context] = this.#contexts.get(folder) ?? [];
      if (context !== undefined) return context;
    }
    return undefined;
  }

  /** The paths of the examples below each of some folders, but for those below another one in between. */
  examplesIn(folders: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
    const examples = new Map<string, string[]>();
    for (const { inner, file } of this.examples) {
      let folder: string | undefined = folderOf(inner);
      while (folder !== undefined && !folders.has(folder)) folder = parentOf(folder);
      if (folder === undefined) continue;
      const known = examples.get(folder);
      if (known === undefined) examples.set(folder, [file.path]);
      else known.push(file.path);
    }
    for (const paths of examples.values()) paths.sort();
    return examples;
  }
}

function grouped(
  files: readonly InnerFile[],
  keyOf: (file: InnerFile) => string | undefined,
): Map<string, InnerFile[]> {
  const groups = new Map<string, InnerFile[]>();
  for (const file of files) {
    const key = keyOf(file);
    if (key === undefined) continue;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [file]);
    else known.push(file);
  }
  return groups;
}

/** The folder in which everything is, as archives of a repository have it, with its `/`; else ''. */
function rootOf(files: readonly DescribedFile[]): string {
  const paths = files.map(({ path }) => path).filter((path) => !isUrl(path));
  const [first = ''] = paths;
  const root = first.slice(0, first.indexOf('/') + 1);
  const isCommon = root !== '' && paths.every((path) => path.startsWith(root));
  const isModel = paths.some((path) => path === `${root}schema.json`);
  return isCommon && !isModel && !isOfExport(paths) ? root : '';
}

/** Whether paths are those of an export. */
function isOfExport(paths: readonly string[]): boolean {
  if (paths.some((path) => EXPORTED_MODEL.test(path))) return true;
  return (
    paths.some((path) => EXPORTED_CONTEXT.test(path) || EXPORTED_DOMAIN.test(path)) &&
    paths.every((path) => EXPORTED_FILE.test(path))
  );
}

/** Whether the name of a document is a URL rather than a path. */
export function isUrl(path: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(path);
}

/** What archives of code hosts put behind the name of a repository: a branch, a version or a commit. */
const REVISION = /-(?:main|master|develop|v?\d+(?:\.\d+)*|[0-9a-f]{7,40})$/;

function nameOfRepository(published: string | undefined, root: string): string | undefined {
  const folder = root.slice(0, -1).replace(REVISION, '');
  return [published, folder].find((name) => name !== undefined && isResourceName(name));
}

/** URLs that documents are given from outside: as their names, or by a table of URLs. */
function explicitUrls(files: readonly DescribedFile[], { urls }: Sorted) {
  const explicit: { readonly path: string; readonly url: string }[] = [];
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

interface Naming {
  readonly isExport: boolean;
  readonly domain: string | undefined;
  /** Of the one model that is looked for. */
  readonly name: string | undefined;
  readonly root: string;
  readonly refused: RefusedFile[];
  readonly sorted: Sorted;
  readonly links: ReturnType<typeof linkDocuments>;
}

interface FoundModel {
  readonly planned: PlannedModel;
  readonly contextFile: InnerFile | undefined;
  /** Of the context, within the repository. */
  readonly folder: string;
}

/** Gives models their names; a name that two files claim is refused, since nothing says which is meant. */
function named(files: readonly InnerFile[], naming: Naming): readonly FoundModel[] {
  const { isExport, domain, root, refused, sorted, links } = naming;
  const domains = new Set(
    isExport ? files.flatMap(({ inner }) => EXPORTED_MODEL.exec(inner)?.[1] ?? []) : [],
  );
  if (domain !== undefined && domains.size > 1)
    throw new RepositoryUnclearError(
      `It holds several domains (${[...domains].join(', ')}): leave the parameter domain out.`,
    );
  const examples = sorted.examplesIn(new Set(files.map(({ inner }) => folderOf(inner))));
  const claims = new Map<string, FoundModel[]>();
  for (const file of [...files].sort((one, other) => byPath(one.file, other.file))) {
    const { inner } = file;
    const { path, facts } = file.file;
    const exported = EXPORTED_MODEL.exec(inner);
    const folder = fileNameOf(folderOf(inner).slice(0, -1));
    const isFolder = fileNameOf(inner) === 'schema.json' && isResourceName(folder);
    const name = naming.name ?? (isFolder ? folder : (facts.title ?? ''));
    if (!isResourceName(name)) {
      const reason =
        'A model is named by the folder of its schema.json, or else by its title; neither is a name (a letter, then up to 127 letters, digits and _ . -).';
      refused.push({ path, reason });
      continue;
    }
    const repository = links.repositoryOf(inner);
    const into = domain ?? exported?.[1] ?? nameOfRepository(repository?.name, root);
    if (into === undefined)
      throw new RepositoryUnclearError(
        'Nothing in it says which domain its models belong to: name one by the parameter domain.',
      );
    const key = `${into}/${name}`;
    const exportedName = exported === null ? undefined : `${exported[1]}/${name}`;
    const versions = sorted.versionsOf(exportedName);
    const settings = sorted.settingsOf(exportedName);
    const contextFile = settings === undefined ? sorted.nearestContext(inner) : undefined;
    const id = links.ids.get(inner);
    const planned: PlannedModel = {
      path,
      domain: into,
      name,
      ...(id === undefined ? {} : { id }),
      ...(contextFile === undefined ? {} : { context: contextFile.file.path }),
      ...(settings === undefined ? {} : { settings: settings.file.path }),
      versions: versions.map((one) => one.file.path),
      examples: isFolder ? (examples.get(folderOf(inner)) ?? []) : [],
    };
    const within = repository?.folder.length ?? 0;
    const around = contextFile === undefined ? '' : folderOf(contextFile.inner).slice(within);
    const model = { planned, contextFile, folder: around };
    const claimed = claims.get(key);
    if (claimed === undefined) claims.set(key, [model]);
    else claimed.push(model);
  }
  return [...claims.values()].flatMap((claimed) => {
    if (claimed.length === 1) return claimed;
    const paths = claimed.map(({ planned }) => planned.path);
    for (const {
      planned: { path, name },
    } of claimed)
      refused.push({
        path,
        reason: `${paths.find((other) => other !== path)} is named ${name} as well; a domain has one model of a name, so neither is stored.`,
      });
    return [];
  });
}

function numberOf({ inner }: InnerFile): number {
  return Number(EXPORTED_VERSION.exec(inner)?.[2]);
}

/** The folder around one, with its `/`; undefined for the root. */
function parentOf(folder: string): string | undefined {
  return folder === '' ? undefined : folderOf(folder.slice(0, -1));
}

/** The contexts of an export, and those that models come with. */
function contextsOf(
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
function contextVersionsOf({ contextVersions }: Sorted): ImportPlan['contextVersions'] {
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

/** The settings of domains in an export. @param domain into which the one domain of it is imported, under another name */
function domainSettingsOf(
  { domains, models }: Sorted,
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

/** The name of a stored context that comes with a repository: that of the domain, and of the folder where it is in one. */
function contextName(domain: string, folder: string): string {
  const words = folder.split('/').filter((segment) => segment !== '');
  return [domain, ...words.map((word) => word.replaceAll(/[^A-Za-z0-9_.-]+/g, '_')), 'context'].join('-');
}
