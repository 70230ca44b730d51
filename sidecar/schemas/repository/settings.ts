import { isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { defined } from '../../shared/defined.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import type { ModelChange } from '../models/index.js';
import type { Domain, ModelTexts, NewDomain } from '../../store/index.js';

/** The settings of a model in an export. */
const MEMBERS = [
  'description',
  'contextBase',
  'compatibility',
  'status',
  'deprecatedAt',
  'sunset',
  'context',
] as const;

/** Returns the settings of a model for an export, without those that it does not have. */
export function settingsOf({ model, ownContext }: ModelTexts): JsonObject {
  const { description, contextBase, ownCompatibility, status, deprecatedAt, sunsetAt } = model;
  const settings: Readonly<Record<(typeof MEMBERS)[number], JsonValue | undefined>> = {
    description,
    contextBase,
    // If the model has none, that of the domain into which it is imported applies.
    compatibility: ownCompatibility,
    status,
    deprecatedAt: timeText(deprecatedAt),
    sunset: timeText(sunsetAt),
    context: ownContext === undefined ? undefined : (parseJson(ownContext) as JsonValue),
  };
  return defined(settings);
}

/** Returns the settings of a domain; undefined if it has none and its models already show that it exists. */
export function domainSettingsOf(
  { description, compatibility }: Domain,
  hasModels: boolean,
): JsonObject | undefined {
  const settings = defined({
    description,
    compatibility: compatibility === 'none' ? undefined : compatibility,
  });
  return hasModels && Object.keys(settings).length === 0 ? undefined : settings;
}

function timeText(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

/** Maximum length of a model's description, in characters. */
const MAX_DESCRIPTION = 4000;

const oneOf =
  (...known: readonly string[]) =>
  (value: JsonValue) =>
    typeof value === 'string' && known.includes(value);
const isText = (value: JsonValue) => typeof value === 'string';

/** The requirements for each setting, unless it is missing or null. */
const WANTED: Readonly<
  Record<(typeof MEMBERS)[number], readonly [(value: JsonValue) => boolean, string] | undefined>
> = {
  description: [
    (value) => typeof value === 'string' && value.length <= MAX_DESCRIPTION,
    `a text of at most ${MAX_DESCRIPTION} characters`,
  ],
  contextBase: [isText, 'an IRI'],
  compatibility: [oneOf('none', 'backward', 'forward', 'full'), 'none, backward, forward or full'],
  status: [oneOf('draft', 'published', 'deprecated'), 'draft, published or deprecated'],
  deprecatedAt: [(value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)), 'a date and time'],
  sunset: [isText, 'a date and time'],
  // The service checks the context itself.
  context: undefined,
};

/** Returns what is wrong with the settings in an export, as a sentence; undefined if nothing is. */
export function settingsFault(text: string): string | undefined {
  const settings = parseJson(text) as JsonValue;
  if (!isObject(settings)) return 'Its settings (meta.json) must be an object.';
  const wrong = wrongIn(settings, MEMBERS);
  return wrong && `Its setting ${wrong.name} (meta.json) must be ${wrong.wanted}.`;
}

/** Returns the checked settings of a domain, or what is wrong with them, as a sentence. */
export function domainSettingsIn(
  text: string,
): { readonly settings: DomainSettings } | { readonly fault: string } {
  const settings = parseJson(text) as JsonValue;
  if (!isObject(settings)) return { fault: 'The settings of a domain must be an object.' };
  const wrong = wrongIn(settings, ['description', 'compatibility']);
  if (wrong !== undefined) return { fault: `Its member ${wrong.name} must be ${wrong.wanted}.` };
  const { description, compatibility } = settings as {
    [Name in keyof DomainSettings]?: DomainSettings[Name] | null;
  };
  return { settings: { description: description ?? undefined, compatibility: compatibility ?? undefined } };
}

type DomainSettings = Pick<NewDomain, 'description' | 'compatibility'>;

function wrongIn(settings: JsonObject, names: readonly (typeof MEMBERS)[number][]) {
  for (const name of names) {
    const value = member(settings, name);
    const [isRight, wanted = ''] = WANTED[name] ?? [];
    if (value === undefined || value === null || isRight === undefined || isRight(value)) continue;
    return { name, wanted };
  }
  return undefined;
}

/**
 * Returns the change that applies the checked settings in an export to a model; settings that are missing there are
 * removed.
 */
export function settingsIn(text: string): Omit<ModelChange, 'schema'> {
  const settings = parseJson(text) as JsonValue;
  const change: Record<string, JsonValue> = {};
  for (const name of MEMBERS) {
    const value = isObject(settings) ? member(settings, name) : undefined;
    if (value !== undefined && value !== null)
      change[name] = name === 'deprecatedAt' ? Date.parse(value as string) : value;
    else if (name !== 'status' && name !== 'deprecatedAt') change[name] = null;
  }
  return change;
}

/** The texts of a model found in a repository. */
export interface FoundModelTexts {
  /** Text of its schema. */
  readonly schema: string;
  /** The `$id` to add to the schema. */
  readonly id?: string | undefined;
  /** Text of its settings in an export. */
  readonly settings?: string | undefined;
  /** The context that the model uses as its own. */
  readonly context?: JsonValue | undefined;
}

/**
 * Returns the change that makes a model match the repository.
 *
 * @param isThere whether the gateway already has a model of this name
 */
export function modelChangeOf(
  { schema: text, id, settings, context }: FoundModelTexts,
  isThere: boolean,
): ModelChange {
  const own = parseJson(text) as JsonObject;
  const schema = id === undefined ? own : { ...own, $id: id };
  if (settings !== undefined) return { schema, ...settingsIn(settings) };
  const description = isObject(own) ? member(own, 'description') : undefined;
  const isUsable = typeof description === 'string' && description.length <= MAX_DESCRIPTION;
  return {
    schema,
    // The description may have been edited here in the meantime.
    ...(isThere || !isUsable ? {} : { description }),
    ...(context === undefined ? {} : { context }),
  };
}
