import { type JsonValue, sameJson } from '../../shared/json/json.js';
import { parseJson, writeJson } from '../../shared/json/lossless-json.js';
import { isDateTime } from '../../shared/rfc3339.js';
import type { Model, ModelSettings } from '../../store/records.js';
import { invalidMember, PublishedError } from './errors.js';
import type { ModelChange } from './shapes.js';

/**
 * The settings of a model after a change. What is left out stays; null takes it away.
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
  // Header fields tell seconds (RFC 9745 § 4).
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

/** The same text for the same JSON: the order of members is no change. */
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
