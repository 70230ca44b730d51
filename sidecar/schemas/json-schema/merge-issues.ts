import { isArray, isObject, jsonType } from '../../shared/json/json.js';
import {
  type Issue,
  issue,
  isDecisive,
  isScalar,
  memberIssue,
  type InstanceLocation,
  type MessageBuilder,
} from './issue.js';
import type { Spelling } from './spelling.js';
import { joinWithOr, sentenceOf, shortValue, typeWords } from './message-parts.js';

/** Keywords in order of importance to readers, for a value that violates several. */
const PRECEDENCE = ['false schema', 'const', 'enum', 'type', 'not', 'anyOf', 'oneOf', 'format', 'pattern'];

/**
 * Reduces issues to one for each mistake. A value of the wrong kind has no other issues, a scalar has one, and none
 * is repeated. A missing member and an unknown one with a similar name become one issue.
 */
export function mergeIssues(issues: readonly Issue[], spelling: Spelling): readonly Issue[] {
  const decisive = new Set(issues.filter(isDecisive).map(({ location }) => location));
  const byPlace = new Map<InstanceLocation, Issue[]>();
  for (const one of issues) {
    if (isWithin(one.location, decisive)) continue;
    const others = byPlace.get(one.location);
    if (others === undefined) byPlace.set(one.location, [one]);
    else others.push(one);
  }
  const distinct = [...byPlace].flatMap(([location, found]) =>
    decisive.has(location) || isScalar(location.value) ? foremost(found) : withoutRepeated(found, spelling),
  );
  return withMisspellings(mergeItems(distinct), spelling);
}

/** Whether a place is inside one of the others. A place is not inside itself. */
function isWithin(location: InstanceLocation, others: ReadonlySet<InstanceLocation>): boolean {
  for (let at = location.parent; at !== undefined; at = at.parent) if (others.has(at)) return true;
  return false;
}

function foremost(issues: readonly Issue[]): readonly Issue[] {
  return issues.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(0, 1);
}

/** Decisive issues come before all others, and both are in the order of {@link PRECEDENCE}. */
function rankOf(one: Issue): number {
  const rank = PRECEDENCE.indexOf(one.keyword);
  if (isDecisive(one)) return rank - PRECEDENCE.length;
  return rank === -1 ? PRECEDENCE.length : rank;
}

