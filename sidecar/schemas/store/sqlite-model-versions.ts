import type { Statement } from 'better-sqlite3';
import { DependencyChangedError, isStorable, requireStorable } from './errors.js';
import type {
  Compatibility,
  ContentRef,
  JsonValue,
  Model,
  ModelKey,
  ModelSettings,
  ModelVersion,
  NewModelVersion,
  Page,
  Paged,
  PinnedReference,
} from './records.js';
import type { SqliteContextRows } from './sqlite-contexts.js';
import type { SqliteReferences } from './sqlite-references.js';
import { etagOf, type SqliteContents, SqliteListing } from './sqlite-rows.js';
import { type SqliteSession, versionParameter } from './sqlite-session.js';

interface VersionRow {
  readonly number: number;
  readonly createdAt: number;
  readonly description: string | null;
  readonly metadata: string;
  readonly schemaSha256: string;
  readonly schemaSize: number;
  readonly contextSha256: string;
  readonly contextSize: number;
}

/** The rows of model versions; all methods belong within a transaction. */
export class SqliteModelVersions {
  readonly #contents: SqliteContents;
  readonly #contexts: SqliteContextRows;
  readonly #references: SqliteReferences;
  readonly #find: Statement<[number, number], VersionRow>;
  readonly #listing: SqliteListing<{ readonly modelId: number }, VersionRow>;
  readonly #pins: Statement<[number, number], PinnedReference>;
  readonly #insert: Statement<[number, number, number, string, string | null, string, number]>;
  readonly #insertReference: Statement<[number, number, number, string]>;
  readonly #insertContext: Statement<[number, number, number]>;

  constructor(
    session: SqliteSession,
    contents: SqliteContents,
    contexts: SqliteContextRows,
    references: SqliteReferences,
  ) {
    this.#contents = contents;
    this.#contexts = contexts;
    this.#references = references;
    const select = `
      SELECT version.number, version.created_at AS createdAt, version.description, version.metadata,
        schema.sha256 AS schemaSha256, schema.size AS schemaSize,
        context.sha256 AS contextSha256, context.size AS contextSize
      FROM model_version AS version
        JOIN content AS schema ON schema.sha256 = version.sha256
        JOIN context_version ON context_version.context_id = version.context_id
          AND context_version.number = version.number
        JOIN content AS context ON context.sha256 = context_version.sha256`;
    this.#find = session.prepare(`${select} WHERE version.model_id = ? AND version.number = ?`);
    this.#listing = new SqliteListing(session, `${select} WHERE version.model_id = @modelId`, 'number');
    this.#pins = session.prepare(`
      SELECT uri, content.sha256, size
      FROM model_uses_reference AS uses
        JOIN reference ON reference.id = uses.reference_id
        JOIN content ON content.sha256 = uses.sha256
      WHERE uses.model_id = ? AND uses.number = ? ORDER BY uri`);
    this.#insert = session.prepare(`
      INSERT INTO model_version (model_id, number, context_id, sha256, description, metadata, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#insertReference = session.prepare(
      'INSERT INTO model_uses_reference (model_id, number, reference_id, sha256) VALUES (?, ?, ?, ?)',
    );
    this.#insertContext = session.prepare(
      'INSERT INTO model_uses_context (model_id, number, used_id) VALUES (?, ?, ?)',
    );
  }

  find(modelId: number, number: number): ModelVersion | undefined {
    const row = this.#find.get(modelId, number);
    return row === undefined ? undefined : this.#toVersion(modelId, row);
  }

  list(modelId: number, page: Page): Paged<ModelVersion> {
    return this.#listing.read(page, { modelId }, (row) => this.#toVersion(modelId, row));
  }

  /**
   * Adds a version of a model, and the same version of its context.
   *
   * @throws DependencyChangedError, UnstorableTextError
   */
  append(
    model: { readonly id: number; readonly contextId: number },
    number: number,
    version: NewModelVersion,
    now: number,
  ): void {
    const { schema, context, description, metadata } = version;
    const { pins, changed } = this.#references.resolve(version.references);
    const { ids, missing } = this.#contexts.resolve(version.contexts);
    if (changed.length > 0 || missing.length > 0) throw new DependencyChangedError(changed, missing);
    requireStorable({ description });
    const sha256 = this.#contents.put('schema', schema);
    this.#contexts.append(model.contextId, number, context, [], now);
    this.#insert.run(
      model.id,
      number,
      model.contextId,
      sha256,
      description ?? null,
      JSON.stringify(metadata),
      now,
    );
    for (const pin of pins) this.#insertReference.run(model.id, number, pin.id, pin.sha256);
    for (const id of ids) this.#insertContext.run(model.id, number, id);
  }

  #toVersion(modelId: number, row: VersionRow): ModelVersion {
    return {
      number: row.number,
      createdAt: row.createdAt,
      description: row.description ?? undefined,
      schema: { sha256: row.schemaSha256, size: row.schemaSize },
      context: { sha256: row.contextSha256, size: row.contextSize },
      references: this.#pins.all(modelId, row.number),
      metadata: JSON.parse(row.metadata) as JsonValue,
    };
  }
}

interface SettingsColumns {
  readonly description: string | null;
  readonly contextBase: string | null;
  readonly compatibility: Compatibility;
}

