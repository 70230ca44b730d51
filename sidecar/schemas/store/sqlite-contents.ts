import { createHash } from 'node:crypto';
import type { Statement } from 'better-sqlite3';
import type { SqliteSession } from './sqlite-session.js';
import { requireStorable } from './storable-text.js';

/** Texts by their SHA-256, each held once. What nothing names any more goes by itself (triggers of the migrations). */
export class SqliteContents {
  readonly #insert: Statement<[string, number, string]>;
  readonly #text: Statement<[string], string>;

  constructor(session: SqliteSession) {
    this.#insert = session.prepare(
      'INSERT INTO content (sha256, size, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.#text = session.prepare<[string], string>('SELECT text FROM content WHERE sha256 = ?').pluck();
  }

  /**
   * Keeps a text that the same transaction gives something to name it by.
   *
   * @param what to call it in the error
   * @returns its SHA-256, hex
   * @throws UnstorableTextError
   */
  put(what: string, text: string): string {
    requireStorable({ [what]: text });
    const sha256 = createHash('sha256').update(text).digest('hex');
    this.#insert.run(sha256, Buffer.byteLength(text), text);
    return sha256;
  }

  text(sha256: string): string | undefined {
    return this.#text.get(sha256);
  }
}
