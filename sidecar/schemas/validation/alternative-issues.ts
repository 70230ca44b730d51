import { isArray, isObject, jsonType, member, type Schema, stringsOf } from '../../shared/json/json.js';
import {
  fault,
  type Fault,
  isDecisive,
  lackingFault,
  memberFault,
  type Place,
  typeFault,
  valueFault,
} from './issue.js';
import { allowedValue, either, shown, shownPattern, typeWord, type Words } from './words.js';

/** Demands that a sentence names. */
const SAID_MAX = 20;

/** What one of several alternatives has against a value. */
export type Branch = readonly Fault[];

/**
 * What to say of a value that fits none of several alternatives (`anyOf`, `oneOf`): the faults by the one alternative that
 * it was meant to fit, as far as that can be told; else one fault for all.
 *
 * Meant is what has the value's type, then what has its tag (a member such as `type`, for which alternatives allow
 * different values), then what it fits but for the fewest faults, and the deepest ones.
 *
 * @param branches of each alternative what it has against the value; not one is empty
 */
export function alternativeFaults(keyword: string, place: Place, branches: readonly Branch[]): Branch {
  const possible = branches.filter((branch) => !branch.some((one) => one.keyword === 'false schema'));
  if (possible.length === 0) return [ruledOut(place)];
  const open = possible.filter((branch) => !branch.some((one) => one.place === place && isDecisive(one)));
  if (open.length === 0) return [anotherKind(keyword, place, possible)];
  const tagged = byTag(place, open);
  if (tagged.length === 1) return tagged[0] ?? [];
  return oneForAll(keyword, place, tagged) ?? nearest(tagged);
}

/** Several of the alternatives fit, where one alone may. */
export function ambiguity(place: Place, fitting: readonly number[], count: number): Fault {
  const which = fitting.map((index) => index + 1).join(', ');
  return fault(place, 'oneOf', () => ({
    must: `match exactly one of ${count} alternatives`,
    found: `matches ${fitting.length} (${which})`,
  }));
}

export function ruledOut(place: Place): Fault {
  return memberFault(place, 'false schema', () => ({ must: 'not be there' }));
}

/** All alternatives are for values of other types, or are other values. */
function anotherKind(keyword: string, place: Place, branches: readonly Branch[]): Fault {
  const decisive = branches.flatMap((branch) =>
    branch.filter((one) => one.place === place && isDecisive(one)),
  );
  const values = decisive.flatMap(({ allowed }) => allowed ?? []);
  const types = decisive.flatMap((one) => one.types ?? []);
  const isAlike = values.some((value) => jsonType(value) === jsonType(place.value));
  if (values.length > 0 && (isAlike || types.length === 0))
    return valueFault(place, values.length === 1 ? 'const' : 'enum', values);
  if (values.length === 0) return typeFault(place, types);
  return { ...merged(keyword, place, decisive), types };
}

/** The alternatives with the fewest tags that are wrong; a fault for each tag that is wrong for all. */
function byTag(place: Place, branches: readonly Branch[]): readonly Branch[] {
  const wrongTags = branches.map((branch) => branch.filter((one) => isTag(place, one)));
  const least = Math.min(...wrongTags.map((tags) => tags.length));
  if (least > 0 && branches.length > 1) {
    const forAll = wrongForAll(wrongTags);
    if (forAll.length > 0) return [forAll];
  }
  return branches.filter((_, index) => wrongTags[index]?.length === least);
}

function wrongForAll([first = [], ...others]: readonly Branch[]): Branch {
  const tags = others.map((branch) => new Map(branch.map((tag) => [tag.place, tag])));
  return first.flatMap((tag) => {
    const same = tags.map((byPlace) => byPlace.get(tag.place));
    if (same.includes(undefined)) return [];
    const values = [tag, ...same].flatMap((one) => one?.allowed ?? []);
    return [valueFault(tag.place, values.length === 1 ? 'const' : 'enum', values)];
  });
}

function isTag(place: Place, { place: at, allowed }: Fault): boolean {
  return at.parent === place && allowed !== undefined;
}

/** One fault where each alternative has but one, of the value itself. */
function oneForAll(keyword: string, place: Place, branches: readonly Branch[]): Branch | undefined {
  const only = branches.flatMap((branch) => (branch.length === 1 ? branch : []));
  if (only.length < branches.length || only.some((one) => one.place !== place)) return undefined;
  const missing = [...new Set(only.flatMap((one) => one.missing ?? []))];
  const [name] = missing;
  if (name === undefined || !only.every((one) => one.missing !== undefined))
    return [merged(keyword, place, only)];
  if (missing.length === 1) return only.slice(0, 1);
  const names = either(missing.slice(0, SAID_MAX).map(allowedValue));
  const words = (): Words => ({ must: `have the member ${names}`, plain: `lacks the member ${names}` });
  return [{ ...lackingFault(place, keyword, name), ...fault(place, keyword, words) }];
}

/** A fault in the words of several. */
function merged(keyword: string, place: Place, faults: readonly Fault[]): Fault {
  return fault(place, keyword, (spelling) => {
    const words = faults.slice(0, SAID_MAX).map((one) => one.words(spelling));
    const demands = [...new Set(words.map(({ must }) => must))];
    if (faults.length > SAID_MAX) demands.push(`meet one of ${faults.length - SAID_MAX} more demands`);
    const found = words.find((one) => one.found !== undefined)?.found;
    const hint = words.find((one) => one.hint !== undefined)?.hint;
    return {
      must: demands.join(', or '),
      ...(found === undefined ? {} : { found }),
      ...(hint === undefined ? {} : { hint }),
    };
  });
}

function nearest(branches: readonly Branch[]): Branch {
  const rated = branches.map((branch) => ({
    branch,
    depth: Math.min(...branch.map(({ place }) => place.depth)),
  }));
  rated.sort((one, other) => one.branch.length - other.branch.length || other.depth - one.depth);
  return rated[0]?.branch ?? [];
}

/** Members that a sentence names. */
const NAMED_MAX = 20;

/** The value fits a schema that it must not fit. */
export function negationFault(excluded: Schema, place: Place): Fault {
  return fault(place, 'not', () => wordsFor(excluded, place));
}

/** In words where the schema says but one thing. */
function wordsFor(excluded: Schema, { value }: Place): Words {
  const general: Words = {
    must: 'not fit what the schema excludes under "not"',
    found: `is ${shown(value)}`,
  };
  if (!isObject(excluded)) return { must: 'not be there' };
  const [keyword, ...others] = Object.keys(excluded);
  if (keyword === undefined) return { must: 'not be there' };
  const held = others.length === 0 ? member(excluded, keyword) : undefined;
  if (held === undefined) return general;
  switch (keyword) {
    case 'const':
      return { must: `not be ${allowedValue(held)}` };
    case 'enum':
      return { must: `not be ${allowedValue(value)}` };
    case 'type':
      return {
        must: `not be ${either((isArray(held) ? stringsOf(held) : stringsOf([held])).map(typeWord))}`,
      };
    case 'required': {
      const names = stringsOf(held);
      if (names.length === 0) return general;
      const together = names.length > 1 ? ' together' : '';
      return {
        must: `not have the member ${names.slice(0, NAMED_MAX).map(allowedValue).join(' and ')}${together}`,
      };
    }
    case 'pattern':
      return {
        must: `not match the pattern ${shownPattern(typeof held === 'string' ? held : '')}`,
        found: `is ${shown(value)}`,
      };
    default:
      return general;
  }
}