export interface ModelRow extends SettingsColumns {
  readonly id: number;
  readonly contextId: number;
  readonly domain: string;
  readonly name: string;
  readonly currentVersion: number;
  readonly contextName: string;
  /** Of the current version's schema. */
  readonly sha256: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

type NewRow = SettingsColumns & { readonly domainId: number; readonly name: string; readonly now: number };
type ChangedRow = SettingsColumns & {
  readonly id: number;
  readonly currentVersion: number;
  readonly now: number;
};
type RefParameters = ModelKey & { readonly version: number | null };

/** The rows of models; all methods belong within a transaction. */
export class SqliteModelRows {
  readonly #listing: SqliteListing<{ readonly domainId: number }, ModelRow>;
  readonly #find: Statement<[string, string], ModelRow>;
  readonly #refs: Readonly<Record<'schema' | 'context', Statement<[RefParameters], ContentRef>>>;
  readonly #insert: Statement<[NewRow]>;
  readonly #update: Statement<[ChangedRow]>;
  readonly #delete: Statement<[number]>;

  constructor(session: SqliteSession) {
    this.#listing = new SqliteListing(session, `${SELECT} WHERE domain.id = @domainId`, 'name');
    this.#find = session.prepare(`${SELECT} WHERE domain.name = ? AND model.name = ?`);
    this.#refs = {
      schema: session.prepare(selectRef('version.sha256')),
      context: session.prepare(selectRef('context_version.sha256')),
    };
    this.#insert = session.prepare(`
      INSERT INTO model
        (domain_id, name, description, context_base, compatibility, current_version, created_at, modified_at)
      VALUES (@domainId, @name, @description, @contextBase, @compatibility, 1, @now, @now)`);
    this.#update = session.prepare(`
      UPDATE model
      SET description = @description, context_base = @contextBase, compatibility = @compatibility,
        current_version = @currentVersion, modified_at = @now
      WHERE id = @id`);
    this.#delete = session.prepare('DELETE FROM model WHERE id = ?');
  }

  list(domainId: number, page: Page): Paged<Model> {
    return this.#listing.read(page, { domainId }, toModel);
  }

  find({ domain, name }: ModelKey): ModelRow | undefined {
    return isStorable(domain) && isStorable(name) ? this.#find.get(domain, name) : undefined;
  }

  contentRef(
    { domain, name }: ModelKey,
    part: 'schema' | 'context',
    version?: number,
  ): ContentRef | undefined {
    if (!isStorable(domain) || !isStorable(name)) return undefined;
    return this.#refs[part].get({ domain, name, version: versionParameter(version) });
  }

  /**
   * Adds a model without its version 1, which must follow.
   *
   * @returns its id
   * @throws UnstorableTextError
   */
  insert(domainId: number, name: string, settings: ModelSettings, now: number): number {
    requireStorable({ name });
    return Number(this.#insert.run({ domainId, name, ...columnsOf(settings), now }).lastInsertRowid);
  }

  /** @throws UnstorableTextError */
  update(id: number, settings: ModelSettings, currentVersion: number, now: number): void {
    this.#update.run({ id, ...columnsOf(settings), currentVersion, now });
  }

  /** Deletes a model with all that is its own. */
  delete(id: number): void {
    this.#delete.run(id);
  }
}

const SELECT = `
  SELECT model.id, context.id AS contextId, domain.name AS domain, model.name, model.description,
    context_base AS contextBase, compatibility, model.current_version AS currentVersion,
    context.name AS contextName, version.sha256, model.created_at AS createdAt, model.modified_at AS modifiedAt
  FROM model
    JOIN domain ON domain.id = model.domain_id
    JOIN context ON context.model_id = model.id
    JOIN model_version AS version ON version.model_id = model.id AND version.number = model.current_version`;

function selectRef(sha256: string): string {
  return `
  SELECT content.sha256, content.size
  FROM domain
    JOIN model ON model.domain_id = domain.id
    JOIN model_version AS version ON version.model_id = model.id
      AND version.number = coalesce(@version, model.current_version)
    JOIN context_version ON context_version.context_id = version.context_id
      AND context_version.number = version.number
    JOIN content ON content.sha256 = ${sha256}
  WHERE domain.name = @domain AND model.name = @name`;
}

/** @throws UnstorableTextError */
function columnsOf({ description, contextBase, compatibility }: ModelSettings): SettingsColumns {
  requireStorable({ description, contextBase });
  return { description: description ?? null, contextBase: contextBase ?? null, compatibility };
}

/** True when a model has these settings already. */
export function hasSettings(row: ModelRow, settings: ModelSettings): boolean {
  return (
    (row.description ?? undefined) === settings.description &&
    (row.contextBase ?? undefined) === settings.contextBase &&
    row.compatibility === settings.compatibility
  );
}

/** A model as callers see it. */
export function toModel(row: ModelRow): Model {
  const { domain, name, compatibility, currentVersion, contextName, createdAt, modifiedAt } = row;
  return {
    domain,
    name,
    description: row.description ?? undefined,
    contextBase: row.contextBase ?? undefined,
    compatibility,
    currentVersion,
    contextName,
    createdAt,
    modifiedAt,
    etag: etagOf(row),
  };
}
