import { isArray } from '../../shared/json/json.js';
import { fault, type Fault, type WordsOf } from './fault.js';
import { jsonType } from './json-type.js';
import type { Place } from './place.js';
import { either, typeWords } from './words.js';

/** Faults in one place, and in what it holds. */
interface Node {
  readonly place: Place;
  readonly own: Fault[];
  readonly inner: Map<Place, Node>;
}

/** Items that are wrong in one way are one fault from this number on; wrong in type they are from two on. */
const ALIKE_MIN = 3;

/** No more items than this were looked at, for each may have several faults. */
const LOOKED_AT_MIN = 300;

/** Keywords whose faults are alike whatever the value is. */
const ALIKE: ReadonlySet<string> = new Set([
  ...['type', 'required', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'additionalProperties'],
]);

const SIZES: ReadonlySet<string> = new Set(['minItems', 'maxItems', 'uniqueItems']);

/**
 * One fault for all items of an array where all are wrong in the same way: a polygon whose rings are positions is one
 * mistake, however many positions it has.
 *
 * @param faults of one document, each place with its own
 */
export function fold(faults: readonly Fault[]): readonly Fault[] {
  const nodes = new Map<Place, Node>();
  const nodeOf = (place: Place): Node => {
    const known = nodes.get(place);
    if (known !== undefined) return known;
    const node: Node = { place, own: [], inner: new Map() };
    nodes.set(place, node);
    return node;
  };
  const roots = new Set<Node>();
  for (const one of faults) {
    let node = nodeOf(one.place);
    node.own.push(one);
    for (let parent = node.place.parent; parent !== undefined; parent = parent.parent) {
      const around = nodeOf(parent);
      const isLinked = around.inner.has(node.place);
      around.inner.set(node.place, node);
      node = around;
      if (isLinked) break;
    }
    if (node.place.parent === undefined) roots.add(node);
  }
  return [...roots].flatMap(folded);
}

function folded(node: Node): readonly Fault[] {
  const items = [...node.inner.values()].map((inner) => folded(inner));
  const { value } = node.place;
  const all = [...node.own, ...items.flat()];
  if (!isArray(value) || items.length < Math.min(value.length, LOOKED_AT_MIN)) return all;
  const mistaken = items.length >= 2 ? wrongItems(node.place, items) : undefined;
  if (mistaken !== undefined) return [...node.own.filter(({ keyword }) => !SIZES.has(keyword)), mistaken];
  const [first = []] = items;
  const signatures = new Set(
    [...node.inner.keys()].map((place, index) => signature(place, items[index] ?? [])),
  );
  if (items.length < ALIKE_MIN || signatures.size > 1 || !first.every(({ keyword }) => ALIKE.has(keyword)))
    return all;
  return [...node.own, ...first.map((one) => withHint(one, value.length))];
}

/** All items are of one type, and of a wrong one. */
function wrongItems(place: Place, items: readonly (readonly Fault[])[]): Fault | undefined {
  const only = items.flatMap((item) => (item.length === 1 ? item : []));
  const [first] = only;
  if (only.length < items.length || first?.types === undefined) return undefined;
  const wanted = first.types.join();
  const found = new Set(only.map((one) => jsonType(one.place.value)));
  const [type] = found;
  const isAlike = only.every((one) => one.types?.join() === wanted && one.place.parent === place);
  if (!isAlike || found.size > 1 || type === undefined) return undefined;
  const words = () => ({
    must: `hold ${either(typeWords(first.types ?? []))} only`,
    found: `holds ${either(typeWords([type]))}`,
  });
  return fault(place, 'type', words);
}

function signature(item: Place, faults: readonly Fault[]): string {
  return JSON.stringify(
    faults.map(({ place, keyword, missing, types }) => [
      place.tokens.slice(item.depth),
      keyword,
      missing ?? '',
      types ?? [],
    ]),
  );
}

function withHint(one: Fault, count: number): Fault {
  const words: WordsOf = (spelling) => {
    const made = one.words(spelling);
    const hint = `so it is with all ${count} items`;
    return { ...made, hint: made.hint === undefined ? hint : `${made.hint}, and ${hint}` };
  };
  return { ...one, words };
}
