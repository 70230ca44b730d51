import type {
  Domain,
  ListedDomain,
  Model,
  ModelFilter,
  ModelKey,
  NewDomain,
  Page,
  Paged,
  Reference,
} from '../../store/records.js';
import type { IfMatch, PutReference } from '../../store/store.js';
import type { ContextSupply } from './context-supply.js';
import type { DomainContext } from './domain-contexts.js';
import type {
  ChangeReport,
  ContextSummary,
  ContextUpdateOptions,
  ContextWriteOptions,
  DomainChange,
  JsonValue,
  Lifecycle,
  ModelChange,
  ModelDetails,
  ModelDiff,
  ModelDocumentKind,
  ModelFile,
  ModelPut,
  ModelReadOptions,
  ModelSchema,
  ModelUpdate,
  ModelWriteOptions,
  NewModel,
  ServedContext,
  ServedDocument,
  VersionSummary,
  WriteOptions,
  WrittenContext,
} from './shapes.js';

export type * from './shapes.js';

/**
 * Domains, their models, contexts, and the documents that schemas refer to.
 *
 * Every method can also fail with StoreUnavailableError, and those that check or derive something with WorkersBusyError,
 * TaskFailedError or, where no input is to blame, TaskTooCostlyError. Where input is at fault, the error has `errors: {pointer, detail}[]`, JSON pointers (RFC 6901) into
 * the input as its parameter is described here. Times are milliseconds since the epoch; ETags are without HTTP's quotes.
 */
export interface SchemaService {
  readonly domains: DomainService;
  readonly models: ModelService;
  readonly contexts: ContextService;
  readonly contextSupply: ContextSupply;
  readonly references: ReferenceService;

  /**
   * The same service, but domains, documents and contexts that it writes are seen by it alone and go with it. Models are only
   * tried in it: `put` with `dryRun`, after which others see the context that the model would have.
   */
  trial(): SchemaService;

  /** False when the store cannot be read or written. */
  isReady(): Promise<boolean>;
}

export interface DomainService {
  /** By name, in the order of code points; so are all lists. */
  list(page: Page): Promise<Paged<ListedDomain>>;

  /** @throws NotFoundError */
  get(name: string): Promise<Domain>;

  /**
   * One context for all models of a domain. It changes with each of them, and has no versions.
   *
   * @param baseUrl as in ModelReadOptions
   * @throws NotFoundError
   */
  context(name: string, baseUrl: string): Promise<DomainContext>;

  /** @throws InvalidBodyError, AlreadyExistsError, UnstorableTextError */
  create(domain: NewDomain): Promise<Domain>;

  /**
   * Changes its settings: what is left out stays, and null takes it away.
   *
   * @throws NotFoundError, PreconditionFailedError, UnstorableTextError, OvertakenError
   */
  update(name: string, change: DomainChange, options?: WriteOptions): Promise<Domain>;

  /**
   * @param options `cascade` deletes its models with it, with all their versions and contexts
   * @throws NotFoundError, PreconditionFailedError, InUseError
   */
  delete(name: string, options?: WriteOptions & { readonly cascade?: boolean | undefined }): Promise<void>;
}

export interface ModelService {
  /** @throws NotFoundError when there is no such domain */
  list(domain: string, page: Page): Promise<Paged<Model>>;

  /** @throws NotFoundError */
  get(key: ModelKey, version?: number): Promise<ModelDetails>;

  /** Models of all domains, by domain and name. */
  search(filter: ModelFilter, page: Page): Promise<Paged<Model>>;

  /** The first few models whose entities have a type, of all domains or of one. */
  ofType(type: string, domain: string | undefined): Promise<readonly Model[]>;

  /**
   * Checks a schema and creates a model from it. The documents that its `$ref`s name are taken from the store, else
   * fetched from allowed origins and stored.
   *
   * @throws NotFoundError when there is no such domain, AlreadyExistsError, InvalidBodyError,
   *   SchemaNotAcceptedError, UnstorableTextError, OvertakenError
   */
  create(domain: string, model: NewModel, options?: ModelWriteOptions): Promise<ModelDetails>;

  /** What `create` would do, with the same refusals; nothing is written. */
  dryCreate(domain: string, model: NewModel, options?: ModelWriteOptions): Promise<ModelPut>;

  /**
   * Creates the model, or updates it as `update` does.
   *
   * @param options `expected`: `absent` for `If-None-Match: *`, `present` for `If-Match: *`, or the ETags of `If-Match`
   * @throws as create and update; InvalidBodyError where a model that is not there has none
   */
  put(
    key: ModelKey,
    change: ModelChange,
    options?: ModelWriteOptions & { readonly expected?: 'absent' | 'present' | IfMatch | undefined },
  ): Promise<ModelPut>;

  /**
   * Makes a new version, unless schema, the documents it refers to and its context are what they were. That of a draft
   * takes the place of the one before it. Without a schema and anything of the context, only the settings change.
   *
   * @throws NotFoundError, PreconditionFailedError, InvalidBodyError, SchemaNotAcceptedError, UnstorableTextError,
   *   OvertakenError, PublishedError; IncompatibleChangeError where the change is not as the model's
   *   compatibility asks
   */
  update(
    key: ModelKey,
    change: ModelChange,
    options?: WriteOptions & ModelWriteOptions,
  ): Promise<ModelUpdate>;

