import { isDeepStrictEqual } from 'node:util';
import { DependencyChangedError, NotFoundError, type ResourceRef } from './errors.js';
import type {
  Compatibility,
  CurrentVersion,
  JsonValue,
  Model,
  ModelKey,
  ModelSettings,
  ModelStatus,
  ModelVersion,
  NewModelVersion,
  Page,
  Paged,
  PinnedReference,
} from './records.js';
import { appendContextVersion, deleteContextVersion, resolveContexts } from './sql-contexts.js';
import { requireDomain } from './sql-domains.js';
import { resolveReferences } from './sql-references.js';
import {
  all,
  etagOf,
  first,
  insertedId,
  isStorable,
  mapPage,
  withoutNulls,
  putContent,
  requireStorable,
  run,
  sha256Of,
  SqlListing,
  statement,
  type SqlRoutine,
} from './sql-routines.js';

/** The settings of a model, as columns of its row. */
interface SettingsColumns {
  readonly description: string | null;
  readonly contextBase: string | null;
  readonly status: ModelStatus;
  readonly deprecatedAt: number | null;
  readonly sunsetAt: number | null;
  readonly ownCompatibility: Compatibility | null;
}

export interface ModelRow extends SettingsColumns {
  readonly id: number;
  /** The effective compatibility: the model's own, or its domain's. It makes the ETag of a model change with its domain. */
  readonly compatibility: Compatibility;
  readonly contextId: number;
  readonly domain: string;
  readonly name: string;
  readonly currentVersion: number;
  readonly contextName: string;
  /** SHA-256 of the current version's schema. */
  readonly sha256: string;
  /** SHA-256 of the model's own context. */
  readonly ownSha256: string | null;
  readonly ownSize: number | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

type NewRow = SettingsColumns & { readonly domainId: number; readonly name: string; readonly now: number };
type ChangedRow = SettingsColumns & {
  readonly id: number;
  readonly currentVersion: number;
  readonly now: number;
};

/** Selects models with their newest version; see {@link ModelRow}. */
export const SELECT_MODEL = `
  SELECT model.id, context.id AS "contextId", domain.name AS domain, model.name, model.description,
    context_base AS "contextBase", coalesce(model.compatibility, domain.compatibility) AS compatibility,
    model.current_version AS "currentVersion",
    context.name AS "contextName", version.sha256, model.created_at AS "createdAt", model.modified_at AS "modifiedAt",
    model.status, model.deprecated_at AS "deprecatedAt", model.sunset_at AS "sunsetAt",
    own.sha256 AS "ownSha256", own.size AS "ownSize", model.compatibility AS "ownCompatibility"
  FROM model
    JOIN domain ON domain.id = model.domain_id
    JOIN context ON context.model_id = model.id
    JOIN model_version AS version ON version.model_id = model.id AND version.number = model.current_version
    LEFT JOIN model_own_context ON model_own_context.model_id = model.id
    LEFT JOIN content AS own ON own.sha256 = model_own_context.sha256`;

const MODELS = new SqlListing<{ readonly domainId: number }, ModelRow>(
  `${SELECT_MODEL} WHERE domain.id = @domainId`,
  'name',
);
const FIND = statement<ModelKey, ModelRow>(
  `${SELECT_MODEL} WHERE domain.name = @domain AND model.name = @name`,
);
const INSERT = statement<NewRow, { readonly id: number }>(`
  INSERT INTO model
    (domain_id, name, description, context_base, compatibility, status, deprecated_at, sunset_at, current_version,
      created_at, modified_at)
  VALUES (@domainId, @name, @description, @contextBase, @ownCompatibility, @status, @deprecatedAt, @sunsetAt, 1, @now,
    @now) RETURNING id`);
const UPDATE = statement<ChangedRow>(`
  UPDATE model
  SET description = @description, context_base = @contextBase, compatibility = @ownCompatibility,
    status = @status, deprecated_at = @deprecatedAt, sunset_at = @sunsetAt,
    current_version = @currentVersion, modified_at = @now
  WHERE id = @id`);
const DELETE = statement<{ id: number }>('DELETE FROM model WHERE id = @id');
const PUT_OWN_CONTEXT = statement<{ id: number; sha256: string }>(`
  INSERT INTO model_own_context (model_id, sha256) VALUES (@id, @sha256)
  ON CONFLICT (model_id) DO UPDATE SET sha256 = excluded.sha256`);
const DELETE_OWN_CONTEXT = statement<{ id: number }>('DELETE FROM model_own_context WHERE model_id = @id');

/** Lists the models of a domain; within a transaction. */
export function* listModels(domainId: number, page: Page): SqlRoutine<Paged<Model>> {
  return mapPage(yield* MODELS.read(page, { domainId }), toModel);
}

export function* findModel({ domain, name }: ModelKey): SqlRoutine<ModelRow | undefined> {
  return isStorable(domain) && isStorable(name) ? yield* first(FIND, { domain, name }) : undefined;
}

/** @throws NotFoundError, naming the domain if that is missing */
export function* requireModel(key: ModelKey): SqlRoutine<ModelRow> {
  const row = yield* findModel(key);
  if (row !== undefined) return row;
  yield* requireDomain(key.domain);
  throw new NotFoundError(modelRef(key));
}

export function modelRef({ domain, name }: ModelKey): ResourceRef & { readonly kind: 'model' } {
  return { kind: 'model', domain, name };
}

/** Adds a model without its version 1, which must follow. @returns its id @throws UnstorableTextError */
export function* insertModel(
  domainId: number,
  name: string,
  settings: ModelSettings,
  now: number,
): SqlRoutine<number> {
  requireStorable({ name });
  const id = yield* insertedId(INSERT, { domainId, name, ...columnsOf(settings), now });
  yield* setOwnContext(id, settings.ownContext);
  return id;
}

/** @throws UnstorableTextError */
export function* updateModel(
  id: number,
  settings: ModelSettings,
  currentVersion: number,
  now: number,
): SqlRoutine<void> {
  yield* run(UPDATE, { id, ...columnsOf(settings), currentVersion, now });
  yield* setOwnContext(id, settings.ownContext);
}

function* setOwnContext(id: number, text: string | undefined): SqlRoutine<void> {
  if (text === undefined) yield* run(DELETE_OWN_CONTEXT, { id });
  else yield* run(PUT_OWN_CONTEXT, { id, sha256: yield* putContent('context', text) });
}

/** Deletes a model with everything that belongs to it. */
export function* deleteModel(id: number): SqlRoutine<void> {
  yield* run(DELETE, { id });
}

/** @throws UnstorableTextError */
function columnsOf(settings: ModelSettings): SettingsColumns {
  const { description, contextBase, status = 'published', deprecatedAt, sunsetAt, compatibility } = settings;
  requireStorable({ description, contextBase });
  return {
    description: description ?? null,
    contextBase: contextBase ?? null,
    status,
    deprecatedAt: deprecatedAt ?? null,
    sunsetAt: sunsetAt ?? null,
    ownCompatibility: compatibility ?? null,
  };
}

/** Whether a model already has these settings. */
export function hasSettings(row: ModelRow, settings: ModelSettings): boolean {
  const { ownContext } = settings;
  const ownSha256 = ownContext === undefined ? null : sha256Of(ownContext);
  return isDeepStrictEqual({ ...row, ...columnsOf(settings), ownSha256 }, row);
}

/** Converts a row to the model that callers see. */
export function toModel(row: ModelRow): Model {
  const { id: _id, contextId: _contextId, sha256: _sha256, ownSha256, ownSize, ...rest } = row;
  const ownContext = ownSha256 === null ? undefined : { sha256: ownSha256, size: ownSize ?? 0 };
  return { ...withoutNulls(rest), ownContext, etag: etagOf(row) };
}

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

interface NumberOf {
  readonly modelId: number;
  readonly number: number;
}

type NewVersionRow = NumberOf & {
  readonly contextId: number;
  readonly sha256: string;
  readonly description: string | null;
  readonly metadata: string;
  readonly now: number;
};

const SELECT_VERSION = `
  SELECT version.number, version.created_at AS "createdAt", version.description, version.metadata,
    schema.sha256 AS "schemaSha256", schema.size AS "schemaSize",
    context.sha256 AS "contextSha256", context.size AS "contextSize"
  FROM model_version AS version
    JOIN content AS schema ON schema.sha256 = version.sha256
    JOIN context_version ON context_version.context_id = version.context_id
      AND context_version.number = version.number
    JOIN content AS context ON context.sha256 = context_version.sha256
  WHERE version.model_id = @modelId`;
const VERSIONS = new SqlListing<{ readonly modelId: number }, VersionRow>(SELECT_VERSION, 'number');
const FIND_VERSION = statement<NumberOf, VersionRow>(`${SELECT_VERSION} AND version.number = @number`);
const CURRENT = statement<{ readonly domainId: number }, CurrentVersion>(`
  SELECT model.name, version.number, version.created_at AS "createdAt", version.sha256 AS "contextSha256"
  FROM model
    JOIN context ON context.model_id = model.id
    JOIN context_version AS version ON version.context_id = context.id AND version.number = model.current_version
  WHERE model.domain_id = @domainId ORDER BY model.name`);
const PINS = statement<NumberOf, PinnedReference>(`
  SELECT uri, content.sha256, size
  FROM model_uses_reference AS uses
    JOIN reference ON reference.id = uses.reference_id
    JOIN content ON content.sha256 = uses.sha256
  WHERE uses.model_id = @modelId AND uses.number = @number ORDER BY uri`);
const INSERT_VERSION = statement<NewVersionRow>(`
  INSERT INTO model_version (model_id, number, context_id, sha256, description, metadata, created_at)
  VALUES (@modelId, @number, @contextId, @sha256, @description, @metadata, @now)`);
const INSERT_REFERENCE = statement<NumberOf & { id: number; sha256: string }>(`
  INSERT INTO model_uses_reference (model_id, number, reference_id, sha256)
  VALUES (@modelId, @number, @id, @sha256)`);
const DELETE_VERSION = statement<NumberOf>(
  'DELETE FROM model_version WHERE model_id = @modelId AND number = @number',
);
const INSERT_CONTEXT = statement<NumberOf & { id: number }>(
  'INSERT INTO model_uses_context (model_id, number, used_id) VALUES (@modelId, @number, @id)',
);

/** Finds a version of a model; within a transaction. */
export function* findVersion(modelId: number, number: number): SqlRoutine<ModelVersion | undefined> {
  const row = yield* first(FIND_VERSION, { modelId, number });
  return row === undefined ? undefined : yield* toVersion(modelId, row);
}

/** Lists the versions of a model, oldest first; within a transaction. */
export function* listVersions(modelId: number, page: Page): SqlRoutine<Paged<ModelVersion>> {
  const { items: rows, total } = yield* VERSIONS.read(page, { modelId });
  const items: ModelVersion[] = [];
  for (const row of rows) items.push(yield* toVersion(modelId, row));
  return { items, total };
}

/** Returns the current versions of the models of a domain, by model name; within a transaction. */
export function* currentVersions(domainId: number): SqlRoutine<readonly CurrentVersion[]> {
  return yield* all(CURRENT, { domainId });
}

/**
 * Adds a version of a model, and the same version of its context.
 *
 * @throws DependencyChangedError, UnstorableTextError
 */
export function* appendVersion(
  model: { readonly id: number; readonly contextId: number },
  number: number,
  version: NewModelVersion,
  now: number,
): SqlRoutine<void> {
  const { schema, context, description, metadata } = version;
  const { pins, changed } = yield* resolveReferences(version.references);
  const made = yield* resolveReferences(version.contextReferences ?? new Map());
  const { ids, missing } = yield* resolveContexts(version.contexts);
  const others = [...changed, ...made.changed];
  if (others.length > 0 || missing.length > 0) throw new DependencyChangedError(others, missing);
  requireStorable({ description });
  const sha256 = yield* putContent('schema', schema);
  const uses = { contexts: [], references: made.pins.map(({ id }) => id) };
  yield* appendContextVersion(model.contextId, number, context, uses, now);
  const at = { modelId: model.id, number };
  yield* run(INSERT_VERSION, {
    ...at,
    contextId: model.contextId,
    sha256,
    description: description ?? null,
    metadata: JSON.stringify(metadata),
    now,
  });
  for (const pin of pins) yield* run(INSERT_REFERENCE, { ...at, ...pin });
  for (const id of ids) yield* run(INSERT_CONTEXT, { ...at, id });
}

/** Deletes a version of a model, and the same version of its context; another version must replace it. */
export function* deleteVersion(
  model: { readonly id: number; readonly contextId: number },
  number: number,
): SqlRoutine<void> {
  yield* run(DELETE_VERSION, { modelId: model.id, number });
  yield* deleteContextVersion(model.contextId, number);
}

function* toVersion(modelId: number, row: VersionRow): SqlRoutine<ModelVersion> {
  const { number, createdAt, description, metadata } = row;
  return {
    number,
    createdAt,
    description: description ?? undefined,
    schema: { sha256: row.schemaSha256, size: row.schemaSize },
    context: { sha256: row.contextSha256, size: row.contextSize },
    references: yield* all(PINS, { modelId, number }),
    metadata: JSON.parse(metadata) as JsonValue,
  };
}
