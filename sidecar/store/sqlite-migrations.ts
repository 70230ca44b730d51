import type { Database } from 'better-sqlite3';
import { newestFormat, pendingOf } from './formats.js';

/** Marks a SQLite file as a store of this program (SQLite's `application_id`); never to be changed. */
export const APPLICATION_ID = 0x4e534c44;

/**
 * The scheme, and what changes it; see formats.ts. The format of a database is its `user_version`.
 *
 * Names are compared as bytes, SQLite's default: case matters. A row of `content` goes when the last thing that names
 * it goes; the triggers see to it, however that thing is deleted.
 */
export const SQLITE_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE content (
    sha256 TEXT NOT NULL PRIMARY KEY,
    size INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT;

  CREATE TABLE domain (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    created_at INTEGER NOT NULL,
    modified_at INTEGER NOT NULL,
    compatibility TEXT NOT NULL DEFAULT 'none' CHECK (compatibility IN ('none', 'backward', 'forward', 'full'))
  ) STRICT;

  -- Where compatibility_mode is null, 'backward' is the model's own compatibility, and 'none' stands for its domain's.
  CREATE TABLE model (
    id INTEGER PRIMARY KEY,
    domain_id INTEGER NOT NULL REFERENCES domain (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT,
    context_base TEXT,
    compatibility TEXT NOT NULL CHECK (compatibility IN ('none', 'backward')),
    current_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    modified_at INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'published' CHECK (status IN ('draft', 'published', 'deprecated')),
    deprecated_at INTEGER,
    sunset_at INTEGER,
    compatibility_mode TEXT CHECK (compatibility_mode IN ('none', 'forward', 'full')),
    UNIQUE (domain_id, name),
    FOREIGN KEY (id, current_version) REFERENCES model_version (model_id, number) DEFERRABLE INITIALLY DEFERRED
  ) STRICT;

  -- With a model_id, the context generated from that model.
  CREATE TABLE context (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    model_id INTEGER UNIQUE REFERENCES model (id) ON DELETE CASCADE,
    current_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    modified_at INTEGER NOT NULL,
    FOREIGN KEY (id, current_version) REFERENCES context_version (context_id, number) DEFERRABLE INITIALLY DEFERRED
  ) STRICT;

  CREATE TABLE context_version (
    context_id INTEGER NOT NULL REFERENCES context (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    sha256 TEXT NOT NULL REFERENCES content (sha256),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (context_id, number)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX context_version_by_content ON context_version (sha256);

  CREATE TABLE model_version (
    model_id INTEGER NOT NULL REFERENCES model (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    context_id INTEGER NOT NULL,
    sha256 TEXT NOT NULL REFERENCES content (sha256),
    description TEXT,
    metadata TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (model_id, number),
    -- No version of a model without the same version of its context.
    FOREIGN KEY (context_id, number) REFERENCES context_version (context_id, number)
  ) STRICT;
  CREATE INDEX model_version_by_context ON model_version (context_id, number);
  CREATE INDEX model_version_by_content ON model_version (sha256);

  -- The context that a model was given, as JSON.
  CREATE TABLE model_own_context (
    model_id INTEGER PRIMARY KEY REFERENCES model (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL REFERENCES content (sha256)
  ) STRICT;
  CREATE INDEX model_own_context_by_content ON model_own_context (sha256);

  -- What the newest version of a model describes, for searches. Rows of another number count as none.
  CREATE TABLE model_term (
    model_id INTEGER NOT NULL REFERENCES model (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (model_id, kind, name)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX model_term_by_name ON model_term (kind, name);

  -- The file is the same for all URLs of one file of a code host, and empty where a URI means no other.
  CREATE TABLE reference (
    id INTEGER PRIMARY KEY,
    uri TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL CHECK (source IN ('stored', 'fetched')),
    sha256 TEXT NOT NULL REFERENCES content (sha256),
    created_at INTEGER NOT NULL,
    modified_at INTEGER NOT NULL,
    file TEXT
  ) STRICT;
  CREATE INDEX reference_by_content ON reference (sha256);
  CREATE INDEX reference_by_file ON reference (file);

  -- What depends on what. A reference document may name others that are not there (yet); nothing else may.
  CREATE TABLE model_uses_reference (
    model_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    reference_id INTEGER NOT NULL REFERENCES reference (id),
    sha256 TEXT NOT NULL REFERENCES content (sha256),
    PRIMARY KEY (model_id, number, reference_id),
    FOREIGN KEY (model_id, number) REFERENCES model_version (model_id, number) ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX model_uses_reference_by_reference ON model_uses_reference (reference_id);
  CREATE INDEX model_uses_reference_by_content ON model_uses_reference (sha256);

  CREATE TABLE model_uses_context (
    model_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    used_id INTEGER NOT NULL REFERENCES context (id),
    PRIMARY KEY (model_id, number, used_id),
    FOREIGN KEY (model_id, number) REFERENCES model_version (model_id, number) ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX model_uses_context_by_used ON model_uses_context (used_id);

  CREATE TABLE context_uses_context (
    context_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    used_id INTEGER NOT NULL REFERENCES context (id),
    PRIMARY KEY (context_id, number, used_id),
    FOREIGN KEY (context_id, number) REFERENCES context_version (context_id, number) ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX context_uses_context_by_used ON context_uses_context (used_id);

  -- The reference documents that a version of a context was made from, or names.
  CREATE TABLE context_uses_reference (
    context_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    reference_id INTEGER NOT NULL REFERENCES reference (id),
    PRIMARY KEY (context_id, number, reference_id),
    FOREIGN KEY (context_id, number) REFERENCES context_version (context_id, number) ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX context_uses_reference_by_reference ON context_uses_reference (reference_id);

  CREATE TABLE reference_uses_uri (
    reference_id INTEGER NOT NULL REFERENCES reference (id) ON DELETE CASCADE,
    uri TEXT NOT NULL,
    file TEXT,
    PRIMARY KEY (reference_id, uri)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX reference_uses_uri_by_uri ON reference_uses_uri (uri);
  CREATE INDEX reference_uses_uri_by_file ON reference_uses_uri (file);

  CREATE VIEW named_content (sha256) AS
    SELECT sha256 FROM model_version
    UNION ALL SELECT sha256 FROM model_uses_reference
    UNION ALL SELECT sha256 FROM context_version
    UNION ALL SELECT sha256 FROM reference
    UNION ALL SELECT sha256 FROM model_own_context;
  ${['model_version', 'model_uses_reference', 'context_version', 'reference', 'model_own_context'].map(forgetting('DELETE')).join('')}
  ${['reference', 'model_own_context'].map(forgetting('UPDATE OF sha256')).join('')}

  -- The holder works on it, until held_until unless renewed; lease is one of the numbers of purge_lease. Null: it waits.
  CREATE TABLE purge (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    tenant TEXT NOT NULL,
    caller TEXT NOT NULL,
    retention_policy TEXT,
    ended_at INTEGER,
    record TEXT NOT NULL,
    job TEXT,
    dry_run INTEGER NOT NULL DEFAULT 0,
    holder TEXT,
    held_until INTEGER,
    lease INTEGER NOT NULL DEFAULT 0,
    wish TEXT,
    broker TEXT
  ) STRICT;
  CREATE INDEX purge_by_state ON purge (state, number);
  CREATE INDEX purge_by_end ON purge (ended_at);
  CREATE INDEX purge_by_retention_policy ON purge (retention_policy, number) WHERE retention_policy IS NOT NULL;
  CREATE UNIQUE INDEX purge_one_run ON purge (retention_policy) WHERE retention_policy IS NOT NULL AND ended_at IS NULL;
  CREATE INDEX purge_unfinished ON purge (number) WHERE ended_at IS NULL;
  CREATE INDEX purge_by_lease ON purge (tenant, lease);
  CREATE TABLE purge_lease (number INTEGER NOT NULL) STRICT;
  INSERT INTO purge_lease VALUES (0);

  CREATE TABLE retention_policy (
    name TEXT PRIMARY KEY,
    settings TEXT NOT NULL,
    author TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    done_until INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    modified_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE broker_note (
    broker TEXT NOT NULL,
    writer TEXT NOT NULL,
    note TEXT NOT NULL,
    written_at INTEGER NOT NULL,
    PRIMARY KEY (broker, writer)
  ) STRICT, WITHOUT ROWID;
  `,
  `ALTER TABLE purge ADD COLUMN held_back INTEGER NOT NULL DEFAULT 0; ${noteHeldBack()}`,
  // Purges became one kind of jobs among others.
  `ALTER TABLE purge RENAME TO job;
  ALTER TABLE job ADD COLUMN kind TEXT NOT NULL DEFAULT 'purge';
  ALTER TABLE job ADD COLUMN details TEXT;
  CREATE INDEX job_by_kind ON job (kind, number);`,
  // What dry runs have found, to be applied.
  `CREATE TABLE purge_plan (
    id TEXT PRIMARY KEY,
    hash_key TEXT NOT NULL,
    items INTEGER NOT NULL,
    begun_at INTEGER NOT NULL,
    made_at INTEGER,
    applied_by TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE purge_plan_part (
    plan TEXT NOT NULL REFERENCES purge_plan ON DELETE CASCADE,
    number INTEGER NOT NULL,
    hashes TEXT NOT NULL,
    PRIMARY KEY (plan, number)
  ) STRICT, WITHOUT ROWID;`,
  `
  CREATE TABLE write_policy (
    name TEXT NOT NULL PRIMARY KEY,
    settings TEXT NOT NULL,
    caller TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    modified_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `CREATE TABLE scan_entities (
    scan TEXT NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    finding TEXT NOT NULL,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    entities TEXT NOT NULL,
    PRIMARY KEY (scan, finding, first)
  ) STRICT, WITHOUT ROWID;`,
  // What the history is searched by; records of before are found by their times and states.
  `ALTER TABLE job ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE job ADD COLUMN query_text TEXT NOT NULL DEFAULT '';
  ALTER TABLE job ADD COLUMN types TEXT NOT NULL DEFAULT '';
  UPDATE job SET created_at =
    CAST(round((julianday(substr(record, instr(record, '"createdAt":"') + 13, 24)) - 2440587.5) * 86400000) AS INTEGER);`,
  // Entities that show what a model describes, as they were given.
  `CREATE TABLE model_example (
    model_id INTEGER NOT NULL REFERENCES model (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    form TEXT,
    sha256 TEXT NOT NULL REFERENCES content (sha256),
    PRIMARY KEY (model_id, name)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX model_example_by_content ON model_example (sha256);
  DROP VIEW named_content;
  CREATE VIEW named_content (sha256) AS
    SELECT sha256 FROM model_version
    UNION ALL SELECT sha256 FROM model_uses_reference
    UNION ALL SELECT sha256 FROM context_version
    UNION ALL SELECT sha256 FROM reference
    UNION ALL SELECT sha256 FROM model_own_context
    UNION ALL SELECT sha256 FROM model_example;
  ${forgetting('DELETE')('model_example')}
  ${forgetting('UPDATE OF sha256')('model_example')}`,
];

/**
 * Notes which runs of retention policies were held back before records said so: dry runs whose query does not ask for one.
 * A record is changed as text: not every text in it is one that PostgreSQL can read as JSON.
 */
export function noteHeldBack(): string {
  return `
  UPDATE purge SET held_back = 1, record = substr(record, 1, length(record) - 1) || ',"heldBack":true}'
  WHERE retention_policy IS NOT NULL AND record LIKE '%"dryRun":true%' AND record NOT LIKE '%&dryRun=true"%';`;
}

function forgetting(event: 'DELETE' | 'UPDATE OF sha256'): (table: string) => string {
  return (table) => `
  CREATE TRIGGER ${table}_forgets_on_${event.slice(0, 6).toLowerCase()} AFTER ${event} ON ${table} BEGIN
    DELETE FROM content
    WHERE sha256 = OLD.sha256 AND NOT EXISTS (SELECT 1 FROM named_content WHERE named_content.sha256 = OLD.sha256);
  END;`;
}

/**
 * Brings a database to the newest format in one transaction: all pending migrations or none.
 *
 * @param check looks at the database once more, now that no other process can change it; throws to refuse it
 */
export function migrate(
  db: Database,
  check: () => void,
  migrations: readonly string[] = SQLITE_MIGRATIONS,
): void {
  db.transaction(() => {
    check();
    const pending = pendingOf(migrations, formatOf(db));
    if (pending.length === 0) return;
    for (const sql of pending) db.exec(sql);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${newestFormat(migrations)}`);
  }).immediate();
}

/** The format of a database; 0 where there is none yet. */
export function formatOf(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}
