import { isMap, type JsonMap } from './json.js';

/** Stands for what was left out: no JSON has it. */
export const LEFT_OUT = Number.NaN;

/**
 * A node with what may not survive a round trip, and everything around it that has a say in that: what is a map or an
 * array and holds neither null nor an odd array is left out. Costs a fraction of the round trip that it makes shorter.
 *
 * @returns undefined when there is nothing of the kind
 */
export function oddParts(node: JsonMap): JsonMap | undefined {
  const { value, isOdd } = reduced(node);
  return isOdd && isMap(value) ? value : undefined;
}

interface Reduced {
  readonly value: unknown;
  readonly isOdd: boolean;
}

function reduced(value: unknown): Reduced {
  if (Array.isArray(value)) return reducedArray(value);
  return isMap(value) ? reducedMap(value) : { value, isOdd: value === null };
}

function reducedArray(items: readonly unknown[]): Reduced {
  const parts = items.map(reduced);
  const isOdd = items.length < 2 || items.some(Array.isArray) || parts.some((part) => part.isOdd);
  return { value: parts.map((part) => part.value), isOdd };
}

function reducedMap(map: JsonMap): Reduced {
  let isOdd = false;
  const members = Object.entries(map).map(([name, value]): [string, unknown] => {
    if (name === '@context' || typeof value !== 'object') return [name, value];
    const part = reduced(value);
    isOdd ||= part.isOdd;
    // Keywords take no stand-in.
    return [name, part.isOdd ? part.value : name.startsWith('@') || isPlain(value) ? value : LEFT_OUT];
  });
  return { value: Object.fromEntries(members), isOdd };
}

/** An array of texts may be the types of the node, under whatever name. */
function isPlain(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item !== 'object');
}
