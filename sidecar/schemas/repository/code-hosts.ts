/** A file in a repository of a code host, whichever of its URLs names it. */
export interface HostedFile {
  /** Without its owner: a fork has the same files. */
  readonly repository: string;
  /** Below the root of the repository; not empty. */
  readonly path: readonly string[];
}

/** What follows the name of a repository in URLs of its files, before the branch, the tag or the commit. */
const VIEWS = new Set(['blob', 'tree', 'raw', 'src', 'media', 'edit', 'blame']);

/** Hosts whose URLs are `/<owner>/<repository>/<revision>/<path>`. */
const RAW_HOSTS = new Set([
  ...['raw.githubusercontent.com', 'raw.github.com', 'rawgit.com', 'cdn.rawgit.com', 'rawgithub.com'],
  ...['raw.githack.com', 'rawcdn.githack.com'],
]);

/** Hosts whose URLs are `/<owner>/<repository>/<view>/<revision>/<path>`. */
const BROWSED_HOSTS = new Set([
  ...['github.com', 'www.github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org', 'gitea.com'],
]);

/** Hosts of pages, whose URLs are `/<repository>/<path>`; GitHub had them below github.com at first. */
const PAGES = /^(?!(?:api|gist|raw|www)\.)[^.]+\.(?:github\.(?:io|com)|gitlab\.io|codeberg\.page)$/;

/** Hosts of copies, whose URLs are `/gh/<owner>/<repository>@<revision>/<path>`, or with the revision behind a slash. */
const COPIES = new Set(['cdn.jsdelivr.net', 'cdn.statically.io']);

/**
 * The repository and the file that a URL of a well-known code host means. The revision in it says which state of the file is
 * meant, and is no part of the answer.
 *
 * @returns undefined for a URL of any other host, or of something that is not a file
 */
export function hostedFile(url: string): HostedFile | undefined {
  const { hostname } = new URL(url);
  const segments = segmentsOf(url);
  // A schema.json right below a name is that of a model, in the pages of a user.
  if (PAGES.test(hostname) && !(segments.length === 2 && segments[1] === 'schema.json'))
    return fileIn(segments[0], segments.slice(1));
  if (RAW_HOSTS.has(hostname)) return fileIn(segments[1], behindRevision(segments.slice(2)));
  if (COPIES.has(hostname) && segments[0] === 'gh') {
    const [repository, revision] = segments[2]?.split('@', 2) ?? [];
    const isApart = hostname === 'cdn.statically.io' && revision === undefined;
    return fileIn(repository, segments.slice(isApart ? 4 : 3));
  }
  const dash = segments.indexOf('-');
  // GitLab, also on hosts of its users; there are groups within groups.
  if (dash >= 2 && VIEWS.has(segments[dash + 1] ?? ''))
    return fileIn(segments[dash - 1], behindRevision(segments.slice(dash + 2)));
  if (BROWSED_HOSTS.has(hostname)) return fileIn(segments[1], behindView(segments.slice(2)));
  return undefined;
}

function fileIn(repository: string | undefined, path: readonly string[]): HostedFile | undefined {
  const isFile = repository !== undefined && repository !== '' && path.length > 0 && path.at(-1) !== '';
  return isFile ? { repository, path } : undefined;
}

function behindView(segments: readonly string[]): readonly string[] {
  return VIEWS.has(segments[0] ?? '') ? behindRevision(segments.slice(1)) : segments;
}

/** `main`, `refs/heads/main`, `refs/tags/v1` and, as Gitea has it, `branch/main`. */
function behindRevision(segments: readonly string[]): readonly string[] {
  const [first, second] = segments;
  if (first === 'refs' && (second === 'heads' || second === 'tags')) return segments.slice(3);
  const isGitea = segments.length > 2 && (first === 'branch' || first === 'tag' || first === 'commit');
  return segments.slice(isGitea ? 2 : 1);
}

/** Whether two URLs name one file of one repository; the names of repositories are the same in any case of letters. */
export function isSameFile(one: HostedFile | undefined, other: HostedFile | undefined): boolean {
  return (
    one !== undefined &&
    other !== undefined &&
    one.repository.toLowerCase() === other.repository.toLowerCase() &&
    one.path.join('/') === other.path.join('/')
  );
}

/** What is a revision by its looks: names that branches commonly have, versions, and commits. */
const REVISION = /^(?:main|master|develop|trunk|HEAD|v?\d+(?:\.\d+)*|[0-9a-f]{40})$/;

/**
 * The segments before a path in the URL of a host that is not known, without those of a revision at their end: what is left ends
 * with the name of the repository, where there is one.
 */
export function withoutRevision(segments: readonly string[]): readonly string[] {
  const view = segments.findLastIndex((segment) => VIEWS.has(segment));
  const refs = segments.findLastIndex((segment, at) => {
    return segment === 'refs' && /^(?:heads|tags)$/.test(segments[at + 1] ?? '');
  });
  const [last = ''] = segments.slice(-1);
  let left = segments;
  if (refs > 0) left = segments.slice(0, refs);
  else if (view > 0 && view >= segments.length - 2) left = segments.slice(0, view);
  else if (segments.length > 1 && REVISION.test(last)) left = segments.slice(0, -1);
  return left.length < segments.length ? withoutRevision(left) : left;
}

/** The decoded segments of the path of a URL. */
export function segmentsOf(url: string): readonly string[] {
  return new URL(url).pathname.split('/').slice(1).map(decoded);
}

/** A text without percent-encoding; as it is where that is broken. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
