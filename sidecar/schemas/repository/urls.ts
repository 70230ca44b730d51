import { documentUri, resolveUri } from '../json-schema/uri.js';
import {
  decoded,
  hostedFile,
  type HostedFile,
  isSameFile,
  segmentsOf,
  withoutRevision,
} from '../../shared/code-hosts.js';
import {
  fileNameOf,
  folderOf,
  type KnownRepository,
  nameOfFolder,
  type Root,
  repositoryRoots,
  isSameRepository,
} from './file-paths.js';

/** A file with the absolute URL that it claims to have. */
export interface FileWithUrl {
  readonly path: string;
  readonly url: string;
}

/** Where a part of a repository is published: everything below `folder` is published below `base`. */
interface Publication {
  readonly folder: string;
  readonly base: string;
  votes: number;
}

/**
 * The relation between a file and a URL. `own`: the URL belongs to the file, or to the file of that name in its
 * repository. `claimed`: only the file itself says so. `foreign`: the URL belongs to a file of another repository.
 */
export type UrlClaim =
  | { readonly kind: 'own' | 'claimed' }
  | { readonly kind: 'foreign'; readonly repository: string };

/**
 * Maximum number of segments between the name of a repository and the path of a file in URLs of unknown hosts: a
 * branch, or a view and a branch.
 */
const MAX_BETWEEN = 2;

/**
 * Finds the files of a repository by the URLs under which they are published. For well-known code hosts, the URL
 * determines the repository. For other hosts, the place of publication follows from the `$id`s in the repository, and
 * the spelling of its URLs from the position of its name in them.
 */
export class RepositoryUrls {
  readonly #files: ReadonlySet<string>;
  readonly #publications: readonly Publication[];
  readonly #roots: readonly KnownRepository[];
  /** Lower-case names of each repository, by folder. */
  readonly #names = new Map<string, ReadonlySet<string>>();
  /**
   * Folders of models from several repositories, side by side. Each model belongs to the repository named in its own
   * `$id`.
   */
  readonly #collected = new Map<string, KnownRepository>();
  /** The files by `$id`. */
  readonly #ids: ReadonlyMap<string, readonly FileWithUrl[]>;
  readonly #idOf = new Map<string, string>();

