import { isObject, type JsonValue, member } from '../../shared/json/json.js';
import { isDeleted } from './deletions.js';
import type { SubmittedEntity } from './submitted.js';
import type { WriteModel } from './write-models.js';

/**
 * Removes from a merge with `lang` the strings that a broker may put into a language map of the stored entity (ETSI
 * GS CIM 009 V1.9.1, clause 5.6.17). They cannot be judged: a broker that does not know `lang` replaces the map by
 * the string.
 */
export function withoutMergedStrings(
  models: readonly WriteModel[],
  submitted: SubmittedEntity,
): { readonly rest: SubmittedEntity; readonly ambiguity?: string } {
  const isMerged = ({ iri, value }: SubmittedEntity['members'][number]) =>
    isPlainString(value) && !isDeleted(value) && models.some((model) => isLanguageProperty(model, iri));
  const merged = submitted.members.find(isMerged);
  if (merged === undefined) return { rest: submitted };
  return {
    rest: { ...submitted, members: submitted.members.filter((one) => !isMerged(one)) },
    ambiguity: `with lang, brokers differ in what they make of the string for ${JSON.stringify(merged.name.slice(0, 200))}`,
  };
}

function isLanguageProperty({ attributes, whole }: WriteModel, iri: string): boolean {
  const name = attributes.get(iri);
  return name !== undefined && whole.attributes.get(name) === 'LanguageProperty';
}

/** Whether a value is a string, or an attribute whose value is just a string. */
function isPlainString(value: JsonValue): boolean {
  if (!isObject(value)) return typeof value === 'string';
  return typeof (member(value, 'languageMap') ?? member(value, 'value')) === 'string';
}
