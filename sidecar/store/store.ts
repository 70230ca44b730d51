import type {
  ContextAt,
  Context,
  CurrentVersion,
  Dependent,
  Domain,
  DomainContextName,
  DomainSettings,
  Example,
  ListedDomain,
  NewDomain,
  Model,
  ModelAt,
  ModelFilter,
  ModelKey,
  ModelSettings,
  ModelTexts,
  ModelVersion,
  NewContextVersion,
  NewExample,
  NewExamples,
  NewModelVersion,
  NewReference,
  Page,
  Paged,
  Reference,
  ReferenceText,
  UriVariant,
} from './records.js';

/**
 * Stores domains, models, contexts and reference documents.
 *
 * Every method is one transaction: it takes effect as a whole or not at all, and its reads come from one snapshot.
 * Checks are made in this order: the named resources must exist (NotFoundError, naming the outermost missing resource), the
 * expected state must match (PreconditionFailedError), then everything else. Lists are ordered by code points of their
 * names. Names and URIs are compared exactly, and the caller has to validate them. Text that is not well-formed Unicode
 * or contains U+0000 is refused in writes (UnstorableTextError) and finds nothing in reads. Any method can fail with
 * StoreUnavailableError.
 */
export interface SchemaStore {
  readonly domains: Domains;
  readonly models: Models;
  readonly examples: Examples;
  readonly contexts: Contexts;
  readonly references: References;

  /** Returns the text with this SHA-256 (hex), as long as anything in the store refers to it. */
  content(sha256: string): Promise<string | undefined>;

  /** Returns a text that changes with every write, by any process; it may also change without a write. */
  revision(): Promise<string>;

  /** Returns false if the store is closed, cannot be read, or could not be written within the last few seconds. */
  isReady(): Promise<boolean>;

  /** Resolves when everything is on disk; may be called again. */
  close(): Promise<void>;
}

/** If given, the resource must have one of these ETags, as in an If-Match header (RFC 9110 section 13.1.1). */
export type IfMatch = readonly string[];

/** The required state of a resource before it is put: absent, present in any state, or with one of these ETags. */
export type Expected = 'absent' | 'present' | IfMatch | undefined;

export interface Domains {
  list(page: Page): Promise<Paged<ListedDomain>>;

  /** @throws NotFoundError */
  get(name: string): Promise<Domain>;

  /** @throws AlreadyExistsError, also if a custom context has the name */
  create(domain: NewDomain): Promise<Domain>;

  /**
   * Replaces the settings of a domain; if they are the same, nothing changes. A new compatibility also applies to
   * models without their own.
   *
   * @throws NotFoundError, PreconditionFailedError, UnstorableTextError
   */
  update(name: string, settings: DomainSettings, ifMatch?: IfMatch): Promise<Domain>;

  /**
   * @param options `cascade` also deletes the models of the domain, with all their versions and generated contexts
   * @throws NotFoundError, PreconditionFailedError, InUseError naming the models of the domain, or with `cascade` what
   * uses their contexts from outside the domain
   */
  delete(
    name: string,
    options?: { readonly cascade?: boolean; readonly ifMatch?: IfMatch | undefined },
  ): Promise<void>;
}

export interface Models {
  /** @throws NotFoundError if the domain does not exist */
  list(domain: string, page: Page): Promise<Paged<Model>>;

  /**
   * @param version the current version if not given
   * @throws NotFoundError
   */
  get(key: ModelKey, version?: number): Promise<ModelAt>;

  /** Returns the current versions of the models of a domain, by model name. @throws NotFoundError for the domain */
  current(domain: string): Promise<readonly CurrentVersion[]>;

  /** Like `get`, with the texts of the schema and its context. @throws NotFoundError */
  texts(key: ModelKey, version?: number): Promise<ModelTexts>;

  /** Finds models of all domains, ordered by domain and name. Models without terms are found by name and description only. */
  search(filter: ModelFilter, page: Page): Promise<Paged<Model>>;

  /** Lists versions, oldest first. @throws NotFoundError */
  versions(key: ModelKey, page: Page): Promise<Paged<ModelVersion>>;

  /**
   * Creates a model, its version 1, its generated context, and its examples.
   *
   * @throws NotFoundError if the domain does not exist, AlreadyExistsError, DependencyChangedError
   */
  create(
    key: ModelKey,
    settings: ModelSettings,
    version: NewModelVersion,
    examples?: NewExamples,
  ): Promise<ModelAt>;

