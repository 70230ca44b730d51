import { type JsonValue, jsonEquals } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { isDateTime } from '../../shared/rfc3339.js';
import type {
  Compatibility,
  Model,
  ModelSettings,
  ModelStatus,
  ModelVersion,
  NewExamples,
} from '../../store/index.js';
import type { ContextWarning } from '../json-ld/context-warnings.js';
import type { TermWarning } from '../json-ld/generated-context.js';
import type { ChangeKind } from '../json-schema/differences.js';
import type { Dialect } from '../json-schema/keywords.js';
import { invalidMember, PublishedError } from './errors.js';

/**
 * The body that updates a model; pointers of errors lead into it. Omitted members are unchanged; null removes a member.
 * The same members create a model that does not exist yet, for which the schema is required.
 */
export interface ModelChange {
  /** JSON Schema of an entity in key-values form. */
  readonly schema?: JsonValue | undefined;
  readonly description?: string | null | undefined;
  /** Base IRI of the terms of its context; by default, the service's own. */
  readonly contextBase?: string | null | undefined;
  /**
   * Terms that take precedence over generated ones: a map of terms, an array of maps, URLs and names, the name of a
   * stored context, or the URL of one that is stored or comes from an allowed origin.
   */
  readonly context?: JsonValue | undefined;
  /** The domain's compatibility applies if the model has none. */
  readonly compatibility?: Compatibility | null | undefined;
  /** `published` by default for a new model. */
  readonly status?: ModelStatus | undefined;
  /** When it will be removed: a date and time of RFC 3339. */
  readonly sunset?: string | null | undefined;
  /**
   * When the model was deprecated, in milliseconds since the epoch, if this change deprecates it; now by default. For
   * imports.
   */
  readonly deprecatedAt?: number | undefined;
  /** These replace all examples of the model. For imports. */
  readonly examples?: NewExamples | undefined;
}

/**
 * Returns the settings of a model after a change. Omitted members are unchanged; null removes a member.
 *
 * @param model undefined for a new model
 * @param ownContext the model's current own context as JSON
 * @param now in milliseconds since the epoch; the time of deprecation if the change deprecates the model
 * @throws PublishedError, InvalidBodyError
 */
export function settingsAfter(
  model: Model | undefined,
  ownContext: string | undefined,
  change: ModelChange,
  now: number,
): ModelSettings {
  const { description, contextBase, compatibility } = change;
  const status = change.status ?? model?.status ?? 'published';
  if (model !== undefined && status === 'draft' && model.status !== 'draft') throw new PublishedError(model);
  const deprecatedAt =
    status === 'deprecated' ? (model?.deprecatedAt ?? change.deprecatedAt ?? now) : undefined;
  const sunsetAt =
    change.sunset === undefined
      ? model?.sunsetAt
      : change.sunset === null
        ? undefined
        : timeOf(change.sunset);
  // Header fields only have a precision of seconds (RFC 9745 § 4).
  if (deprecatedAt !== undefined && sunsetAt !== undefined && seconds(sunsetAt) < seconds(deprecatedAt))
    throw invalidMember(
      'sunset',
      `must not be before the model was deprecated, ${new Date(deprecatedAt).toISOString()}`,
    );
  return {
    description: description === undefined ? model?.description : (description ?? undefined),
    contextBase: contextBase === undefined ? model?.contextBase : (contextBase ?? undefined),
    compatibility: compatibility === undefined ? model?.ownCompatibility : (compatibility ?? undefined),
    ownContext: ownContextAfter(ownContext, change.context),
    status,
    deprecatedAt,
    sunsetAt,
  };
}

/** Keeps the stored text if the JSON is equal; the order of members does not matter. */
function ownContextAfter(before: string | undefined, given: JsonValue | undefined): string | undefined {
  if (given === undefined) return before;
  if (given === null) return undefined;
  return before !== undefined && jsonEquals(parseJson(before), given) ? before : JSON.stringify(given);
}

/** Whether a model already has these settings. @param ownContext as for settingsAfter */
export function isSame(model: Model, ownContext: string | undefined, settings: ModelSettings): boolean {
  return (
    ownContext === settings.ownContext &&
    model.description === settings.description &&
    model.contextBase === settings.contextBase &&
    model.ownCompatibility === settings.compatibility &&
    model.status === settings.status &&
    model.deprecatedAt === settings.deprecatedAt &&
    model.sunsetAt === settings.sunsetAt
  );
}

function timeOf(text: string): number {
  const time = isDateTime(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return time;
  throw invalidMember('sunset', 'must be a date and time of RFC 3339, such as 2027-01-31T00:00:00Z');
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/** A property of a model that its author may not expect. */
export interface ModelWarning {
  /**
   * As {@link TermWarning}; `other-type`: entities of the model cannot have its name as their type; `normalized-form`: the
   * schema describes attributes, not their values; `same-iri`: several attributes have the same IRI.
   */
  readonly code: TermWarning['code'] | ContextWarning['code'] | 'other-type' | 'normalized-form' | 'same-iri';
  readonly detail: string;
  /** The name that the warning is about. */
  readonly term: string;
}

/** What is stored with a model version in addition to its texts. */
export interface VersionMetadata {
  /** The draft that the schema is written in. */
  readonly dialect: Dialect;
  /** The kind of change from the previous version; undefined for the first. */
  readonly change?: ChangeKind;
  /** Who created the version, if known. */
  readonly caller?: string;
  /** Names whose terms come from the model's own context, not from the generated one. */
  readonly ownTerms?: readonly string[];
  readonly warnings: readonly ModelWarning[];
}

/** Converts metadata for the store. */
export function storedMetadata({ warnings, ...rest }: VersionMetadata): JsonValue {
  return { ...rest, warnings: warnings.map((warning) => ({ ...warning })) };
}

/** Reads the metadata of a stored version, which {@link storedMetadata} has written. */
export function metadataOf({ metadata }: Pick<ModelVersion, 'metadata'>): VersionMetadata {
  const known = metadata as Partial<VersionMetadata> | null;
  return { dialect: '2020-12', warnings: [], ...known };
}
