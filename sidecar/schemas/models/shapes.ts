import { parseJson } from '../../shared/json/lossless-json.js';
import type { ChangedPointer } from '../../shared/json/changed-pointers.js';
import type { ContextWarning } from '../json-ld/context-warnings.js';
import type { TermWarning } from '../json-ld/generated-context.js';
import type { ChangeKind, ChangeReport } from '../json-schema/differences.js';
import type { Dialect } from '../json-schema/keywords.js';
import type {
  Compatibility,
  Context,
  DomainContextName,
  JsonValue,
  Model,
  ModelAt,
  ModelStatus,
  ModelVersion,
} from '../../store/records.js';
import type { IfMatch } from '../../store/store.js';

export { worst } from '../json-schema/differences.js';
export type { ChangeKind, ChangeReason, ChangeReport, Difference } from '../json-schema/differences.js';
export type { ContextWarning } from '../json-ld/context-warnings.js';
export type { JsonValue } from '../../shared/json/json.js';
export type {
  Compatibility,
  Context,
  Dependent,
  Domain,
  ListedDomain,
  Model,
  ModelFilter,
  ModelKey,
  ModelStatus,
  Page,
  Paged,
  Reference,
} from '../../store/records.js';
export type { IfMatch, PutReference } from '../../store/store.js';

export interface WriteOptions {
  /** The ETags of which the thing must have one; leave out for `If-Match: *`, as nothing here makes what is missing. */
  readonly ifMatch?: IfMatch | undefined;
}

/** Members of the body that creates a model; pointers are into it. */
export interface NewModel {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of an entity in key-values form. */
  readonly schema: JsonValue;
  /** Base IRI of the terms of its context; without one, the service's own. */
  readonly contextBase?: string | undefined;
  /**
   * Terms that win over generated ones: a map of terms, an array of maps, URLs and names, the name of a stored context, or the
   * URL of one that is stored or of an allowed origin.
   */
  readonly context?: JsonValue | undefined;
  /** Its domain's when left out. */
  readonly compatibility?: Compatibility | undefined;
  /** `published` when left out. */
  readonly status?: ModelStatus | undefined;
  /** When it will be removed: a date and time of RFC 3339. */
  readonly sunset?: string | undefined;
}

/** Members of the body that updates a domain. What is left out stays; null takes it away. */
export interface DomainChange {
  readonly description?: string | null | undefined;
  readonly compatibility?: Compatibility | null | undefined;
}

/**
 * Members of the body that updates a model; pointers are into it. What is left out stays; null takes it away. A model that is
 * not there is created from the same members, of which it needs the schema.
 */
export interface ModelChange {
  readonly schema?: JsonValue | undefined;
  readonly description?: string | null | undefined;
  readonly contextBase?: string | null | undefined;
  readonly context?: JsonValue | undefined;
  readonly compatibility?: Compatibility | null | undefined;
  readonly status?: ModelStatus | undefined;
  readonly sunset?: string | null | undefined;
  /**
   * Since when it is deprecated, in milliseconds since the epoch, if it is deprecated by this change; now where it is left out. For
   * imports.
   */
  readonly deprecatedAt?: number | undefined;
}

export interface ModelWriteOptions {
  /** Check everything, with the same refusals, and write nothing. */
  readonly dryRun?: boolean | undefined;
  /** As in {@link ModelReadOptions}: URLs below it are this service's own. */
  readonly baseUrl?: string | undefined;
  /**
   * Texts, from before, of contexts of this service, by name, that were changed along with the model: the report compares with
   * these. What the model's compatibility allows does not depend on them.
   */
  readonly contextsBefore?: ReadonlyMap<string, string> | undefined;
}

/** What its users may expect of a model. Times are milliseconds since the epoch. */
export type Lifecycle = Pick<Model, 'status' | 'deprecatedAt' | 'sunsetAt'>;

/** A model at its current version. */
export interface ModelDetails extends Model {
  readonly version: VersionSummary;
  readonly schema: JsonValue;
  /** The context that it was given, where it has its own. */
  readonly context: JsonValue | undefined;
  readonly warnings: readonly ModelWarning[];
}

