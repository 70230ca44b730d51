import { AlreadyExistsError, contextNameTaken, NotFoundError } from './errors.js';
import type {
  Compatibility,
  Domain,
  DomainSettings,
  ListedDomain,
  NewDomain,
  Page,
  Paged,
} from './records.js';
import { requireEmptyDomain, requireUnusedDomain } from './sql-dependents.js';
import {
  etagOf,
  first,
  isStorable,
  mapPage,
  withoutNulls,
  requireMatch,
  requireStorable,
  run,
  SqlListing,
  type SqlSession,
  statement,
  timeAfter,
  type SqlRoutine,
} from './sql-routines.js';
import type { Domains, IfMatch } from './store.js';

export interface DomainRow {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly compatibility: Compatibility;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

const COLUMNS =
  'id, name, description, compatibility, created_at AS "createdAt", modified_at AS "modifiedAt"';
const SELECT = `SELECT ${COLUMNS} FROM domain`;
const LISTING = new SqlListing<object, DomainRow & { readonly models: number }>(
  `SELECT ${COLUMNS}, (SELECT count(*) FROM model WHERE model.domain_id = domain.id) AS models FROM domain`,
  'name',
);
const FIND = statement<{ name: string }, DomainRow>(`${SELECT} WHERE name = @name`);
const CONTEXT_NAME = statement<{ name: string }, object>('SELECT 1 FROM context WHERE name = @name');

interface NewRow {
  readonly name: string;
  readonly description: string | null;
  readonly compatibility: Compatibility;
  readonly now: number;
}

const INSERT = statement<NewRow>(`
  INSERT INTO domain (name, description, compatibility, created_at, modified_at)
  VALUES (@name, @description, @compatibility, @now, @now)`);
const UPDATE = statement<Omit<NewRow, 'name'> & { readonly id: number }>(`
  UPDATE domain SET description = @description, compatibility = @compatibility, modified_at = @now WHERE id = @id`);
const TOUCH = statement<{ id: number; now: number }>('UPDATE domain SET modified_at = @now WHERE id = @id');
const DELETE = statement<{ id: number }>('DELETE FROM domain WHERE id = @id');

export class SqlDomains implements Domains {
  readonly #session: SqlSession;

  constructor(session: SqlSession) {
    this.#session = session;
  }

  async list(page: Page): Promise<Paged<ListedDomain>> {
    const read = await this.#session.read(() => LISTING.read(page, {}));
    // The ETag is that of the domain alone, the same as when it is read individually.
    return mapPage(read, ({ models, ...row }) => ({ ...toDomain(row), models }));
  }

  async get(name: string): Promise<Domain> {
    return toDomain(await this.#session.get(() => requireDomain(name)));
  }

  create(domain: NewDomain): Promise<Domain> {
    const { name, description, compatibility = 'none' } = domain;
    return this.#session.write(() => this.#create(name, { description, compatibility }));
  }

  update(name: string, settings: DomainSettings, ifMatch?: IfMatch): Promise<Domain> {
    return this.#session.write(() => this.#update(name, settings, ifMatch));
  }

  delete(
    name: string,
    options: { readonly cascade?: boolean; readonly ifMatch?: IfMatch | undefined } = {},
  ): Promise<void> {
    return this.#session.write(() => this.#delete(name, options));
  }

  /** Notes that one of the domain's models has changed. */
  *touch({ id, modifiedAt }: DomainRow): SqlRoutine<void> {
    yield* run(TOUCH, { id, now: timeAfter(modifiedAt, this.#session.clock) });
  }

  *#create(name: string, { description, compatibility }: DomainSettings): SqlRoutine<Domain> {
    requireStorable({ name, description });
    if ((yield* first(FIND, { name })) !== undefined) throw new AlreadyExistsError({ kind: 'domain', name });
    if ((yield* first(CONTEXT_NAME, { name })) !== undefined) throw contextNameTaken(name);
    const now = this.#session.clock.now();
    yield* run(INSERT, { name, description: description ?? null, compatibility, now });
    return toDomain(yield* requireDomain(name));
  }

  *#update(name: string, settings: DomainSettings, ifMatch: IfMatch | undefined): SqlRoutine<Domain> {
    const { description = null, compatibility } = settings;
    requireStorable({ description: settings.description });
    const row = yield* requireDomain(name);
    requireMatch({ kind: 'domain', name }, etagOf(row), ifMatch);
    if (row.description !== description || row.compatibility !== compatibility) {
      const now = timeAfter(row.modifiedAt, this.#session.clock);
      yield* run(UPDATE, { id: row.id, description, compatibility, now });
    }
    return toDomain(yield* requireDomain(name));
  }

  *#delete(
    name: string,
    { cascade = false, ifMatch }: { readonly cascade?: boolean; readonly ifMatch?: IfMatch | undefined },
  ): SqlRoutine<void> {
    const resource = { kind: 'domain', name } as const;
    const row = yield* requireDomain(name);
    requireMatch(resource, etagOf(row), ifMatch);
    if (!cascade) yield* requireEmptyDomain(row.id, resource);
    yield* requireUnusedDomain(row.id, resource);
    yield* run(DELETE, { id: row.id });
  }
}

/** @throws NotFoundError */
export function* requireDomain(name: string): SqlRoutine<DomainRow> {
  const row = isStorable(name) ? yield* first(FIND, { name }) : undefined;
  if (row === undefined) throw new NotFoundError({ kind: 'domain', name });
  return row;
}

function toDomain(row: DomainRow): Domain {
  const { id: _id, ...rest } = row;
  return { ...withoutNulls(rest), etag: etagOf(row) };
}
