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
  Spelling,
} from './records.js';

/**
 * Where domains, models, contexts and reference documents are kept.
 *
 * Every method is one transaction: it happens as a whole or not at all, and reads show one moment. The order of all
 * checks is: what is named must be there (NotFoundError, naming the outermost thing that is missing), the expected
 * state must hold (PreconditionFailedError), then everything else. Lists are ordered by code points of their names.
 * Names and URIs are compared exactly, and are for the caller to check; text that is not well-formed Unicode or holds
 * U+0000 is refused in writes (UnstorableTextError) and finds nothing in reads. Any method can fail with
 * StoreUnavailableError.
 */
export interface SchemaStore {
  readonly domains: Domains;
  readonly models: Models;
  readonly examples: Examples;
  readonly contexts: Contexts;
  readonly references: References;

  /** The text with this SHA-256 (hex), while anything in the store names it. */
  content(sha256: string): Promise<string | undefined>;

  /** A text that changes with every write, by any process; it may also change without one. */
  revision(): Promise<string>;

  /** False when it is closed, nothing can be read, or nothing can be written, as some seconds ago at most. */
  isReady(): Promise<boolean>;

  /** Resolves when all is on disk; may be called again. */
  close(): Promise<void>;
}

/** The ETags of which the thing must have one now, if given; what an If-Match header lists (RFC 9110 section 13.1.1). */
export type IfMatch = readonly string[];

/** The state that a thing must be in before it is put: absent, present in any form, or with one of these ETags. */
export type Expected = 'absent' | 'present' | IfMatch | undefined;

export interface Domains {
  list(page: Page): Promise<Paged<ListedDomain>>;

  /** @throws NotFoundError */
  get(name: string): Promise<Domain>;

  /** @throws AlreadyExistsError also where a custom context has the name */
  create(domain: NewDomain): Promise<Domain>;

  /**
   * Replaces its settings; where they are the same, nothing changes. Models without a compatibility of their own change with it.
   *
   * @throws NotFoundError, PreconditionFailedError, UnstorableTextError
   */
  update(name: string, settings: DomainSettings, ifMatch?: IfMatch): Promise<Domain>;

  /**
   * @param options `cascade` deletes its models with it, with all their versions and generated contexts
   * @throws NotFoundError, PreconditionFailedError, InUseError naming its models, or with `cascade` what uses their
   *   contexts from outside the domain
   */
  delete(
    name: string,
    options?: { readonly cascade?: boolean; readonly ifMatch?: IfMatch | undefined },
  ): Promise<void>;
}

export interface Models {
  /** @throws NotFoundError when there is no such domain */
  list(domain: string, page: Page): Promise<Paged<Model>>;

  /**
   * @param version the current one when not given
   * @throws NotFoundError
   */
  get(key: ModelKey, version?: number): Promise<ModelAt>;

  /** Which versions are the current ones of the models of a domain, by name. @throws NotFoundError for the domain */
  current(domain: string): Promise<readonly CurrentVersion[]>;

  /** `get` with the texts of the schema and its context. @throws NotFoundError */
  texts(key: ModelKey, version?: number): Promise<ModelTexts>;

  /** Models of all domains, by domain and name. Those without terms are found by name and description only. */
  search(filter: ModelFilter, page: Page): Promise<Paged<Model>>;

  /** Oldest first. @throws NotFoundError */
  versions(key: ModelKey, page: Page): Promise<Paged<ModelVersion>>;

  /**
   * Creates a model, its version 1, its generated context, and its examples.
   *
   * @throws NotFoundError when there is no such domain, AlreadyExistsError, DependencyChangedError
   */
  create(
    key: ModelKey,
    settings: ModelSettings,
    version: NewModelVersion,
    examples?: NewExamples,
  ): Promise<ModelAt>;

  /**
   * Replaces the settings, and adds a version, with the same version of the generated context, if one is given.
   * An update that changes nothing leaves the ETag alone.
   *
   * @param update `replaces`: the version takes the place of the current one, which was that of a draft; `examples` take the
   *   place of all examples of the model, which changes neither its ETag nor its times
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
   * @throws NotFoundError, PreconditionFailedError, InUseError when something uses its context
   */
  delete(key: ModelKey, ifMatch?: IfMatch): Promise<void>;
}

/** The examples of models. */
export interface Examples {
  /** By name. @throws NotFoundError for the model */
  list(model: ModelKey, page: Page): Promise<Paged<Example>>;

  /** @throws NotFoundError */
  get(model: ModelKey, name: string): Promise<Example>;

  /**
   * Adds an example, or replaces the one of its name.
   *
   * @returns `isNew`: there was none of this name
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
  /** Custom and generated ones, and those of domains. */
  list(page: Page): Promise<Paged<Context | DomainContextName>>;

  /**
   * @param version the current one when not given
   * @throws NotFoundError
   */
  get(name: string, version?: number): Promise<ContextAt>;

  /** The models and contexts of which some version uses the context; its own model does not count. @throws NotFoundError */
  dependents(name: string, page: Page): Promise<Paged<Dependent>>;

  /** Creates a custom context. @throws AlreadyExistsError also where a domain has the name, DependencyChangedError */
  create(name: string, version: NewContextVersion): Promise<ContextAt>;

  /**
   * Adds a version to a custom context, unless the text is the current version's.
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
   * Those of the documents that are there, by the URIs that were asked for; theirs are not followed. What is not stored under a
   * URI is looked for under its other spellings, and found where all that are stored have one content.
   */
  texts(uris: Iterable<string>): Promise<ReadonlyMap<string, ReferenceText>>;

  /** Where the file of a URI is stored under others: at most 100 of them, by URI. See `fileKey`. */
  spellings(uri: string): Promise<readonly Spelling[]>;

  /** The models of which some version pins the document, and the documents that name it. @throws NotFoundError */
  dependents(uri: string, page: Page): Promise<Paged<Dependent>>;

  /**
   * Creates or replaces a document. Model versions keep what they pinned.
   *
   * @param expected the state it must be in: absent, present in any form, or with one of these ETags
   * @returns `unchanged` when text and source are what they were
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
