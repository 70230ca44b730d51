import type { Statement } from 'better-sqlite3';
import type { Compatibility, ContentRef, Model, ModelKey, ModelSettings, Page, Paged } from './records.js';
import { SqliteListing } from './sqlite-listing.js';
import { versionParameter, type SqliteSession } from './sqlite-session.js';
import { etagOf } from './stamps.js';
import { isStorable, requireStorable } from './storable-text.js';

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
