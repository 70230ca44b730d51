import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { readJson } from '../../shared/json/strict-json.js';
import type { WriteKind } from '../../ngsi-ld/write-route.js';

/** The entities of a body, and its text. */
export interface WrittenEntities {
  readonly text: string;
  readonly entities: readonly JsonValue[];
  readonly isBatch: boolean;
}

/** The entities of a body, or the fault that prevents reading them. */
export type BodyOutcome = WrittenEntities | { readonly fault: BodyFault };

/** A fault that prevents reading a body, and its place. */
export interface BodyFault {
  readonly detail: string;
  readonly keyword: string;
  readonly line: number;
  readonly column: number;
}

/** Maximum number of entities in one batch. */
const MAX_ENTITIES = 10_000;

/**
 * Reads the body of a write. JSON that readers may understand differently is a fault, as for `/validate`: if a member
 * occurs twice, a broker may use another one than was judged.
 *
 * @param bytes each byte as one character
 */
export function readBody(bytes: string, kind: WriteKind): BodyOutcome {
  const text = decodeUtf8(bytes);
  if (text === undefined) return fault('is not UTF-8', 'json');
  const read = readJson(text);
  if ('unreadable' in read) {
    const { line, column, detail } = read.unreadable;
    return {
      fault: {
        detail: `is not JSON that all readers understand in the same way: ${detail}`,
        keyword: 'json',
        line,
        column,
      },
    };
  }
  const nul = nulAt(text);
  if (nul !== -1)
    return fault('must not have U+0000 in a text: some brokers cut it off there', 'json', text.slice(0, nul));
  const value = read.value as JsonValue;
  if (!kind.startsWith('batch-'))
    return isAttributeKind(kind) || isObject(value)
      ? { text, entities: [value], isBatch: false }
      : fault('must be an object', 'type');
  if (!isArray(value)) return fault('must be an array of entities', 'type');
  if (value.length > MAX_ENTITIES)
    return fault(`must not have more than ${MAX_ENTITIES} entities`, 'maxItems');
  return { text, entities: value, isBatch: true };
}

/** The id that an entity of a body states. */
export function idOf(entity: JsonValue): string | undefined {
  if (!isObject(entity)) return undefined;
  const id = member(entity, 'id') ?? member(entity, '@id');
  return typeof id === 'string' ? id : undefined;
}

/** Whether the body of a write is a single attribute. */
export function isAttributeKind(kind: WriteKind): boolean {
  return kind === 'attribute' || kind === 'replace-attribute';
}

/** The text of UTF-8 bytes, each given as one character; undefined if they are not UTF-8. */
function decodeUtf8(bytes: string): string | undefined {
  if (!/[\x80-\xff]/.test(bytes)) return bytes;
  try {
    return DECODER.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return undefined;
  }
}

/** A byte order mark is not JSON, so it is kept and causes a fault. */
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Where a JSON text has an escape for U+0000, at which brokers end what they keep as a C string; -1 if it has none. */
function nulAt(json: string): number {
  let at = json.indexOf(NUL);
  while (at !== -1) {
    let escapes = at;
    while (json[escapes - 1] === '\\') escapes -= 1;
    if ((at - escapes) % 2 === 0) return at;
    at = json.indexOf(NUL, at + 1);
  }
  return -1;
}

const NUL = String.raw`\u0000`;

/** @param before the text before the fault */
function fault(detail: string, keyword: string, before = ''): BodyOutcome {
  const lines = before.split('\n');
  return { fault: { detail, keyword, line: lines.length, column: (lines.at(-1) ?? '').length + 1 } };
}

/**
 * The body of a write to one attribute, in each way in which brokers may read it, as an entity with that attribute.
 * Brokers also accept the attribute wrapped in an object with its name.
 */
export function attributeReadings(body: JsonValue, attribute: string): readonly JsonObject[] {
  const bare = { [attribute]: body };
  if (!isObject(body) || !Object.hasOwn(body, attribute)) return [bare];
  const wrapped = { [attribute]: body[attribute] ?? null };
  return VALUE_MEMBERS.some((name) => Object.hasOwn(body, name)) ? [wrapped, bare] : [wrapped];
}

const VALUE_MEMBERS = ['type', 'value', 'object', 'languageMap', 'vocab', 'json', 'valueList', 'objectList'];
