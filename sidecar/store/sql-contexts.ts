import {
  AlreadyExistsError,
  DependencyChangedError,
  domainNameTaken,
  NotFoundError,
  ReadOnlyContextError,
} from './errors.js';
import type {
  Context,
  ContextAt,
  Dependent,
  DomainContextName,
  NewContextVersion,
  Page,
  Paged,
} from './records.js';
import { dependents, OF_CONTEXT, requireUnused } from './sql-dependents.js';
import { resolveReferences } from './sql-references.js';
import {
  etagOf,
  first,
  type IfMatch,
  insertedId,
  isStorable,
  mapPage,
  putContent,
  requireMatch,
  requireStorable,
  run,
  SqlListing,
  type SqlSession,
  statement,
  timeAfter,
  versionParameter,
  type SqlRoutine,
} from './sql-routines.js';

/** Stores contexts. Generated contexts are written by SqlModels. */
export class SqlContexts {
  constructor(private readonly session: SqlSession) {}

  /** Lists custom and generated contexts, and those of domains. */
  async list(page: Page): Promise<Paged<Context | DomainContextName>> {
    return mapPage(await this.session.read(() => LISTING.read(page, {})), toListed);
  }

  /** @param version the current version if not given @throws NotFoundError */
  get(name: string, version?: number): Promise<ContextAt> {
    return this.session.read(() => at(name, version));
  }

  /** Lists the models and contexts of which some version uses the context, except for its own model. @throws NotFoundError */
  dependents(name: string, page: Page): Promise<Paged<Dependent>> {
    return this.session.read(function* () {
      return yield* dependents(OF_CONTEXT, (yield* requireContext(name)).id, page);
    });
  }

  /** Creates a custom context. @throws AlreadyExistsError, also if a domain has the name; DependencyChangedError */
  create(name: string, version: NewContextVersion): Promise<ContextAt> {
    const { clock } = this.session;
    return this.session.write(function* () {
      requireStorable({ name });
      if ((yield* findContext(name)) !== undefined) throw new AlreadyExistsError({ kind: 'context', name });
      if ((yield* first(DOMAIN_NAME, { name })) !== undefined) throw domainNameTaken(name);
      const uses = yield* requireUses(version);
      const now = clock.now();
      yield* appendContextVersion(yield* insertContext(name, null, now), 1, version.text, uses, now);
      return yield* at(name);
    });
  }

  /**
   * Adds a version to a custom context, unless the text is the same as the current version's.
   *
   * @throws NotFoundError, PreconditionFailedError, ReadOnlyContextError, DependencyChangedError
   */
  update(name: string, version: NewContextVersion, ifMatch?: IfMatch): Promise<ContextAt> {
    const { clock } = this.session;
    return this.session.write(function* () {
      const row = yield* requireWritable(name, ifMatch);
      if ((yield* putContent('context', version.text)) !== row.sha256) {
        const now = timeAfter(row.modifiedAt, clock);
        const uses = yield* requireUses(version);
        yield* appendContextVersion(row.id, row.currentVersion + 1, version.text, uses, now);
      }
      return yield* at(name);
    });
  }

  /** @throws NotFoundError, PreconditionFailedError, ReadOnlyContextError, InUseError */
  delete(name: string, ifMatch?: IfMatch): Promise<void> {
    return this.session.write(function* () {
      const { id } = yield* requireWritable(name, ifMatch);
      yield* requireUnused(OF_CONTEXT, id, { kind: 'context', name });
      yield* run(DELETE, { id });
    });
  }
}

export type Contexts = Pick<SqlContexts, keyof SqlContexts>;

function* requireContext(name: string): SqlRoutine<ContextRow> {
  const row = yield* findContext(name);
  if (row === undefined) throw new NotFoundError({ kind: 'context', name });
  return row;
}

function* requireWritable(name: string, ifMatch: IfMatch | undefined): SqlRoutine<ContextRow> {
  const row = yield* findContext(name);
  if (row === undefined) {
    if (isStorable(name) && (yield* first(DOMAIN_NAME, { name })) !== undefined)
      throw new ReadOnlyContextError(name);
    throw new NotFoundError({ kind: 'context', name });
  }
  requireMatch({ kind: 'context', name }, etagOf(row), ifMatch);
  if (row.kind === 'generated') throw new ReadOnlyContextError(name);
  return row;
}

function* at(name: string, version?: number): SqlRoutine<ContextAt> {
  const row = yield* requireContext(name);
  const number = versionParameter(version) ?? row.currentVersion;
  const found = yield* first(VERSION, { id: row.id, number });
  if (found === undefined)
    throw new NotFoundError({ kind: 'context', name, ...(version === undefined ? {} : { version }) });
  const { createdAt, sha256, size } = found;
  return { context: toContext(row), version: { number, createdAt, content: { sha256, size } } };
}

