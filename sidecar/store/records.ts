import type { JsonValue } from '../shared/json/json.js';

export type { JsonValue } from '../shared/json/json.js';

/**
 * What a new version of a model must satisfy relative to the previous one. `none`: nothing. `backward`: it accepts
 * everything that the previous version accepts. `forward`: the previous version accepts everything that it accepts.
 * `full`: both.
 */
export type Compatibility = 'none' | 'backward' | 'forward' | 'full';

/** What users of a model can expect: it may still change freely, it is stable, or it will be removed. */
export type ModelStatus = 'draft' | 'published' | 'deprecated';

/** How a reference document got into the store: given by an operator, or fetched for a `$ref`. */
export type ReferenceSource = 'stored' | 'fetched';

/** A stored text, identified by its hash; `SchemaStore.content` reads it. */
export interface ContentRef {
  /** SHA-256 of the UTF-8 bytes, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Length in bytes of UTF-8. */
  readonly size: number;
}

/** The members of every record that has a history. Times are milliseconds since the epoch. */
export interface Stamps {
  readonly createdAt: number;
  /** Strictly increases with each change, even if the clock stands still or goes back. */
  readonly modifiedAt: number;
  /** Opaque, 22 URL-safe characters; different after each change. It has no quotes: the caller adds those that HTTP needs. */
  readonly etag: string;
}

/** A domain. It counts as modified whenever one of its models is created, updated or deleted. */
export interface Domain extends Stamps, Required<DomainSettings> {
  readonly name: string;
}

export interface ListedDomain extends Domain {
  readonly models: number;
}

export interface NewDomain {
  readonly name: string;
  readonly description?: string | undefined;
  /** `none` if not given. */
  readonly compatibility?: Compatibility | undefined;
}

/** The parts of a domain that can be changed. */
export interface DomainSettings {
  readonly description?: string | undefined;
  /** Applies to its models that have no compatibility of their own. */
  readonly compatibility: Compatibility;
}

export interface ModelKey {
  readonly domain: string;
  readonly name: string;
}

/** The parts of a model that an update may change without making a version. */
export interface ModelSettings {
  readonly description?: string | undefined;
  /** Base IRI of the model's generated terms, if the model has its own. */
  readonly contextBase?: string | undefined;
  /** The domain's compatibility if not given. */
  readonly compatibility?: Compatibility | undefined;
  /** JSON of the model's own context, if it has one. */
  readonly ownContext?: string | undefined;
  /** `published` if not given. */
  readonly status?: ModelStatus | undefined;
  /** When it was deprecated, and when it will be removed, if known. */
  readonly deprecatedAt?: number | undefined;
  readonly sunsetAt?: number | undefined;
}

export interface Model extends ModelKey, Omit<Required<ModelSettings>, 'ownContext' | 'status'>, Stamps {
  /** The effective compatibility: the model's own, or its domain's. */
  readonly compatibility: Compatibility;
  readonly ownCompatibility: Compatibility | undefined;
  readonly ownContext: ContentRef | undefined;
  readonly status: ModelStatus;
  readonly currentVersion: number;
  /** Name of the context generated from the model; version N of that context belongs to version N of the model. */
  readonly contextName: string;
}

/** A reference document as it was when a model version was created: later changes to it do not affect the version. */
export interface PinnedReference extends ContentRef {
  readonly uri: string;
}

/** A version of a model. It never changes, except for the version of a draft. */
export interface ModelVersion {
  readonly number: number;
  readonly createdAt: number;
  readonly description: string | undefined;
  readonly schema: ContentRef;
  readonly context: ContentRef;
  /** All documents that the schema refers to, directly or indirectly, by URI. */
  readonly references: readonly PinnedReference[];
  readonly metadata: JsonValue;
}

/** The content of a new version; the store assigns its number (1, 2, 3 …). */
export interface NewModelVersion {
  /** Text of the JSON Schema, stored byte for byte. */
  readonly schema: string;
  /** Text of the context generated from the schema. */
  readonly context: string;
  readonly description?: string | undefined;
  /** Any data that the caller wants to store with the version. */
  readonly metadata: JsonValue;
  /** URI and SHA-256 of all reference documents that the schema refers to, as they were when it was checked. */
  readonly references: ReadonlyMap<string, string>;
  /** Names of the stored contexts that the version needs. */
  readonly contexts: ReadonlySet<string>;
  /** URI and SHA-256 of the reference documents that the context was made from, if any. */
  readonly contextReferences?: ReadonlyMap<string, string>;
  /** The terms for searches; without them, the model is found by name and description only. */
  readonly terms?: ModelTerms | undefined;
}

