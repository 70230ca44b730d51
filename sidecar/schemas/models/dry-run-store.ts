import { hash, randomBytes } from 'node:crypto';
import { fileKey } from '../../shared/code-hosts.js';
import {
  AlreadyExistsError,
  type ContentRef,
  type Context,
  type ContextAt,
  contextNameTaken,
  type Contexts,
  type Domain,
  domainNameTaken,
  type Examples,
  type Domains,
  generatedContextName,
  type ModelKey,
  type Models,
  type NewContextVersion,
  type NewDomain,
  type NewReference,
  NotFoundError,
  type PutReference,
  ReadOnlyContextError,
  type Reference,
  type References,
  type ReferenceText,
  requireExpected,
  type SchemaStore,
  type UriVariant,
  soleDocument,
} from '../../store/index.js';
import { undefinedIfNotFound } from './concurrency.js';

/**
 * A store for dry runs. It keeps new domains, documents and contexts in memory, and reads everything else from an
 * underlying store, to which it never writes. Models are not written at all; only the contexts that they would have are
 * kept.
 */
export class DryRunStore implements SchemaStore {
  readonly domains: Domains;
  readonly models: Models;
  readonly examples: Examples;
  readonly contexts: Contexts;
  readonly references: References;
  readonly #base: SchemaStore;
  readonly #domains = new Map<string, Domain>();
  /** The written versions of each context, oldest first. */
  readonly #contexts = new Map<string, readonly ContextAt[]>();
  readonly #references = new Map<string, Reference>();
  /** The URIs of the documents that each of them names. */
  readonly #named = new Map<string, readonly string[]>();
  readonly #texts = new Map<string, string>();
  #writes = 0;

  constructor(below: SchemaStore) {
    this.#base = below;
    const { domains, models, examples, contexts, references } = below;
    this.domains = {
      list: (page) => domains.list(page),
      get: async (name) => this.#domains.get(name) ?? domains.get(name),
      create: (domain) => this.#createDomain(domain),
      update: refuse,
      delete: refuse,
    };
    this.models = {
      list: (domain, page) =>
        this.#domains.has(domain) ? Promise.resolve({ items: [], total: 0 }) : models.list(domain, page),
      current: async (domain) => (this.#domains.has(domain) ? [] : models.current(domain)),
      get: (key, version) => this.#modelOf(key, () => models.get(key, version)),
      texts: (key, version) => this.#modelOf(key, () => models.texts(key, version)),
      versions: (key, page) => this.#modelOf(key, () => models.versions(key, page)),
      search: (filter, page) => models.search(filter, page),
      create: refuse,
      update: refuse,
      delete: refuse,
    };
    this.examples = {
      list: (model, page) => examples.list(model, page),
      get: (model, name) => examples.get(model, name),
      put: refuse,
      delete: refuse,
    };
    this.contexts = {
      list: (page) => contexts.list(page),
      get: async (name, version) => {
        const tried = this.#contexts.get(name) ?? [];
        const found =
          version === undefined ? tried.at(-1) : tried.findLast((one) => one.version.number === version);
        return found ?? contexts.get(name, version);
      },
      dependents: (name, page) => contexts.dependents(name, page),
      create: (name, version) => this.#createContext(name, version),
      update: (name, version) => this.#updateContext(name, version),
      delete: refuse,
    };
    this.references = {
      list: (page) => references.list(page),
      get: async (uri) => this.#references.get(uri) ?? references.get(uri),
      texts: (uris) => this.#textsOf([...uris]),
      uriVariants: (uri) => this.#spellings(uri),
      // Nothing in the underlying store depends on a document that exists only here.
      dependents: async (uri, page) =>
        this.#references.has(uri)
          ? ((await undefinedIfNotFound('reference', references.dependents(uri, page))) ?? {
              items: [],
              total: 0,
            })
          : references.dependents(uri, page),
      put: (reference, expected) => this.#put(reference, expected),
      delete: refuse,
    };
  }

  async content(sha256: string): Promise<string | undefined> {
    return this.#texts.get(sha256) ?? this.#base.content(sha256);
  }

  async revision(): Promise<string> {
    return `${await this.#base.revision()} ${this.#writes}`;
  }

  isReady(): Promise<boolean> {
    return this.#base.isReady();
  }

  /** Leaves the underlying store open. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  /**
   * Keeps the context that a model would have.
   *
   * @param version its number; undefined for a new model, whose versions are counted here
   */
  keepGenerated(key: ModelKey, text: string, version: number | undefined): void {
    const name = generatedContextName(key);
    const number = version ?? (this.#contexts.get(name)?.at(-1)?.version.number ?? 0) + 1;
    this.#keepContext({ name, kind: 'generated', currentVersion: number, ...this.#stamps() }, text);
  }

  /** Reads a model, unless its domain exists only in this store and so has no models. */
  async #modelOf<Found>(
    { domain, name }: { readonly domain: string; readonly name: string },
    read: () => Promise<Found>,
  ): Promise<Found> {
    if (this.#domains.has(domain)) throw new NotFoundError({ kind: 'model', domain, name });
    return read();
  }

  async #createDomain({ name, description, compatibility = 'none' }: NewDomain): Promise<Domain> {
    if ((await undefinedIfNotFound('domain', this.domains.get(name))) !== undefined)
      throw new AlreadyExistsError({ kind: 'domain', name });
    if ((await undefinedIfNotFound('context', this.contexts.get(name))) !== undefined)
      throw contextNameTaken(name);
    const domain = { name, description, compatibility, ...this.#stamps() };
    this.#domains.set(name, domain);
    return domain;
  }

  async #createContext(name: string, version: NewContextVersion): Promise<ContextAt> {
    if ((await undefinedIfNotFound('context', this.contexts.get(name))) !== undefined)
      throw new AlreadyExistsError({ kind: 'context', name });
    if ((await undefinedIfNotFound('domain', this.domains.get(name))) !== undefined)
      throw domainNameTaken(name);
    return this.#keepContext({ name, kind: 'custom', currentVersion: 1, ...this.#stamps() }, version.text);
  }

  async #updateContext(name: string, version: NewContextVersion): Promise<ContextAt> {
    const before = await this.contexts.get(name);
    if (before.context.kind !== 'custom') throw new ReadOnlyContextError(name);
    const content = this.#keepText(version.text);
    if (before.version.content.sha256 === content.sha256) return before;
    const currentVersion = before.context.currentVersion + 1;
    return this.#keepContext({ ...before.context, currentVersion, ...this.#stamps() }, version.text);
  }