  /**
   * @param located the files with an absolute `$id`
   * @param archive the name of the container of all files, such as the folder of an archive
   */
  constructor(files: ReadonlySet<string>, located: readonly FileWithUrl[], archive?: string) {
    this.#files = files;
    this.#ids = Map.groupBy(located, ({ url }) => url);
    const publications = new Map<string, Publication>();
    const roots = new Map<string, Root>();
    const guesses = new Map<string, Root>();
    /** The repositories named in the `$id`s of models, by the folder around the models. */
    const collections = new Map<string, Map<string, string>>();
    for (const { path, url } of located) {
      this.#idOf.set(path, url);
      const shared = commonSuffix(path, url);
      if (shared === undefined) continue;
      const { folder, base, name, segments } = shared;
      vote(publications, { folder, base });
      if (name !== undefined) {
        // A single common segment may be a coincidence.
        const here = folder === '' ? archive : nameOfFolder(folder);
        const isSure = segments.length >= 2 || isSameRepository(name, here);
        vote(isSure ? roots : guesses, { folder, name });
        if (isSure && shared.isHosted) {
          const models = collections.get(folder) ?? new Map<string, string>();
          collections.set(folder, models.set(folderOf(path), name));
        }
      }
      if (shared.isHosted) continue;
      const [first, ...others] = segments;
      // A folder of repositories, with repository, model and schema below each other.
      if (first !== undefined && others.length >= 2)
        vote(roots, { folder: `${folder}${first}/`, name: first });
    }
    this.#publications = byVotes(publications);
    for (const [folder, models] of collections)
      if (isCollection([...models.values()], folder === '' ? archive : nameOfFolder(folder)))
        for (const [at, name] of models) this.#collected.set(at, { folder, name });
    this.#roots = repositoryRoots(files, byVotes(roots), byVotes(guesses), archive);
    for (const { folder, name } of this.#roots) {
      const collected = [...this.#collected.values()].filter((one) => one.folder === folder);
      const here = folder === '' ? archive : nameOfFolder(folder);
      const names = [name, here, ...collected.map((one) => one.name)];
      this.#names.set(folder, new Set(names.flatMap((one) => one?.toLowerCase() ?? [])));
    }
  }

  /**
   * Returns the repository to which a file belongs, with its name in URLs and its folder here; undefined if it is
   * unknown.
   */
  repositoryOf(path: string): KnownRepository | undefined {
    const collected = this.#collected.get(folderOf(path));
    if (collected !== undefined) return collected;
    const around = this.#roots.filter(({ folder }) => path.startsWith(folder));
    return around.sort((one, other) => other.folder.length - one.folder.length)[0];
  }

  /** Returns the URL under which a file is published, according to most of the repository's `$id`s. */
  publishedUrl(path: string): string | undefined {
    const publication = this.#publications.find(({ folder }) => path.startsWith(folder));
    if (publication === undefined) return undefined;
    const below = path.slice(publication.folder.length);
    return documentUri(publication.base + below.split('/').map(encodeURIComponent).join('/'));
  }

  /** Returns the files that a URL may mean, the most likely first. @param url absolute, without a fragment */
  filesAt(url: string): readonly string[] {
    const hosted = hostedFile(url);
    if (hosted !== undefined) {
      const found = this.#hostedAt(hosted);
      if (found !== undefined) return [found];
    }
    const named = (this.#ids.get(url) ?? []).map(({ path }) => path);
    const name = decoded(fileNameOf(new URL(url).pathname));
    const byName = named.filter((path) => fileNameOf(path) === name);
    if (byName.length > 0) return byName;
    if (named.length > 0) return named;
    const alike = hosted === undefined ? [] : this.#idsLike(hosted);
    if (alike.length > 0) return alike;
    for (const { folder, base } of this.#publications) {
      if (!url.startsWith(base)) continue;
      const path = folder + decoded(url.slice(base.length));
      if (this.#files.has(path) && this.claimOf(path, url).kind !== 'foreign') return [path];
    }
    return hosted === undefined ? this.#byRepositoryName(url) : [];
  }

  /** Determines the relation between a file and a URL under which it may be stored. */
  claimOf(path: string, url: string): UrlClaim {
    const repository = this.repositoryOf(path);
    const hosted = hostedFile(url);
    if (hosted === undefined) return { kind: this.#isPublishedAt(path, url) ? 'own' : 'claimed' };
    if (repository === undefined) return { kind: 'claimed' };
    const names = this.#names.get(repository.folder);
    const { hostname } = new URL(url);
    // The pages of a user or an organisation are a repository named like their host.
    const isOwn = names?.has(hosted.repository.toLowerCase()) === true || names?.has(hostname) === true;
    const hasName = hosted.path.at(-1) === fileNameOf(path);
    if (isOwn) return { kind: hasName ? 'own' : 'claimed' };
    // A folder named like another repository is still part of the one around it.
    if (this.#hostedAt(hosted) === path) return { kind: 'own' };
    // A repository that was renamed still has its former name in some of its files.
    const id = this.#idOf.get(path);
    const isItself = id !== undefined && isSameFile(hostedFile(id), hosted);
    if (isItself && path === repository.folder + hosted.path.join('/')) return { kind: 'claimed' };
    return { kind: 'foreign', repository: hosted.repository };
  }

  /** Whether an unknown host publishes the file at a URL, judging by the `$id`s of other files as well. */
  #isPublishedAt(path: string, url: string): boolean {
    const shared = commonSuffix(path, url);
    if (shared === undefined) return !/^https?:/.test(url) && this.#idOf.get(path) === url;
    if (shared.segments.length >= 2) return true;
    const [most] = this.#publications.filter(({ folder }) => path.startsWith(folder));
    const name = this.repositoryOf(path)?.name;
    return (
      most === undefined ||
      url.startsWith(most.base) ||
      (name !== undefined && segmentsOf(url).some((segment) => isSameRepository(segment, name)))
    );
  }

  /** Returns the file of a known repository that has the name in a URL. */
  #hostedAt({ repository, path }: HostedFile): string | undefined {
    for (const { folder } of this.#roots) {
      if (this.#names.get(folder)?.has(repository.toLowerCase()) !== true) continue;
      const file = folder + path.join('/');
      if (this.#files.has(file)) return file;
    }
    return undefined;
  }

  /** Returns the files whose `$id` is another spelling of a URL. */
  #idsLike(hosted: HostedFile): readonly string[] {
    return [...this.#idOf].flatMap(([path, id]) => (isSameFile(hostedFile(id), hosted) ? [path] : []));
  }

  #byRepositoryName(url: string): readonly string[] {
    const segments = segmentsOf(url);
    for (const { folder, name } of this.#roots) {
      const at = segments.findIndex((segment) => isSameRepository(segment, name));
      if (at === -1) continue;
      for (let between = 0; between <= MAX_BETWEEN; between += 1) {
        const path = folder + segments.slice(at + 1 + between).join('/');
        if (this.#files.has(path)) return [path];
      }
    }
    return [];
  }
}

/**
 * Whether models were collected from several repositories: their `$id`s name several, none of which has the majority or
 * is that of the archive. If most of them name the same one, the others are mistakes.
 *
 * @param names the repository of each model
 */
function isCollection(names: readonly string[], archive: string | undefined): boolean {
  const votes = new Map<string, number>();
  for (const name of names) votes.set(name.toLowerCase(), (votes.get(name.toLowerCase()) ?? 0) + 1);
  const isOfArchive = archive !== undefined && votes.has(archive.toLowerCase());
  return votes.size > 1 && !isOfArchive && Math.max(...votes.values()) * 2 <= names.length;
}

/**
 * Returns the longest common end of a path and a URL, what precedes it in both, and the name of the repository in the
 * URL.
 */
function commonSuffix(path: string, url: string) {
  if (!/^https?:/.test(url)) return undefined;
  const [inPath, all] = [path.split('/'), segmentsOf(url)];
  const hosted = hostedFile(url);
  // The name of the repository and the branch are not folders in it.
  const inUrl = hosted?.path ?? all;
  let count = 0;
  while (count < inPath.length && count < inUrl.length && inPath.at(-1 - count) === inUrl.at(-1 - count))
    count += 1;
  if (count === 0) return undefined;
  const before = all.slice(0, all.length - count);
  const folders = inPath.slice(0, inPath.length - count);
  return {
    folder: folders.map((segment) => `${segment}/`).join(''),
    base: `${new URL(url).origin}/${before.map((segment) => `${encodeURIComponent(segment)}/`).join('')}`,
    segments: inPath.slice(inPath.length - count),
    isHosted: hosted !== undefined,
    name: hosted === undefined ? withoutRevision(before).at(-1) : hosted.repository,
  };
}

function vote<Thing extends object>(votes: Map<string, Thing & { votes: number }>, thing: Thing): void {
  const key = JSON.stringify(thing);
  const known = votes.get(key);
  if (known === undefined) votes.set(key, { ...thing, votes: 1 });
  else known.votes += 1;
}

/**
 * Sorts by number of votes. If folders have as many, outer ones come first: those further in are copies, such as of an
 * earlier release.
 */
function byVotes<Thing extends { readonly folder: string; readonly votes: number }>(
  votes: ReadonlyMap<string, Thing>,
): readonly Thing[] {
  return [...votes.values()].sort(
    (one, other) => other.votes - one.votes || one.folder.length - other.folder.length,
  );
}

/**
 * Returns the normal form of a URI if documents can be stored under it, never with credentials; undefined otherwise.
 */
export function storableUri(text: string): string | undefined {
  const uri = documentUri(text.split('#', 1)[0] ?? '');
  if (uri === undefined || !/^(?:https?|urn):/.test(uri)) return undefined;
  const { username, password } = new URL(uri);
  return username === '' && password === '' ? uri : undefined;
}

/** Returns the URL that a name within a document means; undefined if the name is not a URI reference. */
export function targetOf(
  { target, within }: { readonly target: string; readonly within: readonly string[] },
  documentUrl: string,
): string | undefined {
  let base = documentUrl;
  for (const id of within) base = resolveUri(id, base)?.uri ?? base;
  return resolveUri(target, base)?.uri;
}
