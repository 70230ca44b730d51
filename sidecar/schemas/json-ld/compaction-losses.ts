import { isMap, type JsonMap } from './json.js';
import { shown, type JsonLdWarning } from './warnings.js';

/** What compaction keeps in any case; with other keywords it depends on the context. */
const PLAIN: ReadonlySet<string> = new Set(['@id', '@language', '@list', '@type', '@value']);

/** Names that objects of JavaScript do not hold as they hold others. */
const UNSAFE = /(?:__proto__|hasOwnProperty)$/;

/** Whether something in an expanded document may be lost when it is compacted. */
export function mayLose(expanded: unknown): boolean {
  if (Array.isArray(expanded)) return expanded.some(mayLose);
  if (!isMap(expanded)) return false;
  for (const name of Object.keys(expanded)) {
    const value = expanded[name];
    if (name.startsWith('@')) {
      if (!PLAIN.has(name) || (name === '@type' && value === '@json')) return true;
      if (name === '@list' && mayLose(value)) return true;
    } else if (UNSAFE.test(name) || hasListAmongOthers(value) || mayLose(value)) return true;
  }
  return false;
}

/** A term for lists holds one. */
function hasListAmongOthers(values: unknown): boolean {
  return (
    Array.isArray(values) &&
    values.length > 1 &&
    values.some((value: unknown) => isMap(value) && Object.hasOwn(value, '@list'))
  );
}

/**
 * What an expanded document says and the result of compacting it does not.
 *
 * @param again the result, expanded
 */
export function compactionLosses(
  expanded: readonly unknown[],
  again: readonly unknown[],
): readonly JsonLdWarning[] {
  const left = countsOf(again.map((node) => canonical(node)));
  const lost = expanded.filter((node) => !taken(left, canonical(node)));
  return lost.map((node) => {
    const other = again.find((one) => isMap(node) && isMap(one) && one['@id'] === node['@id']);
    const names = isMap(node) && isMap(other) ? differentNames(node, other) : [];
    const where = names.length === 0 ? '' : ` in ${names.slice(0, 10).map(shown).join(', ')}`;
    const id = isMap(node) && typeof node['@id'] === 'string' ? ` of ${shown(node['@id'])}` : '';
    const detail = `The result does not say the same as the document${where}${id}: expanded again, it differs.`;
    return { code: 'compaction-lossy', detail };
  });
}

function differentNames(node: JsonMap, other: JsonMap): readonly string[] {
  return Object.keys(node).filter((name) => canonical(node[name]) !== canonical(other[name]));
}

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function taken(counts: Map<string, number>, text: string): boolean {
  const count = counts.get(text) ?? 0;
  counts.set(text, count - 1);
  return count > 0;
}

/** The same text for the same JSON-LD: the order of members does not count, nor that of values but in lists. */
function canonical(value: unknown, isOrdered = false): string {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item, false));
    return `[${(isOrdered ? items : items.sort()).join(',')}]`;
  }
  if (!isMap(value)) return JSON.stringify(value);
  const isJson = value['@type'] === '@json';
  const members = Object.keys(value)
    .sort()
    .map((name) => {
      const inner =
        name === '@value' && isJson ? plain(value[name]) : canonical(value[name], name === '@list');
      return `${JSON.stringify(name)}:${inner}`;
    });
  return `{${members.join(',')}}`;
}

/** The same text for the same JSON. */
function plain(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plain).join(',')}]`;
  if (!isMap(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${plain(value[name])}`).join(',')}}`;
}
