import { UnstorableTextError } from './errors.js';

const UNSTORABLE = /[\0\p{Surrogate}]/u;

/**
 * True for text that comes back from a database as it went in.
 *
 * A lone surrogate has no UTF-8: it comes back as U+FFFD, and looking for one may find another. PostgreSQL holds no
 * U+0000.
 */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/**
 * @param texts by what to call them in the error
 * @throws UnstorableTextError naming the first that cannot be stored
 */
export function requireStorable(texts: Readonly<Record<string, string | undefined>>): void {
  for (const [what, text] of Object.entries(texts)) {
    if (text !== undefined && !isStorable(text)) throw new UnstorableTextError(what);
  }
}
