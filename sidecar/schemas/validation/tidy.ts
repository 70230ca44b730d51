import { isDecisive, isScalar, type Fault } from './fault.js';
import { fold } from './fold.js';
import { withMisspellings } from './misspellings.js';
import type { Place } from './place.js';
import type { Spelling } from './spelling.js';
import { sentenceOf } from './words.js';

/** Keywords in the order in which people want to hear of them, where one value is wrong by several. */
const PRECEDENCE = ['false schema', 'const', 'enum', 'type', 'not', 'anyOf', 'oneOf', 'format', 'pattern'];

/**
 * One fault for each thing that is wrong: of a value that is another one altogether nothing else is said, of a scalar one
 * thing only, nothing twice; and a member that is lacking, while one of nearly that name is there, is one fault.
 */
export function tidy(faults: readonly Fault[], spelling: Spelling): readonly Fault[] {
  const decisive = new Set(faults.filter(isDecisive).map(({ place }) => place));
  const byPlace = new Map<Place, Fault[]>();
  for (const one of faults) {
    if (isWithin(one.place, decisive)) continue;
    const others = byPlace.get(one.place);
    if (others === undefined) byPlace.set(one.place, [one]);
    else others.push(one);
  }
  const distinct = [...byPlace].flatMap(([place, found]) =>
    decisive.has(place) || isScalar(place.value) ? foremost(found) : withoutRepeated(found, spelling),
  );
  return withMisspellings(fold(distinct), spelling);
}

/** Whether a place is within one of the others; it may be one of them itself. */
function isWithin(place: Place, others: ReadonlySet<Place>): boolean {
  for (let at = place.parent; at !== undefined; at = at.parent) if (others.has(at)) return true;
  return false;
}

function foremost(faults: readonly Fault[]): readonly Fault[] {
  const ranked = faults.map((one) => {
    const rank = PRECEDENCE.indexOf(one.keyword);
    return { one, rank: isDecisive(one) ? -1 : rank === -1 ? PRECEDENCE.length : rank };
  });
  ranked.sort((first, second) => first.rank - second.rank || rankOf(first.one) - rankOf(second.one));
  return ranked.slice(0, 1).map(({ one }) => one);
}

function rankOf({ keyword }: Fault): number {
  return PRECEDENCE.indexOf(keyword);
}

function withoutRepeated(faults: readonly Fault[], spelling: Spelling): readonly Fault[] {
  if (faults.length < 2) return faults;
  const seen = new Set<string>();
  return faults.filter((one) => {
    const key = one.missing === undefined ? sentenceOf(one.words(spelling)) : `lacks ${one.missing}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
