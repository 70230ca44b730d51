import type { Statement } from 'better-sqlite3';
import { DependencyChangedError } from './errors.js';
import type { JsonValue, ModelVersion, NewModelVersion, Page, Paged, PinnedReference } from './records.js';
import type { SqliteContents } from './sqlite-contents.js';
import type { SqliteContextRows } from './sqlite-context-rows.js';
import { SqliteListing } from './sqlite-listing.js';
import type { SqliteReferences } from './sqlite-references.js';
import type { SqliteSession } from './sqlite-session.js';
import { requireStorable } from './storable-text.js';

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
