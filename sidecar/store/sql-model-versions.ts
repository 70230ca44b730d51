import { DependencyChangedError, requireStorable } from './errors.js';
import type {
  CurrentVersion,
  JsonValue,
  ModelVersion,
  NewModelVersion,
  Page,
  Paged,
  PinnedReference,
} from './records.js';
import { appendContextVersion, deleteContextVersion, resolveContexts } from './sql-contexts.js';
import { resolveReferences } from './sql-references.js';
import { putContent, SqlListing } from './sql-rows.js';
import { all, first, run, statement, type Work } from './sql-work.js';

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

/** A version of a model; within a transaction. */
export function* findVersion(modelId: number, number: number): Work<ModelVersion | undefined> {
  const row = yield* first(FIND_VERSION, { modelId, number });
  return row === undefined ? undefined : yield* toVersion(modelId, row);
}

/** The versions of a model, oldest first; within a transaction. */
export function* listVersions(modelId: number, page: Page): Work<Paged<ModelVersion>> {
  const { items: rows, total } = yield* VERSIONS.read(page, { modelId });
  const items: ModelVersion[] = [];
  for (const row of rows) items.push(yield* toVersion(modelId, row));
  return { items, total };
}

/** The current versions of the models of a domain, by name; within a transaction. */
export function* currentVersions(domainId: number): Work<readonly CurrentVersion[]> {
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
): Work<void> {
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

/** Deletes a version of a model, and the same version of its context; another one takes its place. */
export function* deleteVersion(
  model: { readonly id: number; readonly contextId: number },
  number: number,
): Work<void> {
  yield* run(DELETE_VERSION, { modelId: model.id, number });
  yield* deleteContextVersion(model.contextId, number);
}

function* toVersion(modelId: number, row: VersionRow): Work<ModelVersion> {
  const { number, createdAt, description, metadata } = row;
  return {
    ...{ number, createdAt, description: description ?? undefined },
    schema: { sha256: row.schemaSha256, size: row.schemaSize },
    context: { sha256: row.contextSha256, size: row.contextSize },
    references: yield* all(PINS, { modelId, number }),
    metadata: JSON.parse(metadata) as JsonValue,
  };
}