  #keepContext(context: Context, text: string): ContextAt {
    const { currentVersion: number, modifiedAt: createdAt } = context;
    const at = { context, version: { number, createdAt, content: this.#keepText(text) } };
    this.#contexts.set(context.name, [...(this.#contexts.get(context.name) ?? []), at]);
    return at;
  }

  async #textsOf(uris: readonly string[]): Promise<ReadonlyMap<string, ReferenceText>> {
    const texts = new Map<string, ReferenceText>();
    for (const uri of uris) {
      const exact = await this.#textAt(uri);
      const found = exact === undefined ? soleDocument(await this.#spellings(uri)) : undefined;
      const text = exact ?? (found === undefined ? undefined : await this.#textAt(found.uri));
      if (text !== undefined) texts.set(uri, text);
    }
    return texts;
  }

  /** Returns the document that is stored under exactly this URI. */
  async #textAt(uri: string): Promise<ReferenceText | undefined> {
    const tried = this.#references.get(uri);
    const text = tried && this.#texts.get(tried.content.sha256);
    if (tried !== undefined && text !== undefined)
      return { uri, ...tried.content, text, named: this.#named.get(uri) ?? [] };
    const below = (await this.#base.references.texts([uri])).get(uri);
    return below?.uri === uri ? below : undefined;
  }

  async #spellings(uri: string): Promise<readonly UriVariant[]> {
    const key = fileKey(uri);
    if (key === undefined) return [];
    const below = await this.#base.references.uriVariants(uri);
    const tried = [...this.#references].flatMap(([other, { content }]) =>
      other !== uri && fileKey(other) === key ? [{ uri: other, sha256: content.sha256 }] : [],
    );
    return [...below.filter((one) => !this.#references.has(one.uri)), ...tried];
  }

  async #put(
    { uri, source, text, references }: NewReference,
    expected: Parameters<References['put']>[1],
  ): Promise<PutReference> {
    const before = await undefinedIfNotFound('reference', this.references.get(uri));
    requireExpected({ kind: 'reference', uri }, before?.etag, expected);
    const content = this.#keepText(text);
    if (before?.content.sha256 === content.sha256 && before.source === source)
      return { reference: before, outcome: 'unchanged' };
    const reference = { uri, source, content, ...this.#stamps() };
    this.#references.set(uri, reference);
    this.#named.set(uri, [...references]);
    return { reference, outcome: before === undefined ? 'created' : 'replaced' };
  }

  #keepText(text: string): ContentRef {
    const sha256 = hash('sha256', text);
    this.#texts.set(sha256, text);
    return { sha256, size: Buffer.byteLength(text) };
  }

  #stamps() {
    this.#writes += 1;
    // Times in dry runs are never shown.
    return { createdAt: 0, modifiedAt: 0, etag: randomBytes(16).toString('base64url') };
  }
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('A dry run does not write this.'));
}
