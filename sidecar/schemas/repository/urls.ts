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
  rootsAmong,
  sameName,
} from './file-paths.js';

/** A file and the absolute URL that it says it has. */
export interface Located {
  readonly path: string;
  readonly url: string;
}

/** Where a part of a repository is published: what is below `folder` is below `base`. */
interface Publication {
  readonly folder: string;
  readonly base: string;
  votes: number;
}

/**
 * What a file has to do with a URL. `own`: the URL is that of the file, or of the file by that name in its repository. `claimed`:
 * nothing but the file says so. `foreign`: the URL is that of a file of another repository.
 */
export type UrlClaim =
  | { readonly kind: 'own' | 'claimed' }
  | { readonly kind: 'foreign'; readonly repository: string };

/**
 * Segments between the name of a repository and the path of a file in URLs of hosts that are not known: a branch, or a view and
 * one.
 */
const MAX_BETWEEN = 2;

/**
 * Finds the files of a repository by the URLs under which they are published. Of well-known code hosts it is known which
 * repository a URL means; where others publish one follows from the `$id`s in it, and how they spell its URLs from its name in
 * them.
 */
export class RepositoryUrls {
  readonly #files: ReadonlySet<string>;
  readonly #publications: readonly Publication[];
  readonly #roots: readonly KnownRepository[];
  /** Lower-case names by which a repository goes, by its folder. */
  readonly #names = new Map<string, ReadonlySet<string>>();
  /** Folders of models of several repositories, side by side: each model is of the one that its own `$id` names. */
  readonly #collected = new Map<string, KnownRepository>();
  /** The files by their `$id`s. */
  readonly #ids: ReadonlyMap<string, readonly Located[]>;
  readonly #idOf = new Map<string, string>();