function* requireUses({ contexts, references = new Map() }: NewContextVersion): SqlRoutine<ContextUses> {
  const { ids, missing } = yield* resolveContexts(contexts);
  if (missing.length > 0) throw new DependencyChangedError([], missing);
  const { pins, changed } = yield* resolveReferences(references);
  if (changed.length > 0) throw new DependencyChangedError(changed, []);
  return { contexts: ids, references: pins.map(({ id }) => id) };
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

interface DomainRow {
  readonly name: string;
  readonly kind: 'domain';
  readonly createdAt: number;
  readonly modifiedAt: number;
}

interface VersionRow {
  readonly createdAt: number;
  readonly sha256: string;
  readonly size: number;
}

const SELECT = `
  SELECT context.id, context.name, CASE WHEN model_id IS NULL THEN 'custom' ELSE 'generated' END AS kind,
    current_version AS "currentVersion", version.sha256,
    context.created_at AS "createdAt", modified_at AS "modifiedAt"
  FROM context
    JOIN context_version AS version ON version.context_id = context.id AND version.number = current_version`;
/** Includes the contexts of domains. */
const LISTING = new SqlListing<object, ContextRow | DomainRow>(
  `${SELECT}
  UNION ALL
  SELECT NULL, domain.name, 'domain', NULL, NULL, domain.created_at, domain.modified_at
  FROM domain`,
  'name',
);
const DOMAIN_NAME = statement<{ name: string }, object>('SELECT 1 FROM domain WHERE name = @name');
const FIND = statement<{ name: string }, ContextRow>(`${SELECT} WHERE name = @name`);
const VERSION = statement<{ id: number; number: number }, VersionRow>(`
  SELECT created_at AS "createdAt", content.sha256, size
  FROM context_version JOIN content ON content.sha256 = context_version.sha256
  WHERE context_id = @id AND number = @number`);
const INSERT = statement<{ name: string; modelId: number | null; now: number }, { readonly id: number }>(`
  INSERT INTO context (name, model_id, current_version, created_at, modified_at)
  VALUES (@name, @modelId, 1, @now, @now) RETURNING id`);
const INSERT_VERSION = statement<{ id: number; number: number; sha256: string; now: number }>(`
  INSERT INTO context_version (context_id, number, sha256, created_at) VALUES (@id, @number, @sha256, @now)`);
const INSERT_USE = statement<{ id: number; number: number; usedId: number }>(
  'INSERT INTO context_uses_context (context_id, number, used_id) VALUES (@id, @number, @usedId)',
);
const INSERT_REFERENCE = statement<{ id: number; number: number; referenceId: number }>(
  'INSERT INTO context_uses_reference (context_id, number, reference_id) VALUES (@id, @number, @referenceId)',
);
const DELETE_VERSION = statement<{ id: number; number: number }>(
  'DELETE FROM context_version WHERE context_id = @id AND number = @number',
);
const SET_VERSION = statement<{ id: number; number: number; now: number }>(
  'UPDATE context SET current_version = @number, modified_at = @now WHERE id = @id',
);
const DELETE = statement<{ id: number }>('DELETE FROM context WHERE id = @id');

/** Finds the row of a context, custom or generated. */
export function* findContext(name: string): SqlRoutine<ContextRow | undefined> {
  return isStorable(name) ? yield* first(FIND, { name }) : undefined;
}

/** Returns the ids of the contexts with these names, and the names without a context. */
export function* resolveContexts(
  names: Iterable<string>,
): SqlRoutine<{ readonly ids: readonly number[]; readonly missing: readonly string[] }> {
  const ids: number[] = [];
  const missing: string[] = [];
  for (const name of names) {
    const id = (yield* findContext(name))?.id;
    if (id === undefined) missing.push(name);
    else ids.push(id);
  }
  return { ids, missing };
}

/**
 * Adds a context without its version 1, which must follow.
 *
 * @param modelId the model it is generated from; null for a custom context
 * @returns its id
 */
export function* insertContext(name: string, modelId: number | null, now: number): SqlRoutine<number> {
  return yield* insertedId(INSERT, { name, modelId, now });
}

/** The ids of the contexts and documents that a version of a context builds on. */
export interface ContextUses {
  readonly contexts: readonly number[];
  readonly references: readonly number[];
}

/** Adds a version of a context and makes it the current one. @throws UnstorableTextError */
export function* appendContextVersion(
  id: number,
  number: number,
  text: string,
  uses: ContextUses,
  now: number,
): SqlRoutine<void> {
  yield* run(INSERT_VERSION, { id, number, sha256: yield* putContent('context', text), now });
  for (const usedId of uses.contexts) yield* run(INSERT_USE, { id, number, usedId });
  for (const referenceId of uses.references) yield* run(INSERT_REFERENCE, { id, number, referenceId });
  yield* run(SET_VERSION, { id, number, now });
}

/** Deletes a version of a context; another version must replace it. */
export function* deleteContextVersion(id: number, number: number): SqlRoutine<void> {
  yield* run(DELETE_VERSION, { id, number });
}

function toListed(row: ContextRow | DomainRow): Context | DomainContextName {
  if (row.kind !== 'domain') return toContext(row);
  const { name, kind, createdAt, modifiedAt } = row;
  return { name, kind, createdAt, modifiedAt };
}

function toContext(row: ContextRow): Context {
  const { name, kind, currentVersion, createdAt, modifiedAt } = row;
  return { name, kind, currentVersion, createdAt, modifiedAt, etag: etagOf(row) };
}