  /**
   * Replaces the settings. If a version is given, adds it with the same version of the generated context. An update
   * that changes nothing keeps the ETag.
   *
   * @param update with `replaces`, the version replaces the current one, which is that of a draft; `examples` replace
   * all examples of the model, which changes neither its ETag nor its times
   * @throws NotFoundError, PreconditionFailedError, DependencyChangedError
   */
  update(
    key: ModelKey,
    update: {
      readonly settings: ModelSettings;
      readonly version?: NewModelVersion | undefined;
      readonly replaces?: boolean | undefined;
      readonly examples?: NewExamples | undefined;
    },
    ifMatch?: IfMatch,
  ): Promise<ModelAt>;

  /**
   * Deletes a model with its versions, its generated context and its examples.
   *
   * @throws NotFoundError, PreconditionFailedError, InUseError if something uses its context
   */
  delete(key: ModelKey, ifMatch?: IfMatch): Promise<void>;
}

/** The examples of models. */
export interface Examples {
  /** Lists examples by name. @throws NotFoundError for the model */
  list(model: ModelKey, page: Page): Promise<Paged<Example>>;

  /** @throws NotFoundError */
  get(model: ModelKey, name: string): Promise<Example>;

  /**
   * Adds an example, or replaces the one with the same name.
   *
   * @returns `isNew`: there was no example with this name
   * @throws NotFoundError for the model, PreconditionFailedError, TooManyExamplesError
   */
  put(
    model: ModelKey,
    name: string,
    example: NewExample,
    expected?: Expected,
  ): Promise<{ readonly example: Example; readonly isNew: boolean }>;

  /** @throws NotFoundError, PreconditionFailedError */
  delete(model: ModelKey, name: string, ifMatch?: IfMatch): Promise<void>;
}

export interface Contexts {
  /** Lists custom and generated contexts, and those of domains. */
  list(page: Page): Promise<Paged<Context | DomainContextName>>;

  /**
   * @param version the current version if not given
   * @throws NotFoundError
   */
  get(name: string, version?: number): Promise<ContextAt>;

  /** Lists the models and contexts of which some version uses the context, except for its own model. @throws NotFoundError */
  dependents(name: string, page: Page): Promise<Paged<Dependent>>;

  /** Creates a custom context. @throws AlreadyExistsError, also if a domain has the name; DependencyChangedError */
  create(name: string, version: NewContextVersion): Promise<ContextAt>;

  /**
   * Adds a version to a custom context, unless the text is the same as the current version's.
   *
   * @throws NotFoundError, PreconditionFailedError, ReadOnlyContextError, DependencyChangedError
   */
  update(name: string, version: NewContextVersion, ifMatch?: IfMatch): Promise<ContextAt>;

  /** @throws NotFoundError, PreconditionFailedError, ReadOnlyContextError, InUseError */
  delete(name: string, ifMatch?: IfMatch): Promise<void>;
}

export interface References {
  list(page: Page): Promise<Paged<Reference>>;

  /** @throws NotFoundError */
  get(uri: string): Promise<Reference>;

  /**
   * Returns the documents that are stored, by the requested URIs; their own references are not followed. If no document
   * is stored under a URI, one stored under another variant is returned, provided that all variants have the same
   * content.
   */
  texts(uris: Iterable<string>): Promise<ReadonlyMap<string, ReferenceText>>;

  /** Lists other URIs under which the file of a URI is stored: at most 100, ordered by URI. See `fileKey`. */
  uriVariants(uri: string): Promise<readonly UriVariant[]>;

  /** Lists the models of which some version pins the document, and what refers to it. @throws NotFoundError */
  dependents(uri: string, page: Page): Promise<Paged<Dependent>>;

  /**
   * Creates or replaces a document. Model versions keep the content that they pinned.
   *
   * @param expected the state it must be in: absent, present in any state, or with one of these ETags
   * @returns `unchanged` if both text and source are the same as before
   * @throws PreconditionFailedError
   */
  put(reference: NewReference, expected?: Expected): Promise<PutReference>;

  /** @throws NotFoundError, PreconditionFailedError, InUseError */
  delete(uri: string, ifMatch?: IfMatch): Promise<void>;
}

export interface PutReference {
  readonly reference: Reference;
  readonly outcome: 'created' | 'replaced' | 'unchanged';
}
