import { isArray, isObject, member, type JsonObject, type JsonValue } from '../../shared/json/json.js';

/** The member that holds the strings of a LanguageProperty, in key-values form as well (ETSI GS CIM 009, clause 4.5.4). */
export const LANGUAGE_MAP = 'languageMap';

/**
 * What a LanguageProperty in key-values form says in each language: strings, or lists of them. Undefined where they
 * are something else.
 */
export function languagesOf(object: JsonObject): readonly JsonValue[] | undefined {
  const map = member(object, LANGUAGE_MAP);
  if (!isObject(map)) return undefined;
  const texts = Object.values(map);
  return texts.every(isText) ? texts : undefined;
}

function isText(value: JsonValue): boolean {
  return typeof value === 'string' || (isArray(value) && value.every((item) => typeof item === 'string'));
}
