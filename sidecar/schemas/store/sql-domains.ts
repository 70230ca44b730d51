import {
  AlreadyExistsError,
  contextNameTaken,
  isStorable,
  NotFoundError,
  requireStorable,
} from './errors.js';
import type { Domain, Page, Paged } from './records.js';
import { requireEmptyDomain, requireUnusedDomain } from './sql-dependents.js';
import { etagOf, mapped, requireMatch, SqlListing, timeAfter } from './sql-rows.js';
import { first, run, type SqlSession, statement, type Work } from './sql-work.js';
import type { Domains, IfMatch } from './store.js';

export interface DomainRow {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

const SELECT = `
  SELECT id, name, description, created_at AS "createdAt", modified_at AS "modifiedAt" FROM domain`;
const LISTING = new SqlListing<object, DomainRow>(SELECT, 'name');
const FIND = statement<{ name: string }, DomainRow>(`${SELECT} WHERE name = @name`);
const INSERT = statement<{ name: string; description: string | null; now: number }>(
  'INSERT INTO domain (name, description, created_at, modified_at) VALUES (@name, @description, @now, @now)',
);
const CONTEXT_NAME = statement<{ name: string }, object>('SELECT 1 FROM context WHERE name = @name');
const TOUCH = statement<{ id: number; now: number }>('UPDATE domain SET modified_at = @now WHERE id = @id');
const DELETE = statement<{ id: number }>('DELETE FROM domain WHERE id = @id');

export class SqlDomains implements Domains {
  readonly #session: SqlSession;

  constructor(session: SqlSession) {
    this.#session = session;
  }

  async list(page: Page): Promise<Paged<Domain>> {
    return mapped(await this.#session.read(() => LISTING.read(page, {})), toDomain);
  }

  async get(name: string): Promise<Domain> {
    return toDomain(await this.#session.get(() => this.require(name)));
  }

  create(domain: { readonly name: string; readonly description?: string | undefined }): Promise<Domain> {
    return this.#session.write(() => this.#create(domain.name, domain.description));
  }

  delete(
    name: string,
    options: { readonly cascade?: boolean; readonly ifMatch?: IfMatch | undefined } = {},
  ): Promise<void> {
    return this.#session.write(() => this.#delete(name, options));
  }

  /** @throws NotFoundError */
  *require(name: string): Work<DomainRow> {
    const row = isStorable(name) ? yield* first(FIND, { name }) : undefined;
    if (row === undefined) throw new NotFoundError({ kind: 'domain', name });
    return row;
  }

  /** Notes that one of its models has changed. */
  *touch({ id, modifiedAt }: DomainRow): Work<void> {
    yield* run(TOUCH, { id, now: timeAfter(modifiedAt, this.#session.clock) });
  }

  *#create(name: string, description: string | undefined): Work<Domain> {
    requireStorable({ name, description });
    if ((yield* first(FIND, { name })) !== undefined) throw new AlreadyExistsError({ kind: 'domain', name });
    if ((yield* first(CONTEXT_NAME, { name })) !== undefined) throw contextNameTaken(name);
    yield* run(INSERT, { name, description: description ?? null, now: this.#session.clock.now() });
    return toDomain(yield* this.require(name));
  }

  *#delete(
    name: string,
    { cascade = false, ifMatch }: { readonly cascade?: boolean; readonly ifMatch?: IfMatch | undefined },
  ): Work<void> {
    const thing = { kind: 'domain', name } as const;
    const row = yield* this.require(name);
    requireMatch(thing, etagOf(row), ifMatch);
    if (!cascade) yield* requireEmptyDomain(row.id, thing);
    yield* requireUnusedDomain(row.id, thing);
    yield* run(DELETE, { id: row.id });
  }
}

function toDomain(row: DomainRow): Domain {
  const { name, description, createdAt, modifiedAt } = row;
  return { name, description: description ?? undefined, createdAt, modifiedAt, etag: etagOf(row) };
}