/** The terms by which a search finds the newest version of a model. */
export interface ModelTerms {
  /** The types of its entities; at least one. */
  readonly types: readonly string[];
  readonly attributes: readonly string[];
}

/** Maximum number of examples of one model. */
export const MAX_EXAMPLES = 100;

/** The representation of an entity, as defined in clauses 4.5.1 to 4.5.4 and 4.5.16 of NGSI-LD, and in NGSIv2. */
export type ExampleForm = 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';

export interface NewExample {
  /** JSON, stored byte for byte. */
  readonly text: string;
  /** Undefined if unknown. */
  readonly form?: ExampleForm | undefined;
}

/** Examples of a model, by name. */
export type NewExamples = ReadonlyMap<string, NewExample>;

/** An example entity of a model. It belongs to the model as a whole, not to a version. */
export interface Example {
  readonly name: string;
  readonly form: ExampleForm | undefined;
  /** The SHA-256 is also the ETag of the example. */
  readonly content: ContentRef;
}

/** Selects models; a missing member does not restrict. */
export interface ModelFilter {
  readonly domain?: string | undefined;
  /** A type of the model's entities. */
  readonly type?: string | undefined;
  readonly attribute?: string | undefined;
  /** Part of the name, the description, a type or an attribute; case does not matter. */
  readonly q?: string | undefined;
}

export interface ModelAt {
  readonly model: Model;
  readonly version: ModelVersion;
}

/** A model version with its texts, all read at the same moment. */
export interface ModelTexts extends ModelAt {
  readonly schema: string;
  readonly context: string;
  /** JSON of the model's own context, if it has one. */
  readonly ownContext: string | undefined;
}

export interface Context extends Stamps {
  readonly name: string;
  /** `generated` contexts are created and deleted with their model. */
  readonly kind: 'custom' | 'generated';
  readonly currentVersion: number;
}

/** A version of a context. It never changes. */
interface ContextVersion {
  readonly number: number;
  readonly createdAt: number;
  readonly content: ContentRef;
}

export interface CurrentVersion {
  readonly name: string;
  readonly number: number;
  readonly createdAt: number;
  /** SHA-256 of the version's context. */
  readonly contextSha256: string;
}

/** The context of a domain, which follows its models and has no versions. The service, not the store, makes its text. */
export interface DomainContextName {
  readonly name: string;
  readonly kind: 'domain';
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly currentVersion?: undefined;
}

export interface ContextAt {
  readonly context: Context;
  readonly version: ContextVersion;
}

export interface NewContextVersion {
  readonly text: string;
  /** Names of the stored contexts that the version builds on. */
  readonly contexts: ReadonlySet<string>;
  /** URI and SHA-256 of the reference documents that it uses as contexts, if any. */
  readonly references?: ReadonlyMap<string, string>;
}

export interface Reference extends Stamps {
  /** Absolute, without a fragment; compared character by character. */
  readonly uri: string;
  readonly source: ReferenceSource;
  readonly content: ContentRef;
}

export interface NewReference {
  readonly uri: string;
  readonly source: ReferenceSource;
  readonly text: string;
  /** URIs that the document's own `$ref`s refer to, stored or not. */
  readonly references: ReadonlySet<string>;
}

/** A reference document with its text. */
export interface ReferenceText extends ContentRef {
  /** The URI under which the document is stored. */
  readonly uri: string;
  readonly text: string;
  /** URIs of the documents that it names, as when it was stored. */
  readonly named: readonly string[];
}

/** A URI under which a document is stored, and the document's hash. */
export interface UriVariant {
  readonly uri: string;
  readonly sha256: string;
}

/** Something that prevents a deletion. `version` is its newest version that depends on the resource to be deleted. */
export type Dependent =
  | { readonly kind: 'model'; readonly domain: string; readonly name: string; readonly version: number }
  | { readonly kind: 'context'; readonly name: string; readonly version: number }
  | { readonly kind: 'reference'; readonly uri: string };

/** Which part of a list to return; both members are integers of 0 or more. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** One page of a list, and the number of items in the whole list. */
export interface Paged<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** Returns the name of the context generated from a model. Names of custom contexts never contain a `~`. */
export function generatedContextName({ domain, name }: ModelKey): string {
  return `${domain}~${name}`;
}

/** Returns the first of some variants of a URI; undefined if different documents are stored under them, because none can be preferred. */
export function soleDocument(variants: readonly UriVariant[]): UriVariant | undefined {
  return new Set(variants.map(({ sha256 }) => sha256)).size === 1 ? variants[0] : undefined;
}
