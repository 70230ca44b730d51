import { threadId } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { type EntityList, entityListOf, type NoList, NOT_JSON } from '../../ngsi-ld/entity-list.js';
import { asStored } from '../../ngsi-ld/members.js';
import { isArray, isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { itemSpans } from '../../shared/json/json-positions.js';
import { parseWithDoubles } from '../../shared/json/lossless-json.js';
import { readJson, type Unreadable } from '../../shared/json/strict-json.js';

/** A page that a worker has read and keeps. Its number means another page to other workers. */
export interface KeptPage {
  readonly number: number;
  readonly threadId: number;
}

/** The ids in a page, and where it was read; or why it is not a list of entities. */
export type ReadPage = { readonly ids: readonly string[]; readonly kept: KeptPage } | NoList;

type Item =
  | { readonly entity: JsonObject }
  | { readonly unreadable: Pick<Unreadable, 'detail' | 'isTooDeep'>; readonly text: string };

type ItemAt = (index: number) => Item;

/**
 * The pages that were read and not judged yet, by number. The oldest are dropped if there are too many; then the text is sent
 * again.
 */
const readPages = new LRUCache<number, { readonly itemAt: ItemAt; readonly characters: number }>({
  maxSize: 8 * 1024 * 1024,
  sizeCalculation: ({ characters }) => characters,
});
let lastPage = 0;

/** Reads the ids in a page, and keeps the page for `itemsOf`. */
export function keepPage(text: string): ReadPage {
  const page = readJson(text);
  const list = 'value' in page ? entityListOf(page.value) : listIn(text);
  if ('fault' in list) return list;
  readPages.set((lastPage += 1), { itemAt: itemsIn(page, text), characters: text.length });
  return { ids: list.ids, kept: { number: lastPage, threadId } };
}

/**
 * Returns the items of a page.
 *
 * @param page its text, or where it was read
 * @returns undefined if this worker has dropped it, or another one has read it
 */
export function itemsOf(page: string | KeptPage): ItemAt | undefined {
  if (typeof page === 'string') return itemsIn(readJson(page), page);
  return page.threadId === threadId ? readPages.get(page.number)?.itemAt : undefined;
}

/** Called for a page that was judged and is no longer needed. */
export function forgetPage(page: string | KeptPage): void {
  if (typeof page !== 'string' && page.threadId === threadId) readPages.delete(page.number);
}

/** The list in a text that readers could understand differently. */
function listIn(text: string): EntityList {
  try {
    return entityListOf(parseWithDoubles(text));
  } catch {
    return NOT_JSON;
  }
}

/**
 * Returns the items of a page. They are read one by one if the page as a whole has something that readers could
 * understand differently.
 */
function itemsIn(page: ReturnType<typeof readJson>, text: string): ItemAt {
  const all = 'value' in page && isArray(page.value as JsonValue) ? (page.value as readonly JsonValue[]) : [];
  const spans = 'value' in page ? [] : itemSpans(text);
  return (index) => {
    const [start, end] = spans[index] ?? [0, 0];
    const own = text.slice(start, end);
    const read = 'value' in page ? { value: all[index] } : readJson(own);
    if ('unreadable' in read) return { unreadable: read.unreadable, text: own };
    const entity = read.value as JsonValue | undefined;
    return entity !== undefined && isObject(entity)
      ? { entity: asStored(entity) }
      : { unreadable: { detail: 'it is not an object', isTooDeep: false }, text: own };
  };
}
