import { byPath } from './collector.js';
import { fileNameOf, folderOf, isUrl } from './file-paths.js';
import type { DescribedFile, PlannedExample } from './import-plan.js';

/** The files of an export: domains with their models, the documents that they name, and custom contexts. */
export const EXPORTED_MODEL = /^domains\/([^/]+)\/([^/]+)\/schema\.json$/;
const EXPORTED_VERSION = /^domains\/([^/]+\/[^/]+)\/versions\/(\d{1,9})\.json$/;
const EXPORTED_SETTINGS = /^domains\/([^/]+\/[^/]+)\/meta\.json$/;
const EXPORTED_EXAMPLE = /^domains\/[^/]+\/[^/]+\/examples\/[^/]+$/;
export const EXPORTED_CONTEXT = /^contexts\/([^/]+)\.jsonld$/;
export const EXPORTED_CONTEXT_VERSION = /^contexts\/([^/]+)\.versions\/([1-9]\d{0,8})\.jsonld$/;
export const EXPORTED_DOMAIN = /^settings\/([^/]+)\.json$/;
/** An export may be without models. */
const EXPORTED_FILE = /^(?:domains\/[^/]+\/[^/]+|contexts|references|settings)\/./;
/** The folder of an exported model. */
const EXPORTED_FOLDER = /^domains\/[^/]+\/[^/]+\//;
const CONTEXT = 'context.jsonld';
const EXAMPLE = /(?:^|\/)examples?\//;

/** A file with its path below the root of the repository. */
export interface InnerFile {
  readonly file: DescribedFile;
  readonly inner: string;
}

/** The files sorted by kind, according to their paths and members. */
export class SortedFiles {
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
  #versions: Map<string | undefined, InnerFile[]> | undefined;
  #settings: Map<string | undefined, InnerFile[]> | undefined;
  #contexts: Map<string, InnerFile[]> | undefined;

  add(file: InnerFile, isExport: boolean): void {
    const { inner } = file;
    const { kind } = file.file.facts;
    if (isExport && EXPORTED_EXAMPLE.test(inner)) this.examples.push(file);
    else if (kind === 'urls' && fileNameOf(inner) === 'urls.json') this.urls.push(file);
    else if (isExport && EXPORTED_VERSION.test(inner)) this.versions.push(file);
    else if (isExport && EXPORTED_SETTINGS.test(inner)) this.settings.push(file);
    else if (isExport && EXPORTED_CONTEXT.test(inner)) this.contexts.push(file);
    else if (isExport && EXPORTED_CONTEXT_VERSION.test(inner)) this.contextVersions.push(file);
    else if (isExport && EXPORTED_DOMAIN.test(inner)) this.domains.push(file);
    else if (EXAMPLE.test(isExport ? inner.replace(EXPORTED_FOLDER, '') : inner)) this.examples.push(file);
    else if (isExport ? EXPORTED_MODEL.test(inner) : fileNameOf(inner) === 'schema.json')
      this.models.push(file);
    else if (fileNameOf(inner) === CONTEXT || (kind === 'context' && !isExport)) this.contexts.push(file);
    else if (kind === 'schema') this.schemas.push(file);
    else this.others.push(file);
  }

