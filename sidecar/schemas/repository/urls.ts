import { documentUri, resolveUri } from '../json-schema/uri.js';
import { fileNameOf } from './file-paths.js';

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

/** A folder that is a repository of its own elsewhere, by its name there. */
interface Root {
  readonly folder: string;
  readonly name: string;
  votes: number;
}

/** Segments between the name of a repository and the path of a file in URLs of code hosts: a branch, or `blob/<branch>`. */
const MAX_BETWEEN = 2;

/**
 * Finds the files of a repository by the URLs under which they are published. No host is known beforehand: where a repository is
 * published follows from the `$id`s in it, and how others spell its URLs from its name in them.
 */
export class RepositoryUrls {
  readonly #files: ReadonlySet<string>;
  readonly #publications: readonly Publication[];
  readonly #roots: readonly Root[];
  readonly #ids = new Map<string, string[]>();

  /** @param located the files with an absolute `$id` */
  constructor(files: ReadonlySet<string>, located: readonly Located[]) {
    this.#files = files;
    const publications = new Map<string, Publication>();
    const roots = new Map<string, Root>();
    for (const { path, url } of located) {
      const known = this.#ids.get(url);
      if (known === undefined) this.#ids.set(url, [path]);
      else known.push(path);
      const shared = sharedEnd(path, url);
      if (shared === undefined) continue;
      vote(publications, { folder: shared.folder, base: shared.base });
      // One name alone may be in common by mistake.
      const isSure = shared.folder === '' || shared.segments.length >= 2;
      if (isSure && shared.name !== undefined) vote(roots, { folder: shared.folder, name: shared.name });
      const [first, ...others] = shared.segments;
      // A folder of repositories: the repository, the model and its schema.
      if (first !== undefined && others.length >= 2)
        vote(roots, { folder: `${shared.folder}${first}/`, name: first });
    }
    this.#publications = byVotes(publications);
    // Some `$id`s are mistakes: of the names that a folder may have, the one that most of them give is believed.
    const all = byVotes(roots);
    this.#roots = all.filter((root) => root === all.find(({ folder }) => folder === root.folder));
  }

  /** The repository that a file is of, by its name in URLs and its folder here; undefined where no `$id` says so. */
  repositoryOf(path: string): { readonly folder: string; readonly name: string } | undefined {
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
    const named = this.#ids.get(url) ?? [];
    const name = decoded(fileNameOf(new URL(url).pathname));
    const byName = named.filter((path) => fileNameOf(path) === name);
    if (byName.length > 0) return byName;
    if (named.length > 0) return named;
    for (const { folder, base } of this.#publications) {
      if (!url.startsWith(base)) continue;
      const path = folder + decoded(url.slice(base.length));
      if (this.#files.has(path)) return [path];
    }
    return this.#byRepositoryName(url);
  }

  #byRepositoryName(url: string): readonly string[] {
    const segments = segmentsOf(url);
    for (const { folder, name } of this.#roots) {
      const at = segments.findIndex((segment) => segment.toLowerCase() === name.toLowerCase());
      if (at === -1) continue;
      for (let between = 0; between <= MAX_BETWEEN; between += 1) {
        const path = folder + segments.slice(at + 1 + between).join('/');
        if (this.#files.has(path)) return [path];
      }
    }
    return [];
  }
}

/** The longest end that a path and a URL have in common, and what is before it in both. */
function sharedEnd(path: string, url: string) {
  const [inPath, inUrl] = [path.split('/'), segmentsOf(url)];
  let count = 0;
  while (count < inPath.length && count < inUrl.length && inPath.at(-1 - count) === inUrl.at(-1 - count))
    count += 1;
  if (count === 0) return undefined;
  const before = inUrl.slice(0, inUrl.length - count);
  const folders = inPath.slice(0, inPath.length - count);
  const { origin, protocol } = new URL(url);
  if (!/^https?:$/.test(protocol)) return undefined;
  return {
    folder: folders.map((segment) => `${segment}/`).join(''),
    base: `${origin}/${before.map((segment) => `${encodeURIComponent(segment)}/`).join('')}`,
    segments: inPath.slice(inPath.length - count),
    name: before.at(-1),
  };
}

function segmentsOf(url: string): readonly string[] {
  return new URL(url).pathname.split('/').slice(1).map(decoded);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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