  /**
   * @param located the files with an absolute `$id`
   * @param archive the name of what holds all files, such as the folder of an archive
   */
  constructor(files: ReadonlySet<string>, located: readonly Located[], archive?: string) {
    this.#files = files;
    this.#ids = Map.groupBy(located, ({ url }) => url);
    const publications = new Map<string, Publication>();
    const roots = new Map<string, Root>();
    const guesses = new Map<string, Root>();
    /** By the folder around them, the repositories that the `$id`s of models name. */
    const collections = new Map<string, Map<string, string>>();
    for (const { path, url } of located) {
      this.#idOf.set(path, url);
      const shared = sharedEnd(path, url);
      if (shared === undefined) continue;
      const { folder, base, name, segments } = shared;
      vote(publications, { folder, base });
      if (name !== undefined) {
        // One name alone may be in common by mistake.
        const here = folder === '' ? archive : nameOfFolder(folder);
        const isSure = segments.length >= 2 || sameName(name, here);
        vote(isSure ? roots : guesses, { folder, name });
        if (isSure && shared.isHosted) {
          const models = collections.get(folder) ?? new Map<string, string>();
          collections.set(folder, models.set(folderOf(path), name));
        }
      }
      if (shared.isHosted) continue;
      const [first, ...others] = segments;
      // A folder of repositories: the repository, the model and its schema.
      if (first !== undefined && others.length >= 2)
        vote(roots, { folder: `${folder}${first}/`, name: first });
    }
    this.#publications = byVotes(publications);
    for (const [folder, models] of collections)
      if (isCollection([...models.values()], folder === '' ? archive : nameOfFolder(folder)))
        for (const [at, name] of models) this.#collected.set(at, { folder, name });
    this.#roots = rootsAmong(files, byVotes(roots), byVotes(guesses), archive);
    for (const { folder, name } of this.#roots) {
      const collected = [...this.#collected.values()].filter((one) => one.folder === folder);
      const here = folder === '' ? archive : nameOfFolder(folder);
      const names = [name, here, ...collected.map((one) => one.name)];
      this.#names.set(folder, new Set(names.flatMap((one) => one?.toLowerCase() ?? [])));
    }
  }

  /** The repository that a file is of, by its name in URLs and its folder here; undefined where nothing says so. */
  repositoryOf(path: string): KnownRepository | undefined {
    const collected = this.#collected.get(folderOf(path));
    if (collected !== undefined) return collected;
    const around = this.#roots.filter(({ folder }) => path.startsWith(folder));
    return around.sort((one, other) => other.folder.length - one.folder.length)[0];
  }

  /** The URL of a file where the repository is published, by what most of its `$id`s say. */
  publishedUrl(path: string): string | undefined {
    const publication = this.#publications.find(({ folder }) => path.startsWith(folder));
    if (publication === undefined) return undefined;
    const below = path.slice(publication.folder.length);
    return documentUri(publication.base + below.split('/').map(encodeURIComponent).join('/'));
  }

  /** The files that a URL may mean, the likeliest first. @param url absolute, without a fragment */
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

  /** What a file has to do with a URL under which it may be stored. */
  claimOf(path: string, url: string): UrlClaim {
    const repository = this.repositoryOf(path);
    const hosted = hostedFile(url);
    if (hosted === undefined) return { kind: this.#isPublishedAt(path, url) ? 'own' : 'claimed' };
    if (repository === undefined) return { kind: 'claimed' };
    const names = this.#names.get(repository.folder);
    const { hostname } = new URL(url);
    // The pages of a user or an organisation are a repository that has the name of their host.
    const isOwn = names?.has(hosted.repository.toLowerCase()) === true || names?.has(hostname) === true;
    const hasName = hosted.path.at(-1) === fileNameOf(path);
    if (isOwn) return { kind: hasName ? 'own' : 'claimed' };
    // A repository that was given another name still says the former one in some of its files.
    const id = this.#idOf.get(path);
    const isItself = id !== undefined && isSameFile(hostedFile(id), hosted);
    if (isItself && path === repository.folder + hosted.path.join('/')) return { kind: 'claimed' };
    return { kind: 'foreign', repository: hosted.repository };
  }

  /** Whether a host that is not known publishes the file at a URL, by what `$id`s say of others as well. */
  #isPublishedAt(path: string, url: string): boolean {
    const shared = sharedEnd(path, url);
    if (shared === undefined) return !/^https?:/.test(url) && this.#idOf.get(path) === url;
    if (shared.segments.length >= 2) return true;
    const [most] = this.#publications.filter(({ folder }) => path.startsWith(folder));
    const name = this.repositoryOf(path)?.name;
    return (
      most === undefined ||
      url.startsWith(most.base) ||
      (name !== undefined && segmentsOf(url).some((segment) => sameName(segment, name)))
    );
  }

  /** The file of a repository that is known by the name that a URL says. */
  #hostedAt({ repository, path }: HostedFile): string | undefined {
    for (const { folder } of this.#roots) {
      if (this.#names.get(folder)?.has(repository.toLowerCase()) !== true) continue;
      const file = folder + path.join('/');
      if (this.#files.has(file)) return file;
    }
    return undefined;
  }

  /** The files whose `$id` is another spelling of a URL. */
  #idsLike(hosted: HostedFile): readonly string[] {
    return [...this.#idOf].flatMap(([path, id]) => (isSameFile(hostedFile(id), hosted) ? [path] : []));
  }

  #byRepositoryName(url: string): readonly string[] {
    const segments = segmentsOf(url);
    for (const { folder, name } of this.#roots) {
      const at = segments.findIndex((segment) => sameName(segment, name));
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
 * Whether models are gathered from several repositories: their `$id`s name several, none of them in most, and none is that of the
 * archive. Where most of them name one, the others are mistakes.
 *
 * @param names of repositories, one for each model
 */
function isCollection(names: readonly string[], archive: string | undefined): boolean {
  const votes = new Map<string, number>();
  for (const name of names) votes.set(name.toLowerCase(), (votes.get(name.toLowerCase()) ?? 0) + 1);
  const isOfArchive = archive !== undefined && votes.has(archive.toLowerCase());
  return votes.size > 1 && !isOfArchive && Math.max(...votes.values()) * 2 <= names.length;
}

/** The longest end that a path and a URL have in common, what is before it in both, and the name of the repository there. */
function sharedEnd(path: string, url: string) {
  if (!/^https?:/.test(url)) return undefined;
  const [inPath, all] = [path.split('/'), segmentsOf(url)];
  const hosted = hostedFile(url);
  // The name of a repository and a branch are no folders of it.
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

/** By their votes, and then as they come. */
function byVotes<Thing extends { readonly votes: number }>(
  votes: ReadonlyMap<string, Thing>,
): readonly Thing[] {
  return [...votes.values()].sort((one, other) => other.votes - one.votes);
}

/** An absolute URI in its normal form where a text is one that documents can be stored under; never with credentials. */
export function storableUri(text: string): string | undefined {
  const uri = documentUri(text.split('#', 1)[0] ?? '');
  if (uri === undefined || !/^(?:https?|urn):/.test(uri)) return undefined;
  const { username, password } = new URL(uri);
  return username === '' && password === '' ? uri : undefined;
}

/** The URL that a name within a document means; undefined where the name is not a URI reference. */
export function targetOf(
  { target, within }: { readonly target: string; readonly within: readonly string[] },
  documentUrl: string,
): string | undefined {
  let base = documentUrl;
  for (const id of within) base = resolveUri(id, base)?.uri ?? base;
  return resolveUri(target, base)?.uri;
}
