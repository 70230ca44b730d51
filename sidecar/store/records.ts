import type { JsonValue } from '../shared/json/json.js';

export type { JsonValue } from '../shared/json/json.js';

/**
 * What a new version of a model must be towards the one before it: anything; such that it accepts what the one before accepts;
 * such that the one before accepts what it accepts; or both.
 */
export type Compatibility = 'none' | 'backward' | 'forward' | 'full';

/** What its users may expect of a model: that it still changes at will, that it stays, or that it will be removed. */
export type ModelStatus = 'draft' | 'published' | 'deprecated';

/** Where a reference document came from: given by an operator, or fetched for a `$ref`. */
export type ReferenceSource = 'stored' | 'fetched';

/** A stored text, named by its content: what `SchemaStore.content` takes. */
export interface ContentRef {
  /** SHA-256 of the UTF-8 bytes, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Length in bytes of UTF-8. */
  readonly size: number;
}

/** What everything that has a history in the store carries. Times are milliseconds since the epoch. */
interface Stamps {
  readonly createdAt: number;
  /** Strictly later after each change, even when the clock stands still or goes back. */
  readonly modifiedAt: number;
  /** Opaque, 22 URL-safe characters; another one after each change. No quotes: HTTP's are the caller's to add. */
  readonly etag: string;
}

/** A domain counts as modified whenever one of its models is created, updated or deleted. */
export interface Domain extends Stamps, Required<DomainSettings> {
  readonly name: string;
}

/** A domain in a list. */
export interface ListedDomain extends Domain {
  /** How many it holds. */
  readonly models: number;
}

export interface NewDomain {
  readonly name: string;
  readonly description?: string | undefined;
  /** `none` when left out. */
  readonly compatibility?: Compatibility | undefined;
}

/** What of a domain can be changed. */
export interface DomainSettings {
  readonly description?: string | undefined;
  /** Of its models without one of their own. */
  readonly compatibility: Compatibility;
}

export interface ModelKey {
  readonly domain: string;
  readonly name: string;
}

/** The parts of a model that an update may change without making a version. */
export interface ModelSettings {
  readonly description?: string | undefined;
  /** Base IRI of the model's generated terms, where it has its own. */
  readonly contextBase?: string | undefined;
  /** Its domain's when left out. */
  readonly compatibility?: Compatibility | undefined;
  /** JSON of the context that the model was given, where it has its own. */
  readonly ownContext?: string | undefined;
  /** `published` when left out. */
  readonly status?: ModelStatus | undefined;
  /** Since when it is deprecated, and when it will be removed, where that is known. */
  readonly deprecatedAt?: number | undefined;
  readonly sunsetAt?: number | undefined;
}

export interface Model extends ModelKey, Omit<Required<ModelSettings>, 'ownContext' | 'status'>, Stamps {
  /** That which holds: its own, or its domain's. */
  readonly compatibility: Compatibility;
  readonly ownCompatibility: Compatibility | undefined;
  readonly ownContext: ContentRef | undefined;
  readonly status: ModelStatus;
  readonly currentVersion: number;
  /** Name of the context generated from it; that context's version N belongs to the model's version N. */
  readonly contextName: string;
}

/** A reference document as it was when a model version was made: later changes of it do not reach the version. */
export interface PinnedReference extends ContentRef {
  readonly uri: string;
}

/** Never changes once made, but for that of a draft. */
export interface ModelVersion {
  readonly number: number;
  readonly createdAt: number;
  readonly description: string | undefined;
  readonly schema: ContentRef;
  readonly context: ContentRef;
  /** Every document that the schema reaches, by URI. */
  readonly references: readonly PinnedReference[];
  readonly metadata: JsonValue;
}

/** What the caller gives for a new version; numbers (1, 2, 3 …) are the store's. */
export interface NewModelVersion {
  /** Text of the JSON Schema, kept to the byte. */
  readonly schema: string;
  /** Text of the context generated from it. */
  readonly context: string;
  readonly description?: string | undefined;
  /** Anything the caller wants to keep with the version. */
  readonly metadata: JsonValue;
  /** URI to SHA-256 of every reference document that the schema reaches, as read for checking it. */
  readonly references: ReadonlyMap<string, string>;
  /** Names of the stored contexts that it needs. */
  readonly contexts: ReadonlySet<string>;
  /** URI to SHA-256 of the reference documents that its context was made from, where there are some. */
  readonly contextReferences?: ReadonlyMap<string, string>;
  /** What it can be found by; without, it is found by name and description only. */
  readonly terms?: ModelTerms | undefined;
}

