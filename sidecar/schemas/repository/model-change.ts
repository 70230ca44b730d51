import { isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { withAbsoluteNames } from './context-names.js';
import type { ModelChange } from '../models/index.js';
import { MAX_DESCRIPTION, settingsIn } from './settings.js';

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

/**
 * The context in a file: its `@context`, or the whole file if it is not an object with one.
 *
 * @param base the URL against which its relative names of other contexts resolve
 */
export function contextIn(text: string, base?: string): JsonValue {
  const document = parseJson(text) as JsonValue;
  const context = isObject(document) ? (member(document, '@context') ?? null) : document;
  return base === undefined ? context : withAbsoluteNames(context, base);
}