function withoutRepeated(issues: readonly Issue[], spelling: Spelling): readonly Issue[] {
  if (issues.length < 2) return issues;
  const seen = new Set<string>();
  return issues.filter((one) => {
    const key = one.missing === undefined ? sentenceOf(one.message(spelling)) : `lacks ${one.missing}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** The issues at one place, and at the places inside it. */
interface Node {
  readonly location: InstanceLocation;
  readonly own: Issue[];
  readonly inner: Map<InstanceLocation, Node>;
}

/**
 * Items with the same mistake are merged into one issue if there are at least this many; for a wrong type, two are
 * enough.
 */
const MIN_ALIKE = 3;

/**
 * With this many wrong items, all items are taken to be wrong: long arrays are not checked to the end, because issues
 * are limited.
 */
const MIN_LOOKED_AT = 300;

/** Keywords whose issues read the same for all values. */
const ALIKE: ReadonlySet<string> = new Set([
  'type',
  'required',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'additionalProperties',
]);

const SIZES: ReadonlySet<string> = new Set(['minItems', 'maxItems', 'uniqueItems']);

/**
 * Merges the issues of all items of an array into one if all are wrong in the same way: a polygon whose rings are
 * positions is one mistake, however many positions it has.
 *
 * @param issues issues of one document, each place being represented by one object
 */
function mergeItems(issues: readonly Issue[]): readonly Issue[] {
  const nodes = new Map<InstanceLocation, Node>();
  const nodeOf = (location: InstanceLocation): Node => {
    const known = nodes.get(location);
    if (known !== undefined) return known;
    const node: Node = { location, own: [], inner: new Map() };
    nodes.set(location, node);
    return node;
  };
  const roots = new Set<Node>();
  for (const one of issues) {
    let node = nodeOf(one.location);
    node.own.push(one);
    for (let parent = node.location.parent; parent !== undefined; parent = parent.parent) {
      const around = nodeOf(parent);
      const isLinked = around.inner.has(node.location);
      around.inner.set(node.location, node);
      node = around;
      if (isLinked) break;
    }
    if (node.location.parent === undefined) roots.add(node);
  }
  return [...roots].flatMap(mergedItems);
}

function mergedItems(node: Node): readonly Issue[] {
  const items = [...node.inner.values()].map((inner) => mergedItems(inner));
  const { value } = node.location;
  const all = [...node.own, ...items.flat()];
  if (!isArray(value) || items.length < Math.min(value.length, MIN_LOOKED_AT)) return all;
  const mistaken = items.length >= 2 ? wrongItems(node.location, items) : undefined;
  if (mistaken !== undefined) return [...node.own.filter(({ keyword }) => !SIZES.has(keyword)), mistaken];
  const [first = []] = items;
  const signatures = new Set(
    [...node.inner.keys()].map((location, index) => signature(location, items[index] ?? [])),
  );
  if (items.length < MIN_ALIKE || signatures.size > 1 || !first.every(({ keyword }) => ALIKE.has(keyword)))
    return all;
  return [...node.own, ...first.map((one) => withHint(one, items.length, value.length))];
}

/** The issue of an array whose items are all of one type, which is wrong; undefined for other arrays. */
function wrongItems(location: InstanceLocation, items: readonly (readonly Issue[])[]): Issue | undefined {
  const only = items.flatMap((item) => (item.length === 1 ? item : []));
  const [first] = only;
  if (only.length < items.length || first?.types === undefined) return undefined;
  const wanted = first.types.join();
  const found = new Set(only.map((one) => jsonType(one.location.value)));
  const [type] = found;
  const isAlike = only.every((one) => one.types?.join() === wanted && one.location.parent === location);
  if (!isAlike || found.size > 1 || type === undefined) return undefined;
  const words = () => ({
    must: `hold ${joinWithOr(typeWords(first.types ?? []))} only`,
    found: `holds ${joinWithOr(typeWords([type]))}`,
  });
  return issue(location, 'type', words);
}

function signature(item: InstanceLocation, issues: readonly Issue[]): string {
  return JSON.stringify(
    issues.map(({ location, keyword, missing, types }) => [
      location.tokens.slice(item.depth),
      keyword,
      missing ?? '',
      types ?? [],
    ]),
  );
}

function withHint(one: Issue, wrong: number, count: number): Issue {
  const message: MessageBuilder = (spelling) => {
    const made = one.message(spelling);
    const which = wrong === count ? `all ${count}` : `at least ${wrong} of ${count}`;
    const hint = `${which} items have this error`;
    return { ...made, hint: made.hint === undefined ? hint : `${made.hint}, and ${hint}` };
  };
  return { ...one, message };
}

/** Maximum number of members among which a misspelt one is searched; with more, there is no search. */
const MAX_NAMES = 1000;

/** Keywords that refuse members because of their names. */
const REFUSING: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties']);

/**
 * Merges a missing member and an undescribed one with a similar name into one issue, and suggests names for members
 * that are not allowed.
 */
function withMisspellings(issues: readonly Issue[], spelling: Spelling): readonly Issue[] {
  const namesIn = namesNotDescribed();
  const explained = new Set<InstanceLocation>();
  const renamed = issues.map((one) => {
    const { location, keyword, missing } = one;
    const written = missing === undefined ? undefined : spelling.nearest(missing, namesIn(location));
    if (missing === undefined || written === undefined) return one;
    const misspelt = location.child(written).kept();
    if (explained.has(misspelt)) return one;
    explained.add(misspelt);
    const plain = `is probably meant to be ${shortValue(missing)}, which is missing`;
    const words = () => ({ must: `be called ${shortValue(missing)}`, plain, correction: { name: missing } });
    return { ...memberIssue(misspelt, keyword, words), missing };
  });
  return renamed
    .filter(({ location, keyword }) => !(REFUSING.has(keyword) && explained.has(location)))
    .map((one) => (REFUSING.has(one.keyword) ? withSuggestion(one) : one));
}

/** Returns a function that finds the members of an object that no schema describes. */
function namesNotDescribed(): (location: InstanceLocation) => readonly string[] {
  const found = new Map<InstanceLocation, readonly string[]>();
  return (location) => {
    const known = found.get(location);
    if (known !== undefined) return known;
    const described = new Set(location.describedNames);
    const { value } = location;
    const names = isObject(value) ? Object.keys(value).filter((name) => !described.has(name)) : [];
    const kept = names.length > MAX_NAMES ? [] : names;
    found.set(location, kept);
    return kept;
  };
}

function withSuggestion(one: Issue): Issue {
  const message: MessageBuilder = (spelling) => {
    const { parent, token } = one.location;
    const { value } = parent ?? one.location;
    const names = parent?.describedNames ?? [];
    const meant = spelling.nearest(
      token,
      names.filter((name) => isObject(value) && !Object.hasOwn(value, name)),
    );
    const made = one.message(spelling);
    if (meant === undefined) return made;
    return { ...made, hint: `did you mean ${shortValue(meant)}?`, correction: { name: meant } };
  };
  return { ...one, message };
}
