import { isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import type { ModelChange, ModelDetails } from '../service/shapes.js';

/** What an export keeps of a model beside its schema. */
const MEMBERS = ['description', 'contextBase', 'compatibility', 'status', 'sunset', 'context'] as const;

/** The settings of a model, as an export writes them down: what it does not have is left out. */
export function settingsOf(model: ModelDetails): JsonObject {
  const { description, contextBase, ownCompatibility, status, sunsetAt, context } = model;
  const settings: Readonly<Record<(typeof MEMBERS)[number], JsonValue | undefined>> = {
    description,
    contextBase,
    // Without one of its own, it goes by the domain into which it is imported.
    compatibility: ownCompatibility,
    status,
    sunset: sunsetAt === undefined ? undefined : new Date(sunsetAt).toISOString(),
    context,
  };
  return Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}

/** Characters of a description that a model takes. */
const MAX_DESCRIPTION = 4000;

const oneOf =
  (...known: readonly string[]) =>
  (value: JsonValue) =>
    typeof value === 'string' && known.includes(value);
const isText = (value: JsonValue) => typeof value === 'string';

/** What a setting must be, where it is there and not null. */
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
  sunset: [isText, 'a date and time'],
  // The service checks it.
  context: undefined,
};

/** What is wrong with the settings of an export, as a sentence; undefined when nothing is. */
export function settingsFault(text: string): string | undefined {
  const settings = JSON.parse(text) as JsonValue;
  if (!isObject(settings)) return 'Its settings (meta.json) must be an object.';
  for (const name of MEMBERS) {
    const value = member(settings, name);
    const [isRight, wanted] = WANTED[name] ?? [];
    if (value === undefined || value === null || isRight === undefined || isRight(value)) continue;
    return `Its setting ${name} (meta.json) must be ${wanted ?? ''}.`;
  }
  return undefined;
}

/** The change that gives a model the checked settings of an export; what they leave out is removed. */
export function settingsIn(text: string): Omit<ModelChange, 'schema'> {
  const settings = JSON.parse(text) as JsonValue;
  const change: Record<string, JsonValue> = {};
  for (const name of MEMBERS) {
    const value = isObject(settings) ? member(settings, name) : undefined;
    if (value !== undefined && value !== null) change[name] = value;
    else if (name !== 'status') change[name] = null;
  }
  return change;
}
