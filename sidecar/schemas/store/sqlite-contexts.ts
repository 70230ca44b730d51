import type { Statement } from 'better-sqlite3';
import {
  AlreadyExistsError,
  DependencyChangedError,
  isStorable,
  NotFoundError,
  ReadOnlyContextError,
  requireStorable,
} from './errors.js';
import type { Context, ContextAt, Dependent, NewContextVersion, Page, Paged } from './records.js';
import type { SqliteDependents } from './sqlite-dependents.js';
import { etagOf, requireMatch, type SqliteContents, SqliteListing, timeAfter } from './sqlite-rows.js';
import { type SqliteSession, versionParameter } from './sqlite-session.js';
import type { Contexts, IfMatch } from './store.js';

/** What callers may do with contexts. The generated ones are written by SqliteModels. */
export class SqliteContexts implements Contexts {
  readonly #session: SqliteSession;
  readonly #contents: SqliteContents;
  readonly #rows: SqliteContextRows;
  readonly #dependents: SqliteDependents;

  constructor(
    session: SqliteSession,
    contents: SqliteContents,
    rows: SqliteContextRows,
    dependents: SqliteDependents,
  ) {
    this.#session = session;
    this.#contents = contents;
    this.#rows = rows;
    this.#dependents = dependents;
  }

  list(page: Page): Promise<Paged<Context>> {
    return this.#session.read(() => this.#rows.list(page));
  }

  get(name: string, version?: number): Promise<ContextAt> {
    return this.#session.read(() => this.#at(name, version));
  }

  dependents(name: string, page: Page): Promise<Paged<Dependent>> {
    return this.#session.read(() => this.#dependents.ofContext(this.#require(name).id, page));
  }

  create(name: string, { text, contexts }: NewContextVersion): Promise<ContextAt> {
    return this.#session.write(() => {
      requireStorable({ name });
      if (this.#rows.find(name) !== undefined) throw new AlreadyExistsError({ kind: 'context', name });
      const usedIds = this.#resolve(contexts);
      const now = this.#session.clock.now();
      this.#rows.append(this.#rows.insert(name, null, now), 1, text, usedIds, now);
      return this.#at(name);
    });
  }

  update(name: string, { text, contexts }: NewContextVersion, ifMatch?: IfMatch): Promise<ContextAt> {
    return this.#session.write(() => {
      const row = this.#requireWritable(name, ifMatch);
      if (this.#contents.put('context', text) !== row.sha256) {
        const now = timeAfter(row.modifiedAt, this.#session.clock);
        this.#rows.append(row.id, row.currentVersion + 1, text, this.#resolve(contexts), now);
      }
      return this.#at(name);
    });
  }

  delete(name: string, ifMatch?: IfMatch): Promise<void> {
    return this.#session.write(() => {
      const row = this.#requireWritable(name, ifMatch);
      this.#dependents.requireUnusedContext(row.id, { kind: 'context', name });
      this.#rows.delete(row.id);
    });
  }

  #require(name: string): ContextRow {
    const row = this.#rows.find(name);
    if (row === undefined) throw new NotFoundError({ kind: 'context', name });
    return row;
  }

  #requireWritable(name: string, ifMatch: IfMatch | undefined): ContextRow {
    const row = this.#require(name);
    requireMatch({ kind: 'context', name }, etagOf(row), ifMatch);
    if (row.kind === 'generated') throw new ReadOnlyContextError(name);
    return row;
  }

  #at(name: string, version?: number): ContextAt {
    const found = this.#rows.at(this.#require(name), version);
    if (found === undefined) {
      throw new NotFoundError({ kind: 'context', name, ...(version === undefined ? {} : { version }) });
    }
    return found;
  }

  #resolve(names: Iterable<string>): readonly number[] {
    const { ids, missing } = this.#rows.resolve(names);
    if (missing.length > 0) throw new DependencyChangedError([], missing);
    return ids;
  }
}

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