export interface VersionSummary {
  readonly number: number;
  readonly createdAt: number;
  /** The model's description when the version was made. */
  readonly description: string | undefined;
  /** The draft that the schema is written in. */
  readonly dialect: Dialect;
  /** SHA-256 of the schema as stored, hex, and its length in bytes. */
  readonly sha256: string;
  readonly size: number;
  /** What changed from the version before it; undefined for the first. */
  readonly change: ChangeKind | undefined;
  /** URIs of the documents that the schema refers to, directly or not. */
  readonly references: readonly string[];
}

/** Something about a model that may not be as its author expects. */
export interface ModelWarning {
  /** As {@link TermWarning}; `other-type`: entities of the model cannot have its name as their type. */
  readonly code: TermWarning['code'] | ContextWarning['code'] | 'other-type';
  readonly detail: string;
  /** The name that the warning is about. */
  readonly term: string;
}

/** What has changed from one stored version of a model to another. */
export interface ModelDiff {
  readonly from: number;
  readonly to: number;
  /** As it would be reported for an update from the one to the other. */
  readonly change: ChangeReport;
  /** Where the schemas differ as they were given, annotations included; at most 1,000. */
  readonly pointers: readonly ChangedPointer[];
  readonly pointersTotal: number;
}

/**
 * - `created`: a new model
 * - `version`: a new version
 * - `replaced`: the version of a draft is another one now
 * - `settings`: changed without a new version
 * - `unchanged`: nothing differs
 */
export type ModelOutcome = 'created' | 'version' | 'replaced' | 'settings' | 'unchanged';

export interface ModelUpdate {
  readonly outcome: ModelOutcome;
  readonly dryRun: boolean;
  /** Number of the version that the schema has, or would have. */
  readonly number: number;
  /** From the current version to the schema of the update; pointers are into the schema, bundled. */
  readonly change: ChangeReport;
  /** Of the schema of the update. */
  readonly warnings: readonly ModelWarning[];
  /** As it is now: after a dry run, as it was. */
  readonly model: ModelDetails;
}

/** What a write did that may also create a model. */
export interface ModelPut extends Omit<ModelUpdate, 'model'> {
  /** Undefined after a dry run that would create it. */
  readonly model: ModelDetails | undefined;
}

/** The same in three words. */
export function resultOf({ outcome }: Pick<ModelPut, 'outcome'>): 'created' | 'updated' | 'unchanged' {
  return outcome === 'created' || outcome === 'unchanged' ? outcome : 'updated';
}

/**
 * - `schema`: JSON Schema as it was accepted; `bundled`: the same, self-contained, of draft 2020-12
 * - `openapi`: OpenAPI 3.1 of NGSI-LD on entities of the model
 * - `context`: JSON-LD context, that of `contexts.document` for the model's `contextName`
 * - `example`: an entity that satisfies the schema, in key-values form with `@context`
 * - `example-normalized`: the same entity as brokers take it
 */
export type ModelDocumentKind =
  | 'schema'
  | 'bundled'
  | 'openapi'
  | 'context'
  | 'example'
  | 'example-normalized';

export interface ModelReadOptions {
  /** The current one when not given. Of a given version, documents never change while `baseUrl` stays. */
  readonly version?: number | undefined;
  /** Where clients and brokers reach this service, without a trailing slash: `http://gateway:8000`. */
  readonly baseUrl: string;
}

/** The schema of a model version, to be compiled. */
export interface ModelSchema {
  /** The same for schemas that are the same with all that they refer to; SHA-256, hex. */
  readonly contentHash: string;
  readonly lifecycle: Lifecycle;
  /** Its text, self-contained, of draft 2020-12. @throws errors of the workers, StoreUnavailableError */
  readonly text: () => Promise<string>;
}

/** Bytes to be sent as they are. */
export interface ServedDocument {
  readonly bytes: Buffer;
  readonly mediaType: string;
  /** Of the bytes, 64 lower-case hex digits. */
  readonly sha256: string;
  /** What `If-None-Match` is compared with, and `If-Match` of a later write. */
  readonly etag: string;
  /** Whether contexts of this service are named in it as they are stored: see `withBaseUrl`. */
  readonly isInternal?: boolean;
}