/** What the newest version of a model is found by. */
export interface ModelTerms {
  /** Types of its entities; at least one. */
  readonly types: readonly string[];
  readonly attributes: readonly string[];
}

/** The most examples of one model. */
export const MAX_EXAMPLES = 100;

/** The representation of an entity, as clauses 4.5.1 to 4.5.4 and 4.5.16 of NGSI-LD, and NGSIv2, have them. */
export type ExampleForm = 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';

/** What an example of a model is made from. */
export interface NewExample {
  /** JSON, kept to the byte. */
  readonly text: string;
  /** Undefined where it is not known. */
  readonly form?: ExampleForm | undefined;
}

/** Examples of a model, by their names. */
export type NewExamples = ReadonlyMap<string, NewExample>;

/** An entity that shows what a model describes. It belongs to the model, whatever its version. */
export interface Example {
  readonly name: string;
  readonly form: ExampleForm | undefined;
  /** Its SHA-256 also is the ETag of the example. */
  readonly content: ContentRef;
}

/** What models have to have; what is left out may be anything. */
export interface ModelFilter {
  readonly domain?: string | undefined;
  /** A type of its entities. */
  readonly type?: string | undefined;
  readonly attribute?: string | undefined;
  /** A part of the name, of the description, of a type or of an attribute, in small or capital letters. */
  readonly q?: string | undefined;
}

/** A model, and one of its versions. */
export interface ModelAt {
  readonly model: Model;
  readonly version: ModelVersion;
}

/** A model version with its own texts, read at one moment. */
export interface ModelTexts extends ModelAt {
  readonly schema: string;
  readonly context: string;
  /** JSON of the context that the model was given, where it has its own. */
  readonly ownContext: string | undefined;
}

export interface Context extends Stamps {
  readonly name: string;
  /** `generated` ones come and go with their model. */
  readonly kind: 'custom' | 'generated';
  readonly currentVersion: number;
}

/** Never changes once made. */
interface ContextVersion {
  readonly number: number;
  readonly createdAt: number;
  readonly content: ContentRef;
}

/** Which version of a model is the current one. */
export interface CurrentVersion {
  readonly name: string;
  readonly number: number;
  readonly createdAt: number;
  /** SHA-256 of its context. */
  readonly contextSha256: string;
}

/** The context of a domain, which follows its models and has no versions. Its text is for the service to make. */
export interface DomainContextName {
  /** That of the domain. */
  readonly name: string;
  readonly kind: 'domain';
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly currentVersion?: undefined;
}

/** A context, and one of its versions. */
export interface ContextAt {
  readonly context: Context;
  readonly version: ContextVersion;
}

export interface NewContextVersion {
  readonly text: string;
  /** Names of the stored contexts that it builds on. */
  readonly contexts: ReadonlySet<string>;
  /** URI to SHA-256 of the reference documents that it names as contexts, where there are some. */
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
  /** URIs of the documents that its own `$ref`s name, stored or not. */
  readonly references: ReadonlySet<string>;
}

/** A reference document with its text. */
export interface ReferenceText extends ContentRef {
  /** Under which it is stored. */
  readonly uri: string;
  readonly text: string;
}

/** A URI under which a document is stored, and the document. */
export interface Spelling {
  readonly uri: string;
  readonly sha256: string;
}

/** What keeps something from being deleted. `version` is the newest version that depends on it. */
export type Dependent =
  | { readonly kind: 'model'; readonly domain: string; readonly name: string; readonly version: number }
  | { readonly kind: 'context'; readonly name: string; readonly version: number }
  | { readonly kind: 'reference'; readonly uri: string };

/** Both are whole numbers of at least 0. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** One page of a list, and how many items the whole list has. */
export interface Paged<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** Name of the context that is generated from a model. No name of a custom context holds a `~`. */
export function generatedContextName({ domain, name }: ModelKey): string {
  return `${domain}~${name}`;
}

/** The first of some spellings; undefined where the documents that are stored under them differ, and none is meant. */
export function theOneDocument(spellings: readonly Spelling[]): Spelling | undefined {
  return new Set(spellings.map(({ sha256 }) => sha256)).size === 1 ? spellings[0] : undefined;
}
