import { isObject } from '../../shared/json/json.js';
import { memberFault, type Fault, type WordsOf } from './fault.js';
import type { Place } from './place.js';
import type { Spelling } from './spelling.js';
import { shown } from './words.js';

/** Members of one object that may be misspelt; of more, none is looked for. */
const NAMES_MAX = 1000;

/** Keywords that refuse members for their names. */
const REFUSING: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties']);

/**
 * Makes one fault of a member that is lacking and one of nearly that name that nobody describes; and of members that are
 * refused says what they may be meant to be.
 */
export function withMisspellings(faults: readonly Fault[], spelling: Spelling): readonly Fault[] {
  const namesIn = namesNotDescribed();
  const explained = new Set<Place>();
  const lacking = faults.map((one) => {
    const { place, keyword, missing } = one;
    const written = missing === undefined ? undefined : spelling.nearest(missing, namesIn(place));
    if (missing === undefined || written === undefined) return one;
    const misspelt = place.child(written).kept();
    if (explained.has(misspelt)) return one;
    explained.add(misspelt);
    const plain = `is probably meant to be ${shown(missing)}, which is lacking`;
    const words = () => ({ must: `be called ${shown(missing)}`, plain });
    return { ...memberFault(misspelt, keyword, words), missing };
  });
  return lacking
    .filter(({ place, keyword }) => !(REFUSING.has(keyword) && explained.has(place)))
    .map((one) => (REFUSING.has(one.keyword) ? withSuggestion(one) : one));
}

/** The members of an object that no schema speaks of. */
function namesNotDescribed(): (place: Place) => readonly string[] {
  const found = new Map<Place, readonly string[]>();
  return (place) => {
    const known = found.get(place);
    if (known !== undefined) return known;
    const described = new Set(place.describedNames);
    const { value } = place;
    const names = isObject(value) ? Object.keys(value).filter((name) => !described.has(name)) : [];
    const kept = names.length > NAMES_MAX ? [] : names;
    found.set(place, kept);
    return kept;
  };
}

function withSuggestion(one: Fault): Fault {
  const words: WordsOf = (spelling) => {
    const { parent, token } = one.place;
    const { value } = parent ?? one.place;
    const names = parent?.describedNames ?? [];
    const meant = spelling.nearest(
      token,
      names.filter((name) => isObject(value) && !Object.hasOwn(value, name)),
    );
    return {
      ...one.words(spelling),
      ...(meant === undefined ? {} : { hint: `did you mean ${shown(meant)}?` }),
    };
  };
  return { ...one, words };
}
