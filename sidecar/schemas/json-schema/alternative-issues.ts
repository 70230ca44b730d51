import { isArray, isObject, jsonType, member, type Schema, stringsOf } from '../../shared/json/json.js';
import {
  issue,
  type Issue,
  isDecisive,
  missingIssue,
  memberIssue,
  type InstanceLocation,
  typeIssue,
  valueIssue,
} from './issue.js';
import {
  allowedValue,
  joinWithOr,
  shortValue,
  shownPattern,
  typeWord,
  type MessageParts,
} from './message-parts.js';

/** Maximum number of demands that a sentence names. */
const MAX_SAID = 20;

/** The issues of a value according to one of several alternatives. */
export type Branch = readonly Issue[];

/**
 * Chooses what to report about a value that satisfies none of several alternatives (`anyOf`, `oneOf`): the issues of
 * the alternative that it was meant to satisfy, if that is clear enough; otherwise one issue for all.
 *
 * The alternatives are narrowed down in steps: to those for the value's type; then to those that agree with its tag
 * (a member such as `type`, for which alternatives allow different values); then to the one with the fewest issues,
 * and the deepest ones.
 *
 * @param branches the issues for each alternative; none is empty
 */
export function alternativeIssues(
  keyword: string,
  location: InstanceLocation,
  branches: readonly Branch[],
): Branch {
  const possible = branches.filter((branch) => !branch.some((one) => one.keyword === 'false schema'));
  if (possible.length === 0) return [forbiddenIssue(location)];
  const open = possible.filter(
    (branch) => !branch.some((one) => one.location === location && isDecisive(one)),
  );
  if (open.length === 0) return [anotherKind(keyword, location, possible)];
  const tagged = byTag(location, open);
  if (tagged.length === 1) return tagged[0] ?? [];
  return oneForAll(keyword, location, tagged) ?? nearest(tagged);
}

/** The issue of a value that satisfies several alternatives of `oneOf`, where it must satisfy exactly one. */
export function ambiguityIssue(location: InstanceLocation, fitting: readonly number[], count: number): Issue {
  const which = fitting.map((index) => index + 1).join(', ');
  return issue(location, 'oneOf', () => ({
    must: `match exactly one of ${count} alternatives`,
    found: `matches ${fitting.length} (${which})`,
  }));
}

/** The issue of a value that must not exist. */
export function forbiddenIssue(location: InstanceLocation): Issue {
  return memberIssue(location, 'false schema', () => ({ must: 'not be present' }));
}

/** The issue if all alternatives are for values of other types, or are other values. */
function anotherKind(keyword: string, location: InstanceLocation, branches: readonly Branch[]): Issue {
  const decisive = branches.flatMap((branch) =>
    branch.filter((one) => one.location === location && isDecisive(one)),
  );
  const values = decisive.flatMap(({ allowed }) => allowed ?? []);
  const types = [...new Set(decisive.flatMap((one) => one.types ?? []))];
  const isAlike = values.some((value) => jsonType(value) === jsonType(location.value));
  if (values.length > 0 && (isAlike || types.length === 0))
    return valueIssue(location, values.length === 1 ? 'const' : 'enum', values);
  if (values.length === 0) return typeIssue(location, types);
  return { ...merged(keyword, location, decisive), types };
}

/**
 * The alternatives with the fewest wrong tags. If tags are wrong for all alternatives, an issue for each of them
 * instead.
 */
function byTag(location: InstanceLocation, branches: readonly Branch[]): readonly Branch[] {
  const wrongTags = branches.map((branch) => branch.filter((one) => isTag(location, one)));
  const least = Math.min(...wrongTags.map((tags) => tags.length));
  if (least > 0 && branches.length > 1) {
    const forAll = wrongForAll(wrongTags);
    if (forAll.length > 0) return [forAll];
  }
  return branches.filter((_, index) => wrongTags[index]?.length === least);
}

