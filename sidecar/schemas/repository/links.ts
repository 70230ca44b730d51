import { byPath, type RefusedFile } from './collector.js';
import type { DocumentFacts } from './describe.js';
import { decoded } from '../../shared/code-hosts.js';
import { isRelative } from './context-names.js';
import { fileNameOf, folderOf } from './file-paths.js';
import type { DescribedFile, PlannedDocument } from './import-plan.js';
import { type FileWithUrl, RepositoryUrls, type UrlClaim, storableUri, targetOf } from './urls.js';
import { documentUri } from '../json-schema/uri.js';

export interface LinkInput {
  readonly files: readonly DescribedFile[];
  /** URLs assigned to documents from outside; they take precedence over what a document says about itself. */
  readonly explicit: readonly FileWithUrl[];
  /** The domain for the whole import, if one is named. */
  readonly domain?: string | undefined;
  /** The name of the archive or folder that contains everything. */
  readonly archive?: string | undefined;
  /** Whether documents with assigned URLs have no others, as in an export. */
  readonly isExplicitAll?: boolean;
  /** Schemas that may be shared documents. Those with an `$id` are stored even if no file here refers to them. */
  readonly schemas: readonly string[];
  /** Schemas of models, whose references are followed. */
  readonly start: readonly string[];
  /** Schemas that are models only if no schema refers to them. */
  readonly startUnlessNamed: readonly string[];
  /** Files in which names of contexts are followed: contexts, examples, and all others with an `@context`. */
  readonly contexts: readonly string[];
}

interface LinkedDocument extends PlannedDocument {
  /** Whether a schema here names it, or its URL was assigned from outside. */
  readonly isNamed: boolean;
}

export interface Links {
  /** A document for each URL by which others refer to it, in the order of paths, then of URLs. */
  readonly documents: readonly LinkedDocument[];
  /** Paths of documents that a schema here names. */
  readonly named: ReadonlySet<string>;
  /** `$id`s to add to schemas of models, by path. */
  readonly ids: ReadonlyMap<string, string>;
  /** URLs against which relative names in contexts are resolved, by path of the context. */
  readonly bases: ReadonlyMap<string, string>;
  readonly refused: readonly RefusedFile[];
  /** Returns the repository to which a path belongs; see RepositoryUrls. */
  readonly repositoryOf: RepositoryUrls['repositoryOf'];
}

/**
 * The base of schemas that have no URL, to which the name of their repository is added. No document can exist there
 * (RFC 2606).
 */
const UNPUBLISHED_BASE = 'https://repository.invalid/';

/** Maximum number of URLs of one document. */
const MAX_URLS = 50;

/**
 * Determines under which URLs the documents of a repository have to be stored, so that each `$ref` and each name of a
 * context leads to the intended file: by `$id`, by where the repository is published, by how its own `$ref`s spell
 * that, and relative to the file.
 */
export function linkDocuments(input: LinkInput): Links {
  return new Linking(input).run(input);
}

class Linking {
  readonly #domain: string | undefined;
  readonly #isExplicitAll: boolean;
  readonly #files: ReadonlyMap<string, DescribedFile>;
  readonly #urls: RepositoryUrls;
  readonly #explicit = new Map<string, Set<string>>();
  /** Paths of documents that only have the URLs assigned to them. */
  readonly #settled = new Set<string>();
  /** Paths by URL. */
  readonly #claims = new Map<string, Set<string>>();
  /** Number of URLs by path. */
  readonly #counts = new Map<string, number>();
  readonly #named = new Set<string>();
  readonly #namedUrls = new Set<string>();
  readonly #ids = new Map<string, string>();
  readonly #bases = new Map<string, string>();
  readonly #open: FileWithUrl[] = [];

