import { AlreadyExistsError, DependencyChangedError, NotFoundError, ReadOnlyContextError } from './errors.js';
import type { Context, ContextAt, Dependent, NewContextVersion, Page, Paged } from './records.js';
import type { SqliteContents } from './sqlite-contents.js';
import type { ContextRow, SqliteContextRows } from './sqlite-context-rows.js';
import type { SqliteDependents } from './sqlite-dependents.js';
import type { SqliteSession } from './sqlite-session.js';
import { etagOf, requireMatch, timeAfter } from './stamps.js';
import { requireStorable } from './storable-text.js';
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
