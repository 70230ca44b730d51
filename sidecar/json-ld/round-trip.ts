import { isMap, pointerTo, type JsonMap } from './json.js';
import { LEFT_OUT } from './odd-parts.js';
import { shown, type JsonLdWarning } from './warnings.js';

/**
 * What a document does not look like any more after it was expanded and compacted again: nulls, arrays of one, arrays in
 * arrays, values that were changed. Names and IRIs may be spelled in another way: that is no loss.
 *
 * @param back the document as it came back, undefined when it did not
 * @param skip pointers of what is known to be dropped
 */
export function lossesOf(
  document: unknown,
  back: unknown,
  pointer: string,
  skip: ReadonlySet<string>,
): readonly JsonLdWarning[] {
  const losses: JsonLdWarning[] = [];
  compare(document, back, pointer, { skip, losses });
  return losses;
}

/** All nulls in a value, contexts apart. */
export function nullsIn(
  value: unknown,
  pointer: string,
  skip: ReadonlySet<string>,
): readonly JsonLdWarning[] {
  const losses: JsonLdWarning[] = [];
  findNulls(value, pointer, { skip, losses });
  return losses;
}

interface Findings {
  readonly skip: ReadonlySet<string>;
  readonly losses: JsonLdWarning[];
}

const NULL_LOST = { code: 'null-lost', detail: 'JSON-LD does not keep null: it is dropped.' };
const ARRAY_OF_ONE = { code: 'array-of-one', detail: 'An array of one item comes back as the item alone.' };
const FLATTENED = { code: 'array-flattened', detail: 'Arrays in an array come back as one array.' };
const EMPTY_LOST = { code: 'empty-array-lost', detail: 'The empty array does not come back.' };
const MEMBER_LOST = { code: 'member-lost', detail: 'The member does not come back.' };

function compare(value: unknown, back: unknown, pointer: string, findings: Findings): void {
  const { skip, losses } = findings;
  if (skip.has(pointer) || Object.is(value, LEFT_OUT)) return;
  if (value === null) {
    if (back !== null) losses.push({ ...NULL_LOST, pointer });
  } else if (Array.isArray(value)) compareArray(value, back, pointer, findings);
  else if (isMap(value)) compareMap(value, back, pointer, findings);
  else if (back === undefined) losses.push({ ...MEMBER_LOST, pointer });
  // A text may be an IRI that is spelled in another way.
  else if (value !== back && !(typeof value === 'string' && typeof back === 'string'))
    losses.push(changed(back, pointer));
}

function changed(back: unknown, pointer: string): JsonLdWarning {
  return { code: 'value-changed', detail: `The value comes back as ${shown(back)}.`, pointer };
}

function compareArray(items: readonly unknown[], back: unknown, pointer: string, findings: Findings): void {
  const { losses } = findings;
  if (Array.isArray(back) && back.length === items.length) {
    const others: readonly unknown[] = back;
    if (items.every((item, index) => Array.isArray(item) === Array.isArray(others[index]))) {
      for (const [index, item] of items.entries())
        compare(item, others[index], pointerTo(pointer, index), findings);
      return;
    }
  }
  const kept = [...items.entries()].filter(([, item]) => item !== null);
  if (kept.some(([, item]) => Array.isArray(item))) {
    losses.push({ ...FLATTENED, pointer });
    // JSON literals keep them.
    if (!Array.isArray(back) || !back.includes(null)) findNulls(items, pointer, findings);
    return;
  }
  for (const [index, item] of items.entries())
    if (item === null) losses.push({ ...NULL_LOST, pointer: pointerTo(pointer, index) });
  const rest: readonly unknown[] | undefined = Array.isArray(back) ? back : undefined;
  const [only] = kept;
  if (rest?.length === kept.length) {
    for (const [at, [index, item]] of kept.entries())
      compare(item, rest[at], pointerTo(pointer, index), findings);
  } else if (kept.length === 1 && only !== undefined && rest === undefined && back !== undefined) {
    losses.push({ ...ARRAY_OF_ONE, pointer });
    compare(only[1], back, pointerTo(pointer, only[0]), findings);
  } else if (items.length === 0 && back === undefined) losses.push({ ...EMPTY_LOST, pointer });
  else if (kept.length > 0)
    losses.push(back === undefined ? { ...MEMBER_LOST, pointer } : changed(back, pointer));
}

function compareMap(map: JsonMap, back: unknown, pointer: string, findings: Findings): void {
  if (!isMap(back)) {
    // A value, a list or a reference that was written in full; what is in it may be lost all the same.
    findNulls(map, pointer, findings);
    return;
  }
  const names = Object.keys(map).filter((name) => name !== '@context');
  const left = new Set(Object.keys(back).filter((name) => name !== '@context' && !Object.hasOwn(map, name)));
  const renamed = names.filter((name) => !Object.hasOwn(back, name));
  const pairs = pairsOf(
    renamed.filter((name) => map[name] !== null && !findings.skip.has(pointerTo(pointer, name))),
    left,
  );
  for (const name of names) {
    const other = Object.hasOwn(back, name) ? name : pairs.get(name);
    compare(map[name], other === undefined ? undefined : back[other], pointerTo(pointer, name), findings);
  }
}

/** Which names came back as which: keywords as their aliases, IRIs as terms, and the other way round. */
function pairsOf(names: readonly string[], others: Set<string>): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  // Names that changed are few; nobody is to make a long comparison of many.
  if (names.length * others.size <= 10_000)
    for (const name of names) {
      const other = [...others].find((one) => one !== '' && (name.endsWith(one) || one.endsWith(name)));
      if (other === undefined) continue;
      pairs.set(name, other);
      others.delete(other);
    }
  const rest = names.filter((name) => !pairs.has(name));
  const [name] = rest;
  const [other] = others;
  if (rest.length === 1 && others.size === 1 && name !== undefined && other !== undefined)
    pairs.set(name, other);
  return pairs;
}

function findNulls(value: unknown, pointer: string, findings: Findings): void {
  if (findings.skip.has(pointer)) return;
  if (value === null) findings.losses.push({ ...NULL_LOST, pointer });
  else if (typeof value === 'object')
    for (const [name, item] of Object.entries(value) as [string, unknown][])
      if (name !== '@context' && typeof item === 'object')
        findNulls(item, pointerTo(pointer, name), findings);
}
