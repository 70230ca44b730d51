import type { Statement } from 'better-sqlite3';
import { AlreadyExistsError, isStorable, NotFoundError, requireStorable } from './errors.js';
import type { Domain, Page, Paged } from './records.js';
import type { SqliteDependents } from './sqlite-dependents.js';
import { etagOf, requireMatch, SqliteListing, timeAfter } from './sqlite-rows.js';
import type { SqliteSession } from './sqlite-session.js';
import type { Domains, IfMatch } from './store.js';

export interface DomainRow {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export class SqliteDomains implements Domains {
  readonly #session: SqliteSession;
  readonly #dependents: SqliteDependents;
  readonly #listing: SqliteListing<object, DomainRow>;
  readonly #find: Statement<[string], DomainRow>;
  readonly #insert: Statement<[string, string | null, number, number]>;
  readonly #touch: Statement<[number, number]>;
  readonly #delete: Statement<[number]>;

  constructor(session: SqliteSession, dependents: SqliteDependents) {
    this.#session = session;
    this.#dependents = dependents;
    const columns = 'id, name, description, created_at AS createdAt, modified_at AS modifiedAt';
    this.#listing = new SqliteListing(session, `SELECT ${columns} FROM domain`, 'name');
    this.#find = session.prepare(`SELECT ${columns} FROM domain WHERE name = ?`);
    this.#insert = session.prepare(
      'INSERT INTO domain (name, description, created_at, modified_at) VALUES (?, ?, ?, ?)',
    );
    this.#touch = session.prepare('UPDATE domain SET modified_at = ? WHERE id = ?');
    this.#delete = session.prepare('DELETE FROM domain WHERE id = ?');
  }

  list(page: Page): Promise<Paged<Domain>> {
    return this.#session.read(() => this.#listing.read(page, {}, toDomain));
  }

  get(name: string): Promise<Domain> {
    return this.#session.get(() => toDomain(this.require(name)));
  }

  create(domain: { readonly name: string; readonly description?: string | undefined }): Promise<Domain> {
    return this.#session.write(() => {
      const { name, description } = domain;
      requireStorable({ name, description });
      if (this.#find.get(name) !== undefined) throw new AlreadyExistsError({ kind: 'domain', name });
      const now = this.#session.clock.now();
      this.#insert.run(name, description ?? null, now, now);
      return toDomain(this.require(name));
    });
  }

  delete(
    name: string,
    { cascade = false, ifMatch }: { readonly cascade?: boolean; readonly ifMatch?: IfMatch | undefined } = {},
  ): Promise<void> {
    return this.#session.write(() => {
      const thing = { kind: 'domain', name } as const;
      const row = this.require(name);
      requireMatch(thing, etagOf(row), ifMatch);
      if (!cascade) this.#dependents.requireEmptyDomain(row.id, thing);
      this.#dependents.requireUnusedDomain(row.id, thing);
      this.#delete.run(row.id);
    });
  }

  /** @throws NotFoundError */
  require(name: string): DomainRow {
    const row = isStorable(name) ? this.#find.get(name) : undefined;
    if (row === undefined) throw new NotFoundError({ kind: 'domain', name });
    return row;
  }

  /** Notes that one of its models has changed. */
  touch({ id, modifiedAt }: DomainRow): void {
    this.#touch.run(timeAfter(modifiedAt, this.#session.clock), id);
  }
}

function toDomain(row: DomainRow): Domain {
  const { name, description, createdAt, modifiedAt } = row;
  return { name, description: description ?? undefined, createdAt, modifiedAt, etag: etagOf(row) };
}
