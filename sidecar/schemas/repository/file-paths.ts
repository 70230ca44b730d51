import { isResourceName } from '../../shared/resource-name.js';

/** Maximum length of a path in bytes (UTF-8), and maximum depth of folders. */
const MAX_PATH_BYTES = 1024;
const MAX_DEPTH = 32;

/** A path below the root of a repository, or why it is invalid. */
type PathReading = { readonly path: string } | { readonly fault: string };

/**
 * Validates the name of a file in an archive or a form. Nothing is ever written to disk, but a name that would lead out
 * of its folder elsewhere is refused here as well.
 *
 * @param name with `/` between folders; a leading `./` and a trailing `/` are removed
 */
export function readPath(name: string): PathReading {
  if (Buffer.byteLength(name) > MAX_PATH_BYTES)
    return { fault: `its path is longer than ${MAX_PATH_BYTES} bytes` };
  const path = name.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
  if (path === '' || path === '.') return { path: '' };

  if (/[\u0000-\u001f\u007f]/.test(path)) return { fault: 'its path has control characters' };
  if (path.includes('\ufffd')) return { fault: 'its path is not valid UTF-8' };
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return { fault: 'its path is absolute' };
  if (path.includes('\\')) return { fault: 'its path has a backslash' };
  const segments = path.split('/');
  if (segments.includes('..')) return { fault: 'its path leads out of the repository (..)' };
  if (segments.some((segment) => segment === '' || segment === '.'))
    return { fault: 'its path has an empty segment or one that is a dot' };
  if (segments.length - 1 > MAX_DEPTH) return { fault: `it is more than ${MAX_DEPTH} folders deep` };
  return { path };
}

/** Returns the folder of a path with a trailing `/`, or '' for the root. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** The last segment of a path or URL. */
export function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Whether the name of a document is a URL rather than a path. */
export function isUrl(path: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(path);
}

/** Folders of tools and operating systems, which are not part of a repository of models. */
const TOOL_FOLDERS = new Set(['node_modules', '__MACOSX']);

/**
 * Whether an import considers a folder or file at all; names that begin with a dot belong to tools.
 *
 * @param path below the root of the upload, or below the only folder in it
 */
export function isRelevantPath(path: string): boolean {
  return !path.split('/').some((segment) => segment.startsWith('.') || TOOL_FOLDERS.has(segment));
}

/** Matches settings of tools that are JSON with comments, such as `tsconfig.json` and `tsconfig.build.json`. */
const TOOL_SETTINGS = /(?:^|\/)[jt]sconfig(?:\.[^/]+)?\.json$/;

/** Whether an import reads a file: one that is JSON by name and does not belong to a tool. */
export function isRead(path: string): boolean {
  return /\.(?:json|jsonld)$/i.test(path) && !TOOL_SETTINGS.test(path) && isRelevantPath(path);
}

/** A repository among the files, to which everything below the folder belongs. */
export interface KnownRepository {
  readonly folder: string;
  /** Its name where it is published. */
  readonly name: string;
}

/** What some `$id`s indicate to be a repository. */
export interface Root extends KnownRepository {
  votes: number;
}

/**
 * Determines the repositories among the files, from what most `$id`s indicate for a folder. If they indicate this for
 * one of several top-level folders, and not more often for all of them together, the others are repositories as well,
 * under their own names. Otherwise everything belongs to one repository, that of the archive.
 */
export function repositoryRoots(
  files: ReadonlySet<string>,
  said: readonly Root[],
  guessed: readonly Root[],
  archive: string | undefined,
): readonly KnownRepository[] {
  // Some `$id`s are mistakes, so of several possible names for a folder, the most frequent one is used.
  const roots = new Map<string, KnownRepository>();
  const believed = [...said, ...guessed.filter(({ votes }) => votes > 1)];
  for (const { folder, name } of believed) if (!roots.has(folder)) roots.set(folder, { folder, name });
  const tops = new Set(
    [...files].filter((path) => !isUrl(path)).map((path) => path.slice(0, path.indexOf('/') + 1)),
  );
  const votesOf = (isMeant: (folder: string) => boolean) =>
    believed.reduce((sum, { folder, votes }) => sum + (isMeant(folder) ? votes : 0), 0);
  const votes = votesOf((folder) => tops.has(folder));
  const areRepositories =
    tops.size > 1 && !tops.has('') && votes > 0 && votes >= votesOf((folder) => folder === '');
  for (const folder of areRepositories ? tops : []) {
    const name = nameOfFolder(folder);
    if (name !== undefined && !roots.has(folder)) roots.set(folder, { folder, name });
  }
  if (!areRepositories && archive !== undefined && !roots.has(''))
    roots.set('', { folder: '', name: archive });
  const guess = guessed.find(({ folder }) => folder === '');
  if (guess !== undefined && !roots.has('')) roots.set('', { folder: '', name: guess.name });
  return [...roots.values()];
}

/**
 * What code hosts append to a repository's name in archives: a branch or version (GitLab adds the commit), or a commit.
 */
const ARCHIVED_REVISION = /-(?:(?:main|master|develop|v?\d+(?:\.\d+)*)(?:-[0-9a-f]{40})?|[0-9a-f]{7,40})$/;

/**
 * Derives the name of a repository from that of its folder; undefined if the result is not a valid name.
 *
 * @param folder with a trailing `/`, or ''
 */
export function nameOfFolder(folder: string): string | undefined {
  const name = fileNameOf(folder.slice(0, -1)).replace(ARCHIVED_REVISION, '');
  return isResourceName(name) ? name : undefined;
}

/** Whether two names refer to the same repository; code hosts ignore case. */
export function isSameRepository(one: string, other: string | undefined): boolean {
  return other !== undefined && one.toLowerCase() === other.toLowerCase();
}
