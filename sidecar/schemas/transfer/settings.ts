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

/** The change that gives a model the settings of an export; what they leave out is taken away. The service checks them. */
export function settingsIn(text: string): Omit<ModelChange, 'schema'> {
  const settings = JSON.parse(text) as JsonValue;
  const change: Record<string, JsonValue> = {};
  for (const name of MEMBERS) {
    const value = isObject(settings) ? member(settings, name) : undefined;
    if (value !== undefined) change[name] = value;
    else if (name !== 'status') change[name] = null;
  }
  return change;
}
