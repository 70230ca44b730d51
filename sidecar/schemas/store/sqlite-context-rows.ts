import type { Statement } from 'better-sqlite3';
import type { Context, ContextAt, Page, Paged } from './records.js';
import type { SqliteContents } from './sqlite-contents.js';
import { SqliteListing } from './sqlite-listing.js';
import { versionParameter, type SqliteSession } from './sqlite-session.js';
import { etagOf } from './stamps.js';
import { isStorable } from './storable-text.js';

export interface ContextRow {
  readonly id: number;
  readonly name: string;
  readonly kind: Context['kind'];
  readonly currentVersion: number;
  readonly sha256: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

interface VersionRow {
  readonly number: number;
  readonly createdAt: number;
  readonly sha256: string;
  readonly size: number;
}

/** The rows of contexts and their versions, custom and generated; all methods belong within a transaction. */
export class SqliteContextRows {
  readonly #contents: SqliteContents;
  readonly #listing: SqliteListing<object, ContextRow>;
  readonly #find: Statement<[string], ContextRow>;
  readonly #version: Statement<[number, number], VersionRow>;
  readonly #insert: Statement<[string, number | null, number, number]>;
  readonly #insertVersion: Statement<[number, number, string, number]>;
  readonly #insertUse: Statement<[number, number, number]>;
  readonly #setVersion: Statement<[number, number, number]>;
  readonly #delete: Statement<[number]>;

  constructor(session: SqliteSession, contents: SqliteContents) {
    this.#contents = contents;
    const select = `
      SELECT context.id, context.name, iif(model_id IS NULL, 'custom', 'generated') AS kind,
        current_version AS currentVersion, version.sha256,
        context.created_at AS createdAt, modified_at AS modifiedAt
      FROM context
        JOIN context_version AS version ON version.context_id = context.id AND version.number = current_version`;
    this.#listing = new SqliteListing(session, select, 'name');
    this.#find = session.prepare(`${select} WHERE name = ?`);
    this.#version = session.prepare(`
      SELECT number, created_at AS createdAt, content.sha256, size
      FROM context_version JOIN content ON content.sha256 = context_version.sha256
      WHERE context_id = ? AND number = ?`);
    this.#insert = session.prepare(
      'INSERT INTO context (name, model_id, current_version, created_at, modified_at) VALUES (?, ?, 1, ?, ?)',
    );
    this.#insertVersion = session.prepare(
      'INSERT INTO context_version (context_id, number, sha256, created_at) VALUES (?, ?, ?, ?)',
    );
    this.#insertUse = session.prepare(
      'INSERT INTO context_uses_context (context_id, number, used_id) VALUES (?, ?, ?)',
    );
    this.#setVersion = session.prepare(
      'UPDATE context SET current_version = ?, modified_at = ? WHERE id = ?',
    );
    this.#delete = session.prepare('DELETE FROM context WHERE id = ?');
  }

  list(page: Page): Paged<Context> {
    return this.#listing.read(page, {}, toContext);
  }

  find(name: string): ContextRow | undefined {
    return isStorable(name) ? this.#find.get(name) : undefined;
  }

  /** A context at one version, the current one by default; undefined when it has no such version. */
  at(row: ContextRow, version?: number): ContextAt | undefined {
    const found = this.#version.get(row.id, versionParameter(version) ?? row.currentVersion);
    if (found === undefined) return undefined;
    const { number, createdAt, sha256, size } = found;
    return { context: toContext(row), version: { number, createdAt, content: { sha256, size } } };
  }

  /** The ids of contexts by their names, and the names that are none. */
  resolve(names: Iterable<string>): { readonly ids: readonly number[]; readonly missing: readonly string[] } {
    const ids: number[] = [];
    const missing: string[] = [];
    for (const name of names) {
      const id = this.find(name)?.id;
      if (id === undefined) missing.push(name);
      else ids.push(id);
    }
    return { ids, missing };
  }

  /**
   * Adds a context without its version 1, which must follow.
   *
   * @param modelId the model it is generated from; null for a custom one
   * @returns its id
   */
  insert(name: string, modelId: number | null, now: number): number {
    return Number(this.#insert.run(name, modelId, now, now).lastInsertRowid);
  }

  /**
   * Adds a version, which becomes the current one.
   *
   * @param usedIds the contexts that it builds on
   * @throws UnstorableTextError
   */
  append(id: number, number: number, text: string, usedIds: readonly number[], now: number): void {
    this.#insertVersion.run(id, number, this.#contents.put('context', text), now);
    for (const usedId of usedIds) this.#insertUse.run(id, number, usedId);
    this.#setVersion.run(number, now, id);
  }

  delete(id: number): void {
    this.#delete.run(id);
  }
}

function toContext(row: ContextRow): Context {
  const { name, kind, currentVersion, createdAt, modifiedAt } = row;
  return { name, kind, currentVersion, createdAt, modifiedAt, etag: etagOf(row) };
}
