import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  pointerTo,
} from '../../shared/json/json.js';
import { LRUCache } from 'lru-cache';
import type { JsonLdWarning } from './outcomes.js';
import { processingErrorOf, sentenceOf } from './processing-errors.js';
import type { ProcessingSession } from './processing-session.js';
import { ProcessorFailure } from './processor-refusals.js';
import { LEFT_OUT, lossesOf } from './round-trip-losses.js';

/** A node at the top of a document. */
export interface TopNode {
  readonly node: JsonObject;
  /** Parts of the node that may be lost; see `DocumentSurvey`. */
  readonly fragile: ReadonlySet<object>;
  /** Applied before the node's own context; undefined for none. */
  readonly context: unknown;
  /** Pointers, into the node, to what is known to be dropped. */
  readonly skip: ReadonlySet<string>;
}

type Losses = readonly JsonLdWarning[];

const MAX_CHARACTERS = 4 * 1024 * 1024;
const MAX_KEY_CHARACTERS = 64 * 1024;

/** Warnings that quote values of the node, so that they must not be cached. */
const QUOTING: ReadonlySet<string> = new Set(['value-changed', 'compaction-fails']);

/**
 * Expands nodes and compacts them again to find what is lost. Results are cached by shape, because entities of one
 * model usually lose the same. The cache is worth the cost of its keys: expanding an entity takes 148–195 µs with it
 * and 272–344 µs without, which would miss the target of bench/README.md. Compacting takes the same time with and
 * without.
 */
export class RoundTrips {
  readonly #known = new LRUCache<string, Losses>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (losses, key) => key.length + 200 * losses.length,
  });

  /** What is lost of a node; pointers are into the node. */
  async losses(top: TopNode, session: ProcessingSession): Promise<readonly JsonLdWarning[]> {
    if (!top.fragile.has(top.node)) return [];
    const key = keyOf(top, session);
    const known = key === undefined ? undefined : this.#known.get(key);
    if (known !== undefined) return known;
    const losses = await found(top, session.withoutEvents());
    if (key !== undefined && !losses.some(({ code }) => QUOTING.has(code))) this.#known.set(key, losses);
    return losses;
  }
}

/** Equal for nodes that lose the same in the same contexts; undefined when the result must not be cached. */
function keyOf(
  { node, fragile, context, skip }: TopNode,
  { contextsKey }: ProcessingSession,
): string | undefined {
  if (contextsKey === undefined || skip.size > 0) return undefined;
  const outer = context === undefined ? '' : JSON.stringify(context);
  const text = `${outer}\n${shapeOf(node, fragile)}`;
  return text.length > MAX_KEY_CHARACTERS ? undefined : `${contextsKey}\n${text}`;
}

/** Makes the round trip with the fragile parts only, and with the whole node if that fails. */
async function found(top: TopNode, session: ProcessingSession): Promise<readonly JsonLdWarning[]> {
  try {
    return await roundTrip({ ...top, node: fragileParts(top.node, top.fragile) }, session);
  } catch (error) {
    if (!(error instanceof ProcessorFailure)) throw error;
  }
  try {
    return await roundTrip(top, session);
  } catch (error) {
    if (!(error instanceof ProcessorFailure) || error.cause instanceof RangeError) throw error;
    const reason = sentenceOf(processingErrorOf(error.cause));
    const detail = `The result cannot be compacted with the same contexts: ${reason}`;
    return [{ code: 'compaction-fails', detail, pointer: '' }];
  }
}

async function roundTrip(
  { node, context, skip }: TopNode,
  session: ProcessingSession,
): Promise<readonly JsonLdWarning[]> {
  const contexts = [context, member(node, '@context')].flatMap((one) => (one === undefined ? [] : one));
  const back = await session.compact(await session.expand(node, context), contexts);
  const graph = nodesOf(node);
  return graph === undefined
    ? lossesOf(node, back, '', skip)
    : lossesOf(graph, nodesOf(back) ?? [back], pointerTo('', '@graph'), skip);
}

/** The nodes of a document whose only member is `@graph`. */
function nodesOf(document: Readonly<Record<string, unknown>>): readonly unknown[] | undefined {
  const names = Object.keys(document).filter((name) => name !== '@context');
  const graph = member(document, '@graph');
  return names.length === 1 && Array.isArray(graph) ? graph : undefined;
}

/**
 * A node reduced to what may not survive a round trip, and what affects that. Other maps and arrays are replaced by
 * {@link LEFT_OUT}, which makes the round trip much shorter.
 *
 * @param fragile see `DocumentSurvey`
 */
function fragileParts(node: JsonObject, fragile: ReadonlySet<object>): JsonObject {
  const members = Object.entries(node).map(([name, value]): [string, JsonValue] => [
    name,
    isKept(name, value, fragile) ? (isFragile(value, fragile) ? reduced(value, fragile) : value) : LEFT_OUT,
  ]);
  return Object.fromEntries(members);
}

function reduced(value: JsonValue, fragile: ReadonlySet<object>): JsonValue {
  if (isArray(value)) return value.map((item) => reduced(item, fragile));
  return isObject(value) ? fragileParts(value, fragile) : value;
}

function isFragile(value: JsonValue | undefined, fragile: ReadonlySet<object>): boolean {
  return typeof value === 'object' && value !== null && fragile.has(value);
}

/** Whether the member of a node affects what is lost. Keywords cannot be replaced. */
function isKept(name: string, value: JsonValue | undefined, fragile: ReadonlySet<object>): boolean {
  return (
    typeof value !== 'object' ||
    value === null ||
    isFragile(value, fragile) ||
    name.startsWith('@') ||
    isPlain(value)
  );
}

/** An array of strings may hold the types of the node under an alias. */
function isPlain(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item !== 'object');
}

/**
 * A text that is equal for nodes that lose the same in the same contexts: what `fragileParts` keeps of them, with ids, times
 * and numbers replaced by placeholders, because they do not affect what is lost.
 *
 * @param node nested no deeper than the stack allows
 * @param fragile see `DocumentSurvey`
 */
export function shapeOf(node: JsonObject, fragile: ReadonlySet<object>): string {
  let text = '{';
  for (const name of Object.keys(node)) {
    const value = node[name];
    text += `${name.length}:${name}`;
    if (isIdentifier(name, value)) text += ':';
    else if (!isKept(name, value, fragile)) text += '~';
    else if (typeof value !== 'object' || isFragile(value, fragile)) text += shapeOfValue(value, fragile);
    else text += `=${JSON.stringify(value)}`;
  }
  return `${text}}`;
}

function shapeOfValue(value: unknown, fragile: ReadonlySet<object>): string {
  if (isObject(value)) return shapeOf(value, fragile);
  if (!Array.isArray(value)) return scalarText(value);
  let text = '[';
  for (const item of value as readonly unknown[]) text += shapeOfValue(item, fragile);
  return `${text}]`;
}

function isIdentifier(name: string, value: unknown): boolean {
  return (name === 'id' || name === '@id') && typeof value === 'string' && value.includes(':');
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** Unambiguous: each kind of value begins differently, and strings are preceded by their length. */
function scalarText(value: unknown): string {
  if (typeof value === 'string') return DATE_TIME.test(value) ? 'd' : `"${value.length}:${value}`;
  if (typeof value === 'number') return 'n';
  return value === null ? '0' : value === true ? 't' : 'f';
}
