import { isResourceName } from '../../shared/resource-name.js';
import { fileNameOf, isUrl } from './file-paths.js';

/** A folder that is a repository of its own elsewhere, by its name there. */
export interface Root {
  readonly folder: string;
  readonly name: string;
  votes: number;
}

/** A repository among the files: what is below the folder is its own. */
export interface KnownRepository {
  readonly folder: string;
  readonly name: string;
}

/**
 * The repositories among the files: what most `$id`s say of a folder. Where they say it of a folder among others at the top,
 * those are repositories as well, by their own names; else everything is in one, that of the archive.
 */
export function rootsAmong(
  files: ReadonlySet<string>,
  said: readonly Root[],
  guessed: readonly Root[],
  archive: string | undefined,
): readonly KnownRepository[] {
  // Some `$id`s are mistakes: of the names that a folder may have, the one that most of them give is believed.
  const roots = new Map<string, KnownRepository>();
  const believed = [...said, ...guessed.filter(({ votes }) => votes > 1)];
  for (const { folder, name } of believed) if (!roots.has(folder)) roots.set(folder, { folder, name });
  const tops = new Set(
    [...files].filter((path) => !isUrl(path)).map((path) => path.slice(0, path.indexOf('/') + 1)),
  );
  const areRepositories = tops.size > 1 && !tops.has('') && [...tops].some((top) => roots.has(top));
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

/** What archives of code hosts put behind the name of a repository: a branch, a version or a commit. */
const ARCHIVED_REVISION = /-(?:main|master|develop|v?\d+(?:\.\d+)*|[0-9a-f]{7,40})$/;

/** The name of a repository by that of its folder; undefined where it can be none. @param folder with its `/`, or '' */
export function nameOfFolder(folder: string): string | undefined {
  const name = fileNameOf(folder.slice(0, -1)).replace(ARCHIVED_REVISION, '');
  return isResourceName(name) ? name : undefined;
}

/** Whether two names of repositories are the same; case does not matter to code hosts. */
export function sameName(one: string, other: string | undefined): boolean {
  return other !== undefined && one.toLowerCase() === other.toLowerCase();
}
