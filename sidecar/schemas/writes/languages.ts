import { isObject, type JsonValue, member } from '../../shared/json/json.js';
import { isDeleted } from './deletions.js';
import type { Submitted } from './submitted.js';
import type { WriteModel } from './write-models.js';

/**
 * The attributes of a merge with `lang` but those that may be put into the language map that the stored entity has
 * (ETSI GS CIM 009 V1.9.1, clause 5.6.17). A broker that does not know `lang` replaces such a map by the string.
 */
export function withoutMergedStrings(
  models: readonly WriteModel[],
  submitted: Submitted,
): { readonly rest: Submitted; readonly doubt?: string } {
  const isMerged = ({ iri, value }: Submitted['members'][number]) =>
    isStringAlone(value) && !isDeleted(value) && models.some((model) => hasLanguages(model, iri));
  const merged = submitted.members.find(isMerged);
  if (merged === undefined) return { rest: submitted };
  return {
    rest: { ...submitted, members: submitted.members.filter((one) => !isMerged(one)) },
    doubt: `with lang, brokers differ in what they make of the string for ${JSON.stringify(merged.name.slice(0, 200))}`,
  };
}

function hasLanguages({ attributes, whole }: WriteModel, iri: string): boolean {
  const name = attributes.get(iri);
  return name !== undefined && whole.attributes.get(name) === 'LanguageProperty';
}

/** A string, or an attribute that has just one for its value. */
function isStringAlone(value: JsonValue): boolean {
  if (!isObject(value)) return typeof value === 'string';
  return typeof (member(value, 'languageMap') ?? member(value, 'value')) === 'string';
}