  /** Returns the earlier versions of an exported model, named as `domain/model`, oldest first. */
  versionsOf(name: string | undefined): readonly InnerFile[] {
    this.#versions ??= Map.groupBy(this.versions, ({ inner }) => EXPORTED_VERSION.exec(inner)?.[1]);
    const versions = name === undefined ? [] : (this.#versions.get(name) ?? []);
    return versions.sort((one, other) => numberOf(one) - numberOf(other));
  }

  settingsOf(name: string | undefined): InnerFile | undefined {
    this.#settings ??= Map.groupBy(this.settings, ({ inner }) => EXPORTED_SETTINGS.exec(inner)?.[1]);
    return name === undefined ? undefined : this.#settings.get(name)?.[0];
  }

  /**
   * Returns the context of a model: in the folder of its schema, or otherwise in the nearest parent folder with one. In
   * a folder, it is the one named `context.jsonld`, or the one named after the model, or the only one.
   */
  nearestContext(inner: string, model: string): InnerFile | undefined {
    this.#contexts ??= Map.groupBy(this.contexts, (one) => folderOf(one.inner));
    for (let folder: string | undefined = folderOf(inner); folder !== undefined; folder = parentOf(folder)) {
      const contexts = this.#contexts.get(folder) ?? [];
      const found =
        contexts.find((one) => fileNameOf(one.inner) === CONTEXT) ??
        contexts.find((one) => isContextOf(fileNameOf(one.inner), model)) ??
        (contexts.length === 1 ? contexts[0] : undefined);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Returns the examples below each of the folders, by folder; an example belongs to the nearest of the folders around
   * it.
   */
  examplesIn(folders: ReadonlySet<string>): ReadonlyMap<string, readonly PlannedExample[]> {
    const nearest = ({ inner }: InnerFile) => {
      let folder: string | undefined = folderOf(inner);
      while (folder !== undefined && !folders.has(folder)) folder = parentOf(folder);
      return folder;
    };
    const exampleIn = (folder: string, { inner, file: { path, facts } }: InnerFile): PlannedExample => ({
      path,
      name: exampleName(inner.slice(folder.length)),
      ...(facts.form === undefined ? {} : { form: facts.form }),
    });
    return new Map(
      [...Map.groupBy(this.examples, nearest)].flatMap(([folder, files]) =>
        folder === undefined ? [] : [[folder, files.map((file) => exampleIn(folder, file)).sort(byPath)]],
      ),
    );
  }
}

/** Derives the name of an example: its path below the folder of the model, without `examples`. */
function exampleName(path: string): string {
  const words = path.split('/').filter((word) => !/^examples?$/.test(word));
  return words.join('-').replaceAll(/[^A-Za-z0-9_.-]+/g, '_');
}

/** Whether a file is named after a model: `Car.jsonld`, `car-context.jsonld`, `Car.context.json`. */
function isContextOf(name: string, model: string): boolean {
  const stem = name.replace(/\.json(?:ld)?$/i, '').replace(/[-_.]context$/i, '');
  return stem.toLowerCase() === model.toLowerCase();
}

function numberOf({ inner }: InnerFile): number {
  return Number(EXPORTED_VERSION.exec(inner)?.[2]);
}

/** Returns the parent folder, with a trailing `/`; undefined for the root. */
function parentOf(folder: string): string | undefined {
  return folder === '' ? undefined : folderOf(folder.slice(0, -1));
}

/**
 * Returns the folder that contains everything, as in the archive of a repository, with a trailing `/`; '' if there is
 * none.
 */
export function rootOf(files: readonly Pick<DescribedFile, 'path'>[]): string {
  const paths = files.map(({ path }) => path).filter((path) => !isUrl(path));
  const [first = ''] = paths;
  const root = first.slice(0, first.indexOf('/') + 1);
  const isCommon = root !== '' && paths.every((path) => path.startsWith(root));
  const isModel = paths.some((path) => path === `${root}schema.json`);
  return isCommon && !isModel && !isOfExport(paths) ? root : '';
}

/**
 * Whether a file belongs to data models according to its name, whatever its content.
 *
 * @param inner its path below the root of the repository
 */
export function isOfModels(inner: string): boolean {
  return ['schema.json', 'context.jsonld', 'urls.json'].includes(fileNameOf(inner)) || EXAMPLE.test(inner);
}

/** Whether the paths are those of an export. */
export function isOfExport(paths: readonly string[]): boolean {
  if (paths.some((path) => EXPORTED_MODEL.test(path))) return true;
  return (
    paths.some((path) => EXPORTED_CONTEXT.test(path) || EXPORTED_DOMAIN.test(path)) &&
    paths.every((path) => EXPORTED_FILE.test(path))
  );
}