  constructor({ files, explicit, isExplicitAll = false, domain, archive }: LinkInput) {
    this.#domain = domain;
    this.#isExplicitAll = isExplicitAll;
    this.#files = new Map(files.map((file) => [file.path, file]));
    const located = files.flatMap(({ path, facts }) => {
      const url = facts.kind === 'schema' ? ownUrl(facts) : undefined;
      return url === undefined ? [] : [{ path, url }];
    });
    this.#urls = new RepositoryUrls(new Set(this.#files.keys()), located, archive);
    for (const { path, url } of explicit) {
      if (!this.#files.has(path)) continue;
      add(this.#explicit, url, path);
      this.#claim(path, url, true);
    }
    if (isExplicitAll) for (const { path } of explicit) this.#settled.add(path);
  }

  run({ schemas, start, startUnlessNamed, contexts }: LinkInput): Links {
    for (const path of start) this.#follow(path, this.#urlOfModel(path));
    this.#drain();
    for (const path of startUnlessNamed) {
      if (this.#named.has(path)) continue;
      this.#follow(path, this.#urlOfModel(path));
      this.#drain();
    }
    for (const path of schemas) {
      const file = this.#files.get(path);
      const id = file === undefined ? undefined : ownUrl(file.facts);
      if (id === undefined && !this.#named.has(path)) continue;
      for (const url of [id, this.#urls.publishedUrl(path)])
        if (url !== undefined) this.#claim(path, url, false);
    }
    this.#drain();
    for (const path of contexts) this.#followContexts(path, this.#baseOfContext(path));
    const followed = new Set(contexts);
    for (const [url, paths] of this.#explicit)
      for (const path of paths) if (followed.has(path)) this.#followContexts(path, url);
    const refused: RefusedFile[] = [];
    const documents = [...this.#claims].flatMap(([url, paths]) => this.#settle(url, [...paths], refused));
    documents.sort((one, other) => byPath(one, other) || (one.url < other.url ? -1 : 1));
    return {
      documents,
      named: this.#named,
      ids: this.#ids,
      bases: this.#bases,
      refused,
      repositoryOf: (path) => this.#urls.repositoryOf(path),
    };
  }

  #drain(): void {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop())
      this.#follow(next.path, next.url);
  }

  /** Returns the URL against which the `$ref`s of a model's schema are resolved. */
  #urlOfModel(path: string): string {
    const facts = this.#files.get(path)?.facts;
    const own = facts === undefined ? undefined : ownUrl(facts);
    if (own !== undefined) return own;
    const url = this.#baseOf(path);
    if (
      facts?.references.some(
        ({ target, within }) => within.length === 0 && documentUri(target) === undefined,
      ) === true
    )
      this.#ids.set(path, url);
    return url;
  }

  /**
   * Returns where a file is published, or otherwise a URL at which nothing can exist and which differs from those of
   * other repositories.
   */
  #baseOf(path: string): string {
    const repository = this.#domain === undefined ? this.#urls.repositoryOf(path) : undefined;
    const name = this.#domain ?? repository?.name;
    const nowhere = name === undefined ? UNPUBLISHED_BASE : `${UNPUBLISHED_BASE}${encodeURIComponent(name)}/`;
    const below = path.slice(repository?.folder.length ?? 0);
    return this.#urls.publishedUrl(path) ?? documentUri(nowhere + below) ?? nowhere;
  }

  /** Claims the targets of a document's references. @param url the URL under which the document is stored */
  #follow(path: string, url: string): void {
    const file = this.#files.get(path);
    if (file === undefined) return;
    const { references, innerIds } = file.facts;
    const own = new Set([url, ...innerIds.map((id) => targetOf(id, url))]);
    for (const reference of references) {
      const target = targetOf(reference, url);
      if (target === undefined || own.has(target)) continue;
      const storable = storableUri(target);
      if (storable === undefined) continue;
      for (const found of this.#filesFor(reference, path, storable)) this.#claim(found, storable, true);
    }
  }

  /**
   * Returns the URL against which the names in a context are resolved. Examples have none, and documents that are named
   * by URL are not relative.
   */
  #baseOfContext(path: string): string | undefined {
    const file = this.#files.get(path);
    if (file === undefined || !isContext(file) || !isRelative(path)) return undefined;
    const url = this.#baseOf(path);
    if (file.facts.contexts.some(isRelative)) this.#bases.set(path, url);
    return url;
  }

  /**
   * Claims the contexts that a file names, and those that they name in turn.
   *
   * @param base for relative names, which are skipped without it
   */
  #followContexts(path: string, base: string | undefined): void {
    const open = [{ path, base }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { path: from, base: within } = next;
      for (const name of this.#files.get(from)?.facts.contexts ?? []) {
        if (within === undefined && isRelative(name)) continue;
        const reference = { target: name, within: [] };
        const target = targetOf(reference, within ?? UNPUBLISHED_BASE);
        const url = target === undefined ? undefined : storableUri(target);
        if (url === undefined) continue;
        for (const found of this.#filesFor(reference, from, url)) {
          const file = this.#files.get(found);
          if (file !== undefined && isContext(file) && this.#claim(found, url, true))
            open.push({ path: found, base: url });
        }
      }
    }
  }

  #filesFor(
    { target, within }: { readonly target: string; readonly within: readonly string[] },
    from: string,
    url: string,
  ): readonly string[] {
    const explicit = this.#explicit.get(url);
    if (explicit !== undefined) return [...explicit];
    if (isRelative(target) && within.length === 0) {
      // Authors' editors resolve it like this, whatever the $id says.
      const beside = pathFrom(folderOf(from), target);
      if (beside !== undefined && this.#files.has(beside)) return [beside];
    }
    return this.#urls.filesAt(url);
  }

  /** Claims a URL for a file. @returns whether the claim is new */
  #claim(path: string, url: string, isNamed: boolean): boolean {
    if (this.#settled.has(path)) return false;
    if (isNamed) {
      this.#named.add(path);
      this.#namedUrls.add(url);
    }
    const count = this.#counts.get(path) ?? 0;
    if (this.#claims.get(url)?.has(path) === true || count >= MAX_URLS) return false;
    this.#counts.set(path, count + 1);
    add(this.#claims, url, path);
    this.#open.push({ path, url });
    return true;
  }

  /** Determines the relation between a file and a URL; a document that was sent with a URL owns it. */
  #claimOf(path: string, url: string): UrlClaim {
    const isSentSo = path === url || this.#isExplicitAll || url.startsWith(UNPUBLISHED_BASE);
    if (isSentSo) return { kind: 'own' };
    const claim = this.#urls.claimOf(path, url);
    const isInTable = this.#explicit.get(url)?.has(path) === true;
    return claim.kind === 'foreign' && isInTable ? { kind: 'claimed' } : claim;
  }

  /** Selects the document of a URL. If different files claim it, only the file with that name gets it. */
  #settle(url: string, claimants: readonly string[], refused: RefusedFile[]): readonly LinkedDocument[] {
    const given = this.#explicit.get(url);
    const all = given === undefined ? claimants : claimants.filter((path) => given.has(path));
    const claims = all.map((path) => ({ path, claim: this.#claimOf(path, url) }));
    const paths = claims.flatMap(({ path, claim }) => {
      if (claim.kind !== 'foreign') return [path];
      refused.push({ path, reason: foreignReason(url, claim.repository) });
      return [];
    });
    if (paths.length === 0) return [];
    const mayReplace = claims.some(({ claim }) => claim.kind === 'own');
    const contents = new Set(paths.map((path) => this.#files.get(path)?.sha256));
    const [first = ''] = paths.toSorted();
    const isNamed = this.#namedUrls.has(url);
    if (contents.size === 1) return [{ path: first, url, isNamed, mayReplace }];
    const named = this.#urls.filesAt(url).filter((path) => paths.includes(path));
    const winner = named.length === 1 ? named[0] : undefined;
    for (const path of paths)
      if (path !== winner) {
        const other = winner ?? paths.find((one) => one !== path) ?? '';
        const reason =
          winner === undefined
            ? `Another document, ${other}, also has the URL ${url}, and they differ: neither is stored under it.`
            : `Its $id is ${url}, which is the URL of ${other}: it is not stored under it.`;
        refused.push({ path, reason });
      }
    if (winner === undefined) return [];
    return [{ path: winner, url, isNamed, mayReplace: this.#claimOf(winner, url).kind === 'own' }];
  }
}

function foreignReason(url: string, repository: string): string {
  return (
    `It is not stored under the URL ${url}, which belongs to a file of another repository: ` +
    `import ${repository}, or store the document by PUT /api/v2/references?uri=….`
  );
}

function isContext({ path, facts }: DescribedFile): boolean {
  return facts.kind === 'context' || fileNameOf(path) === 'context.jsonld';
}

/** Returns the absolute URL that a document claims to have. */
function ownUrl({ id }: DocumentFacts): string | undefined {
  return id === undefined || documentUri(id) === undefined ? undefined : storableUri(id);
}

/** Resolves a path relative to a folder; undefined if it leads out of the repository. */
function pathFrom(folder: string, relative: string): string | undefined {
  if (relative.startsWith('/')) return undefined;
  const segments = folder.split('/').slice(0, -1);
  for (const segment of relative.split('?', 1)[0]?.split('/') ?? []) {
    if (segment === '..') {
      if (segments.pop() === undefined) return undefined;
    } else if (segment !== '.' && segment !== '') segments.push(decoded(segment));
  }
  return segments.join('/');
}

function add(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([value]));
  else known.add(value);
}