export interface ModelFile {
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
  readonly sha256: string;
  /** Of a document that the schema refers to: what its `$ref`s say. */
  readonly uri?: string;
}

export interface ContextWriteOptions {
  /** As in {@link ModelReadOptions}: URLs below it are this service's own. */
  readonly baseUrl: string;
  /** Where the context stands in the body, for pointers; `/@context` when not given. */
  readonly pointer?: string | undefined;
}

export interface ContextUpdateOptions extends ContextWriteOptions, WriteOptions {
  /** Check everything, with the same refusals, and write nothing. */
  readonly dryRun?: boolean | undefined;
  /** Refuse what a follower could not be processed with, and say for which models it means something else. */
  readonly looksAtFollowers?: boolean | undefined;
  /** Ends the look at followers; nothing is written then. */
  readonly signal?: AbortSignal | undefined;
}

/** A context of any kind; the core ones are bundled and have neither times nor versions beside 1, those of domains no versions. */
export type ContextSummary =
  | Context
  | DomainContextName
  | {
      readonly kind: 'core';
      readonly name: string;
      readonly currentVersion: 1;
      readonly etag: string;
      readonly canonicalUrl: string;
    };

export interface ServedContext extends ServedDocument {
  readonly kind: ContextSummary['kind'];
  /** Of the model that it is generated from, as it was before the document was looked up. */
  readonly lifecycle?: Lifecycle | undefined;
  /** Of the context of a domain: how many things about it may not be as its users expect. */
  readonly warningCount?: number;
}

/**
 * Something about the followers of a context.
 *
 * - `broken-follower`: it cannot be processed any more
 * - `followers-not-compared`: what the change means for them is not known
 */
export interface FollowerWarning {
  readonly code: 'broken-follower' | 'followers-not-compared';
  /** That of the context. */
  readonly pointer: string;
  readonly detail: string;
}

/** A model for which a context that it follows means something else. */
export interface ChangedFollower {
  readonly domain: string;
  readonly model: string;
  readonly change: ChangeReport;
}

export interface WrittenContext {
  /** As it is now: after a dry run, as it was. */
  readonly context: Context;
  /** False for an update that changed nothing, or would change nothing. */
  readonly isNewVersion: boolean;
  readonly warnings: readonly (ContextWarning | FollowerWarning)[];
  /** Of an update that looked at them. */
  readonly followers: readonly ChangedFollower[];
}

/** What is kept with a model version, as found out when it was made. */
export interface VersionMetadata {
  readonly dialect: VersionSummary['dialect'];
  /** From the version before. */
  readonly change?: ChangeKind;
  /** Names whose terms are those of the model's own context. */
  readonly ownTerms?: readonly string[];
  readonly warnings: readonly ModelWarning[];
}

export function storedMetadata({ warnings, ...rest }: VersionMetadata): JsonValue {
  return { ...rest, warnings: warnings.map((warning) => ({ ...warning })) };
}

/** Names whose terms are those of the model's own context, and not among the generated ones. */
export function ownTermsOf(metadata: JsonValue): readonly string[] {
  return (metadata as Partial<VersionMetadata> | null)?.ownTerms ?? [];
}

/** Nothing but {@link storedMetadata} writes it. */
function metadataOf({ metadata }: ModelVersion): VersionMetadata {
  return metadata as unknown as VersionMetadata;
}

function warningsOf(version: ModelVersion): readonly ModelWarning[] {
  return metadataOf(version).warnings;
}

export function summaryOf(version: ModelVersion): VersionSummary {
  const { number, createdAt, description, schema, references } = version;
  const { dialect, change } = metadataOf(version);
  return {
    number,
    createdAt,
    description,
    dialect,
    ...schema,
    change,
    references: references.map(({ uri }) => uri),
  };
}

/**
 * A model at its current version, with that version's schema.
 *
 * @param ownContext JSON of the context that it was given
 */
export function detailsOf(
  { model, version }: ModelAt,
  schema: JsonValue,
  ownContext: string | undefined,
): ModelDetails {
  const context = ownContext === undefined ? undefined : (parseJson(ownContext) as JsonValue);
  return { ...model, version: summaryOf(version), schema, context, warnings: warningsOf(version) };
}
