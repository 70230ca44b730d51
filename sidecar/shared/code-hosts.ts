/** A file in a repository of a code host, independent of the URL that was used. */
export interface HostedFile {
  /** The host where the repository can be browsed. */
  readonly host: string;
  /** A user, an organisation, or the groups that contain the repository. */
  readonly owner: string;
  readonly repository: string;
  /** A branch, tag or commit; undefined for the default branch. */
  readonly revision: string | undefined;
  /** Relative to the root of the repository; not empty. */
  readonly path: readonly string[];
}

/** What follows the name of a repository in URLs of files, before the branch, tag or commit. */
const VIEWS = new Set(['blob', 'tree', 'raw', 'src', 'media', 'edit', 'blame']);

/** Hosts whose URLs are `/<owner>/<repository>/<revision>/<path>`. */
const RAW_HOSTS = new Set([
  'raw.githubusercontent.com',
  'raw.github.com',
  'rawgit.com',
  'cdn.rawgit.com',
  'rawgithub.com',
  'raw.githack.com',
  'rawcdn.githack.com',
]);

/** Hosts whose URLs are `/<owner>/<repository>/<view>/<revision>/<path>`. */
const BROWSED_HOSTS = new Set([
  'github.com',
  'www.github.com',
  'gitlab.com',
  'bitbucket.org',
  'codeberg.org',
  'gitea.com',
]);

/** Hosts of pages, with URLs like `/<repository>/<path>`; GitHub used to have them below github.com. */
const PAGES = /^(?!(?:api|gist|raw|www)\.)([^.]+)\.(github\.(?:io|com)|gitlab\.io|codeberg\.page)$/;

/** The hosts of the repositories that pages come from. */
const HOSTS_OF_PAGES = new Map([
  ['gitlab.io', 'gitlab.com'],
  ['codeberg.page', 'codeberg.org'],
]);

const GITHUB = 'github.com';

/** CDNs, with URLs like `/gh/<owner>/<repository>@<revision>/<path>`, or with the revision after a slash. */
const CDN_HOSTS = new Set(['cdn.jsdelivr.net', 'cdn.statically.io']);

/**
 * Returns the repository and the file that a URL of a well-known code host refers to.
 *
 * @returns undefined for a URL of any other host, or if it does not refer to a file
 */
export function hostedFile(url: string): HostedFile | undefined {
  const { hostname } = new URL(url);
  const segments = segmentsOf(url);
  const [first = '', second = '', third = ''] = segments;
  const pages = PAGES.exec(hostname);
  // In the pages of a user, a schema.json directly below a name is that of a model, not a file of a repository.
  if (pages !== null && !(segments.length === 2 && second === 'schema.json')) {
    const host = HOSTS_OF_PAGES.get(pages[2] ?? '') ?? GITHUB;
    return fileIn({ host, owner: pages[1] ?? '', repository: first, ...onDefaultBranch(segments.slice(1)) });
  }
  if (RAW_HOSTS.has(hostname))
    return fileIn({
      host: GITHUB,
      owner: first,
      repository: second,
      ...splitRevision(segments.slice(2)),
    });
  if (CDN_HOSTS.has(hostname) && first === 'gh') {
    const [repository = '', revision] = third.split('@', 2);
    const hasSeparateRevision = hostname === 'cdn.statically.io' && revision === undefined;
    const rest = hasSeparateRevision
      ? splitRevision(segments.slice(3))
      : { revision: unlessDefaultBranch(revision), path: segments.slice(3) };
    return fileIn({ host: GITHUB, owner: second, repository, ...rest });
  }
  const dash = segments.indexOf('-');
  // GitLab, including self-hosted instances; groups may be nested.
  if (dash >= 2 && VIEWS.has(segments[dash + 1] ?? ''))
    return fileIn({
      host: hostname,
      owner: segments.slice(0, dash - 1).join('/'),
      repository: segments[dash - 1] ?? '',
      ...splitRevision(segments.slice(dash + 2)),
    });
  if (BROWSED_HOSTS.has(hostname))
    return fileIn({
      host: hostname.replace(/^www\./, ''),
      owner: first,
      repository: second,
      ...splitView(segments.slice(2)),
    });
  return undefined;
}

function fileIn(file: HostedFile): HostedFile | undefined {
  const { repository, path } = file;
  return repository !== '' && path.length > 0 && path.at(-1) !== '' ? file : undefined;
}

type InRepository = Pick<HostedFile, 'revision' | 'path'>;

function onDefaultBranch(path: readonly string[]): InRepository {
  return { revision: undefined, path };
}

function splitView(segments: readonly string[]): InRepository {
  return VIEWS.has(segments[0] ?? '') ? splitRevision(segments.slice(1)) : onDefaultBranch(segments);
}

/** Splits off the revision: `main`, `refs/heads/main`, `refs/tags/v1` or, in Gitea, `branch/main`. */
function splitRevision(segments: readonly string[]): InRepository {
  const [first = '', second = '', third] = segments;
  if (first === 'refs' && second === 'heads')
    return { revision: unlessDefaultBranch(third), path: segments.slice(3) };
  if (first === 'refs' && second === 'tags') return { revision: third, path: segments.slice(3) };
  const isGitea = segments.length > 2 && (first === 'branch' || first === 'tag' || first === 'commit');
  if (!isGitea) return { revision: unlessDefaultBranch(first), path: segments.slice(1) };
  return { revision: first === 'branch' ? unlessDefaultBranch(second) : second, path: segments.slice(2) };
}

const DEFAULT_BRANCHES = new Set(['main', 'master', 'HEAD']);

function unlessDefaultBranch(revision: string | undefined): string | undefined {
  return DEFAULT_BRANCHES.has(revision ?? '') ? undefined : revision;
}

/**
 * Returns the same key for all URLs of one file in one repository, on the default branch or on one other branch, tag or
 * commit. The same file of another owner has another key, even in a fork.
 *
 * @returns undefined for URLs of unknown hosts, and for those with a query, a port or credentials
 */
export function fileKey(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null) return undefined;
  const { search, port, username, password } = parsed;
  const file = search + port + username + password === '' ? hostedFile(url) : undefined;
  if (file === undefined || file.owner === '') return undefined;
  const { host, owner, repository, revision = '', path } = file;
  return JSON.stringify([host, owner.toLowerCase(), repository.toLowerCase(), revision, ...path]);
}

/**
 * Whether two files have the same path in repositories of the same name, whatever the owner and revision: forks and
 * their branches have the same files. Repository names are compared without regard to case.
 */
export function isSameFile(one: HostedFile | undefined, other: HostedFile | undefined): boolean {
  return (
    one !== undefined &&
    other !== undefined &&
    one.repository.toLowerCase() === other.repository.toLowerCase() &&
    one.path.join('/') === other.path.join('/')
  );
}

/** What looks like a revision: common branch names, versions, and commits. */
const REVISION = /^(?:main|master|develop|trunk|HEAD|v?\d+(?:\.\d+)*|[0-9a-f]{40})$/;

/**
 * Removes the segments of a revision from the end of the segments before a path, for URLs of unknown hosts. The result
 * ends with the name of the repository, if there is one.
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

/** Returns the decoded segments of the path of a URL. */
export function segmentsOf(url: string): readonly string[] {
  return new URL(url).pathname.split('/').slice(1).map(decoded);
}

/** Decodes percent-encoding; returns the text unchanged if the encoding is malformed. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