  /** @throws NotFoundError, PreconditionFailedError, InUseError when something uses its context */
  delete(key: ModelKey, options?: WriteOptions): Promise<void>;

  /** Oldest first. @throws NotFoundError */
  versions(key: ModelKey, page: Page): Promise<Paged<VersionSummary>>;

  /** What its users may expect of a model, for telling them with whatever they read of it. @throws NotFoundError */
  lifecycle(key: ModelKey): Promise<Lifecycle>;

  /**
   * What has changed between two stored versions, in either order.
   *
   * @param range `to`: the current one when not given; `from`: the one before it, or the first; `baseUrl` as in ModelWriteOptions
   * @throws NotFoundError
   */
  diff(
    key: ModelKey,
    range: {
      readonly from?: number | undefined;
      readonly to?: number | undefined;
      readonly baseUrl?: string | undefined;
    },
  ): Promise<ModelDiff>;

  /**
   * What later versions of contexts have changed for a model that follows them, as it is stored.
   *
   * @param options `contextsBefore`: their texts from before, by name; `contextsAfter`: those that are not stored yet
   * @throws NotFoundError
   */
  changeByContexts(
    key: ModelKey,
    options: {
      readonly contextsBefore: ReadonlyMap<string, string>;
      readonly contextsAfter?: ReadonlyMap<string, string> | undefined;
      readonly baseUrl: string;
    },
  ): Promise<ChangeReport>;

  /**
   * A document of a model, ready to be sent.
   *
   * @throws NotFoundError; FileNotFoundError for the example of a schema of which none could be made in time
   */
  document(key: ModelKey, kind: ModelDocumentKind, options: ModelReadOptions): Promise<ServedDocument>;

  /**
   * What `schema` would be for a model of this schema; nothing is written.
   *
   * @throws SchemaNotAcceptedError
   */
  schemaOf(key: ModelKey, schema: JsonValue): Promise<ModelSchema>;

  /** The schema that entities of a model are held against. @throws NotFoundError */
  schema(key: ModelKey, version: number | undefined): Promise<ModelSchema>;

  /** All that `file` has, documents that the schema refers to last. @throws NotFoundError */
  files(key: ModelKey, options: ModelReadOptions): Promise<readonly ModelFile[]>;

  /** @throws NotFoundError, FileNotFoundError */
  file(key: ModelKey, name: string, options: ModelReadOptions): Promise<ServedDocument>;
}

export interface ContextService {
  /** Core contexts come first. */
  list(page: Page): Promise<Paged<ContextSummary>>;

  /**
   * What a GET of the context's URL answers: that of a domain has the domain's name.
   *
   * @param version the current one when not given; the answer for a given version never changes
   * @param baseUrl as in ModelReadOptions, for the URLs of other contexts in it
   * @throws NotFoundError
   */
  document(name: string, version?: number, baseUrl?: string): Promise<ServedContext>;

  /**
   * Creates a custom context: a map of terms, an array of maps and URLs, a URL, or `{"@context": one of these}`.
   * Contexts of this service that it names by their URLs cannot be deleted while it exists.
   *
   * @throws InvalidBodyError, AlreadyExistsError, ContextInvalidError, OvertakenError
   */
  create(name: string, context: unknown, options: ContextWriteOptions): Promise<WrittenContext>;

  /** What `create` would warn of, with the same refusals; nothing is written. */
  dryCreate(
    name: string,
    context: unknown,
    options: ContextWriteOptions,
  ): Promise<Pick<WrittenContext, 'warnings'>>;

  /**
   * Makes a new version of a custom context, unless nothing changes. Followers are looked at before it is written. Those that come or
   * change in between are looked at again after it: the warnings name what cannot be processed then.
   *
   * @throws NotFoundError, PreconditionFailedError, ReadOnlyContextError, ContextInvalidError,
   *   OvertakenError, BrokenFollowersError, or the reason of the signal
   */
  update(name: string, context: unknown, options: ContextUpdateOptions): Promise<WrittenContext>;

  /** The models that may follow a context, itself or through other contexts. */
  followers(name: string): Promise<readonly ModelKey[]>;

  /** @throws NotFoundError, PreconditionFailedError, ReadOnlyContextError, InUseError */
  delete(name: string, options?: WriteOptions): Promise<void>;
}

/** URIs are absolute (http, https, urn) without fragment, and taken in their normal form. */
export interface ReferenceService {
  list(page: Page): Promise<Paged<Reference>>;

  /** @throws NotFoundError */
  get(uri: string): Promise<ServedDocument & { readonly reference: Reference }>;

  /** The models of which the current version was made with a document as it is no longer, by domain and name. @throws NotFoundError */
  outdatedModels(uri: string): Promise<readonly ModelKey[]>;

  /** Other URIs of the same file of a code host under which documents are stored, by URI. @throws ReferenceUriError */
  spellings(uri: string): Promise<readonly string[]>;

  /**
   * Stores a document; versions of models keep what they were made with.
   *
   * @param document pointers are into it
   * @param expected `absent` for `If-None-Match: *`, `present` for `If-Match: *`, or the ETags of `If-Match`
   * @throws ReferenceUriError, SchemaNotAcceptedError, PreconditionFailedError
   */
  put(uri: string, document: JsonValue, expected?: 'absent' | 'present' | IfMatch): Promise<PutReference>;

  /** @throws NotFoundError, PreconditionFailedError, InUseError */
  delete(uri: string, options?: WriteOptions): Promise<void>;
}
