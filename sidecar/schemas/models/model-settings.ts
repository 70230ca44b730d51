import { type JsonValue, sameJson } from '../../shared/json/json.js';
import { parseJson, writeJson } from '../../shared/json/lossless-json.js';
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
 * The body that updates a model; pointers of errors lead into it. What is left out stays; null removes it. The same members
 * create a model that does not exist yet, for which the schema is required.
 */
export interface ModelChange {
  /** JSON Schema of an entity in key-values form. */
  readonly schema?: JsonValue | undefined;
  readonly description?: string | null | undefined;
  /** Base IRI of the terms of its context; without one, the service's own. */
  readonly contextBase?: string | null | undefined;
  /**
   * Terms that win over generated ones: a map of terms, an array of maps, URLs and names, the name of a stored context, or the
   * URL of one that is stored or comes from an allowed origin.
   */
  readonly context?: JsonValue | undefined;
  /** Its domain's when the model has none. */
  readonly compatibility?: Compatibility | null | undefined;
  /** `published` for a new model, when left out. */
  readonly status?: ModelStatus | undefined;
  /** When it will be removed: a date and time of RFC 3339. */
  readonly sunset?: string | null | undefined;
  /**
   * Since when it is deprecated, in milliseconds since the epoch, if this change deprecates it; now when left out. For imports.
   */
  readonly deprecatedAt?: number | undefined;
  /** Take the place of all examples of the model. For imports. */
  readonly examples?: NewExamples | undefined;
}

/**
 * The settings of a model after a change. What is left out stays; null removes it.
 *
 * @param model undefined for one that is created
 * @param ownContext JSON of the context that it was given before
 * @param now in milliseconds since the epoch: since when it is deprecated, if it is from now on
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
  // Header fields have seconds (RFC 9745 § 4).
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

/** Keeps the stored text if the JSON is equal: the order of members does not matter. */
function ownContextAfter(before: string | undefined, given: JsonValue | undefined): string | undefined {
  if (given === undefined) return before;
  if (given === null) return undefined;
  return before !== undefined && sameJson(parseJson(before), given) ? before : writeJson(given);
}

/** Whether a model has these settings. @param ownContext as for settingsAfter */
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

/** Something about a model that its author may not expect. */
export interface ModelWarning {
  /**
   * As {@link TermWarning}; `other-type`: entities of the model cannot have its name as their type; `normalized-form`: the
   * schema describes attributes, not their values.
   */
  readonly code: TermWarning['code'] | ContextWarning['code'] | 'other-type' | 'normalized-form';
  readonly detail: string;
  /** The name that the warning is about. */
  readonly term: string;
}

/** What is stored with a model version besides its texts. */
export interface VersionMetadata {
  /** The draft that the schema is written in. */
  readonly dialect: Dialect;
  /** What changed from the version before; undefined for the first. */
  readonly change?: ChangeKind;
  /** Who made it, as far as that is known. */
  readonly caller?: string;
  /** Names whose terms come from the model's own context, not from the generated one. */
  readonly ownTerms?: readonly string[];
  readonly warnings: readonly ModelWarning[];
}

/** The metadata as the store keeps it. */
export function storedMetadata({ warnings, ...rest }: VersionMetadata): JsonValue {
  return { ...rest, warnings: warnings.map((warning) => ({ ...warning })) };
}

/** The metadata of a stored version, which only {@link storedMetadata} makes. */
export function metadataOf({ metadata }: Pick<ModelVersion, 'metadata'>): VersionMetadata {
  const known = metadata as Partial<VersionMetadata> | null;
  return { dialect: '2020-12', warnings: [], ...known };
}