function wrongForAll([first = [], ...others]: readonly Branch[]): Branch {
  const tags = others.map((branch) => new Map(branch.map((tag) => [tag.location, tag])));
  return first.flatMap((tag) => {
    const same = tags.map((byPlace) => byPlace.get(tag.location));
    if (same.includes(undefined)) return [];
    const values = [tag, ...same].flatMap((one) => one?.allowed ?? []);
    return [valueIssue(tag.location, values.length === 1 ? 'const' : 'enum', values)];
  });
}

function isTag(location: InstanceLocation, { location: at, allowed }: Issue): boolean {
  return at.parent === location && allowed !== undefined;
}

/** A single issue for all alternatives, if each has only one and it is about the value itself. */
function oneForAll(
  keyword: string,
  location: InstanceLocation,
  branches: readonly Branch[],
): Branch | undefined {
  const only = branches.flatMap((branch) => (branch.length === 1 ? branch : []));
  if (only.length < branches.length || only.some((one) => one.location !== location)) return undefined;
  const missing = [...new Set(only.flatMap((one) => one.missing ?? []))];
  const [name] = missing;
  if (name === undefined || !only.every((one) => one.missing !== undefined))
    return [merged(keyword, location, only)];
  if (missing.length === 1) return only.slice(0, 1);
  const names = joinWithOr(missing.slice(0, MAX_SAID).map(allowedValue));
  const words = (): MessageParts => ({
    must: `have the member ${names}`,
    plain: `lacks the member ${names}`,
  });
  return [{ ...missingIssue(location, keyword, name), ...issue(location, keyword, words) }];
}

/** One issue with the words of several. */
function merged(keyword: string, location: InstanceLocation, issues: readonly Issue[]): Issue {
  return issue(location, keyword, (spelling) => {
    const words = issues.slice(0, MAX_SAID).map((one) => one.message(spelling));
    const demands = [...new Set(words.map(({ must }) => must))];
    if (issues.length > MAX_SAID) demands.push(`meet one of ${issues.length - MAX_SAID} more requirements`);
    return {
      must: demands.join(', or '),
      found: words.find((one) => one.found !== undefined)?.found,
      hint: words.find((one) => one.hint !== undefined)?.hint,
      correction: words.find((one) => one.correction !== undefined)?.correction,
    };
  });
}

function nearest(branches: readonly Branch[]): Branch {
  const rated = branches.map((branch) => ({
    branch,
    depth: Math.min(...branch.map(({ location }) => location.depth)),
  }));
  rated.sort((one, other) => one.branch.length - other.branch.length || other.depth - one.depth);
  return rated[0]?.branch ?? [];
}

/** Maximum number of members that a sentence names. */
const MAX_NAMED = 20;

/** The issue of a value that satisfies a schema which it must not satisfy. */
export function negationIssue(excluded: Schema, location: InstanceLocation): Issue {
  return issue(location, 'not', () => wordsFor(excluded, location));
}

/** Words for an excluded schema; specific ones if the schema has a single keyword. */
function wordsFor(excluded: Schema, { value }: InstanceLocation): MessageParts {
  const general: MessageParts = {
    must: 'not match the schema under "not"',
    found: `is ${shortValue(value)}`,
  };
  if (!isObject(excluded)) return { must: 'not be present' };
  const [keyword, ...others] = Object.keys(excluded);
  if (keyword === undefined) return { must: 'not be present' };
  const held = others.length === 0 ? member(excluded, keyword) : undefined;
  if (held === undefined) return general;
  switch (keyword) {
    case 'const':
      return { must: `not be ${allowedValue(held)}` };
    case 'enum':
      return { must: `not be ${allowedValue(value)}` };
    case 'type':
      return {
        must: `not be ${joinWithOr((isArray(held) ? stringsOf(held) : stringsOf([held])).map(typeWord))}`,
      };
    case 'required': {
      const names = stringsOf(held);
      if (names.length === 0) return general;
      const together = names.length > 1 ? ' together' : '';
      return {
        must: `not have the member ${names.slice(0, MAX_NAMED).map(allowedValue).join(' and ')}${together}`,
      };
    }
    case 'pattern':
      return {
        must: `not match the pattern ${shownPattern(typeof held === 'string' ? held : '')}`,
        found: `is ${shortValue(value)}`,
      };
    default:
      return general;
  }
}
