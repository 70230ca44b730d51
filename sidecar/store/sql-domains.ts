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
import { MODELS_OF_DOMAIN, OF_CONTEXTS_OF_DOMAIN, requireUnused } from './sql-dependents.js';
import {
  etagOf,
  first,
  type IfMatch,
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

interface Deletion {
  /** Also deletes the models of the domain, with all their versions and generated contexts. */
  readonly cascade?: boolean;
  readonly ifMatch?: IfMatch | undefined;
}

export class SqlDomains {
  constructor(private readonly session: SqlSession) {}

  async list(page: Page): Promise<Paged<ListedDomain>> {
    const read = await this.session.read(() => LISTING.read(page, {}));
    // The ETag is that of the domain alone, the same as when it is read individually.
    return mapPage(read, ({ models, ...row }) => ({ ...toDomain(row), models }));
  }

  /** @throws NotFoundError */
  async get(name: string): Promise<Domain> {
    return toDomain(await this.session.get(() => requireDomain(name)));
  }

  /** @throws AlreadyExistsError, also if a custom context has the name */
  create({ name, description, compatibility = 'none' }: NewDomain): Promise<Domain> {
    const { clock } = this.session;
    return this.session.write(function* () {
      requireStorable({ name, description });
      if ((yield* first(FIND, { name })) !== undefined)
        throw new AlreadyExistsError({ kind: 'domain', name });
      if ((yield* first(CONTEXT_NAME, { name })) !== undefined) throw contextNameTaken(name);
      yield* run(INSERT, { name, description: description ?? null, compatibility, now: clock.now() });
      return toDomain(yield* requireDomain(name));
    });
  }

  /**
   * Replaces the settings of a domain; if they are the same, nothing changes. A new compatibility also applies to
   * models without their own.
   *
   * @throws NotFoundError, PreconditionFailedError, UnstorableTextError
   */
  update(name: string, settings: DomainSettings, ifMatch?: IfMatch): Promise<Domain> {
    const { description = null, compatibility } = settings;
    const { clock } = this.session;
    return this.session.write(function* () {
      requireStorable({ description: settings.description });
      const row = yield* requireDomain(name);
      requireMatch({ kind: 'domain', name }, etagOf(row), ifMatch);
      if (row.description !== description || row.compatibility !== compatibility)
        yield* run(UPDATE, { id: row.id, description, compatibility, now: timeAfter(row.modifiedAt, clock) });
      return toDomain(yield* requireDomain(name));
    });
  }

  /**
   * @throws NotFoundError, PreconditionFailedError, InUseError naming the models of the domain, or with `cascade` what
   * uses their contexts from outside the domain
   */
  delete(name: string, { cascade = false, ifMatch }: Deletion = {}): Promise<void> {
    return this.session.write(function* () {
      const resource = { kind: 'domain', name } as const;
      const row = yield* requireDomain(name);
      requireMatch(resource, etagOf(row), ifMatch);
      if (!cascade) yield* requireUnused(MODELS_OF_DOMAIN, row.id, resource);
      yield* requireUnused(OF_CONTEXTS_OF_DOMAIN, row.id, resource);
      yield* run(DELETE, { id: row.id });
    });
  }

  /** Notes that one of the domain's models has changed. */
  *touch({ id, modifiedAt }: DomainRow): SqlRoutine<void> {
    yield* run(TOUCH, { id, now: timeAfter(modifiedAt, this.session.clock) });
  }
}

export type Domains = Omit<SqlDomains, 'touch'>;

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
