import { isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import type { ModelChange } from '../models/index.js';
import type { Domain, ModelTexts, NewDomain } from '../../store/index.js';

/** What an export keeps of a model beside its schema. */
const MEMBERS = [
  'description',
  'contextBase',
  'compatibility',
  'status',
  'deprecatedAt',
  'sunset',
  'context',
] as const;

/** The settings of a model, as an export writes them down: what it does not have is left out. */
export function settingsOf({ model, ownContext }: ModelTexts): JsonObject {
  const { description, contextBase, ownCompatibility, status, deprecatedAt, sunsetAt } = model;
  const settings: Readonly<Record<(typeof MEMBERS)[number], JsonValue | undefined>> = {
    description,
    contextBase,
    // Without its own, that of the domain into which it is imported applies.
    compatibility: ownCompatibility,
    status,
    deprecatedAt: timeText(deprecatedAt),
    sunset: timeText(sunsetAt),
    context: ownContext === undefined ? undefined : (parseJson(ownContext) as JsonValue),
  };
  return withoutUndefined(settings);
}

/** The settings of a domain; undefined if it has none and its models already show that it exists. */
export function domainSettingsOf(
  { description, compatibility }: Domain,
  hasModels: boolean,
): JsonObject | undefined {
  const settings = withoutUndefined({
    description,
    compatibility: compatibility === 'none' ? undefined : compatibility,
  });
  return hasModels && Object.keys(settings).length === 0 ? undefined : settings;
}

function withoutUndefined(settings: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}

function timeText(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

/** Characters of a description that a model takes. */
const MAX_DESCRIPTION = 4000;

const oneOf =
  (...known: readonly string[]) =>
  (value: JsonValue) =>
    typeof value === 'string' && known.includes(value);
const isText = (value: JsonValue) => typeof value === 'string';

/** What a setting must be, unless it is missing or null. */
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
  // The service checks it.
  context: undefined,
};

/** What is wrong with the settings of an export, as a sentence; undefined when nothing is. */
export function settingsFault(text: string): string | undefined {
  const settings = parseJson(text) as JsonValue;
  if (!isObject(settings)) return 'Its settings (meta.json) must be an object.';
  const wrong = wrongIn(settings, MEMBERS);
  return wrong && `Its setting ${wrong.name} (meta.json) must be ${wrong.wanted}.`;
}

/** The checked settings of a domain, or what is wrong with them, as a sentence. */
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

/** The change that gives a model the checked settings of an export; what they leave out is removed. */
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

/** A model as it is found in a repository. */
export interface FoundModelTexts {
  /** Of its schema. */
  readonly schema: string;
  /** The `$id` that the schema needs to be given. */
  readonly id?: string | undefined;
  /** Of the settings that an export keeps beside it. */
  readonly settings?: string | undefined;
  /** The context that it takes as its own. */
  readonly context?: JsonValue | undefined;
}

/** The change that makes a model what it is in a repository. @param isThere whether the gateway has a model of its name */
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
    // It may have been edited here since.
    ...(isThere || !isUsable ? {} : { description }),
    ...(context === undefined ? {} : { context }),
  };
}
